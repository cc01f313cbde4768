/**
 * Waiting together for one thing, each for as long as he likes.
 *
 * @module
 */

/** The promise, or the signal's reason once it aborts; what is waited for goes on for others. */
export async function waitFor<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  promise.catch(() => {});
  try {
    return await Promise.race([promise, left]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
