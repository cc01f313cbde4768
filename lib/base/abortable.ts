/**
 * As the promise, but that it rejects with the signal's reason as soon as that is aborted: what
 * waits for another is not kept from stopping. What comes of the promise then is nobody's business.
 */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const end = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener("abort", end);
    promise.catch(() => {});
  }
}
