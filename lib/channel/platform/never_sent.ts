/**
 * Whether anything of a request has left this machine, which decides whether a message may be sent again.
 *
 * @module
 */

/** How deep a reason is looked for: `fetch` rejects with "fetch failed", and the reason is its cause. */
const MAX_DEPTH = 5;

/** What Deno's clients say of a connection, or of its handshake, that has not come about. */
const WORDS = /client error \(Connect\)|\bdns error\b|\btcp connect error\b/i;

/** Steps of Node's clients that come before anything is written. */
const SYSCALLS: readonly unknown[] = ["connect", "getaddrinfo", "queryA", "queryAaaa"];

/**
 * Whether a failed `fetch`, or a socket that failed, had no connection: nothing was sent, and a
 * `NotConnectedError` says so. False where anything may have been written, and for whatever is not known.
 */
export function neverSent(error: unknown): boolean {
  for (let one = error, depth = 0; depth < MAX_DEPTH; depth++) {
    if (!(one instanceof Error)) return false;
    // A permission that a channel worker does not have.
    if (one.name === "NotCapable" || WORDS.test(one.message)) return true;
    const { code, syscall } = one as { code?: unknown; syscall?: unknown };
    if (code === "ECONNREFUSED" || SYSCALLS.includes(syscall)) return true;
    one = one.cause;
  }
  return false;
}
