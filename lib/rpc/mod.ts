/**
 * The one typed peer: calls with an answer, progress and cancellation, and notices, over a pipe, a
 * socket or a message port.
 *
 * Stands alone: every process speaks it, children with a minimal start too.
 *
 * Invariants:
 * - Each end declares its calls once (`endpoint.ts`), with checks where the other end isn't
 *   trusted.
 * - Calls under way, frames, and what waits to be read are bounded; children may have 64 calls.
 * - A flood fills its own pipe and slows its sender, never the main thread.
 * - An end that says what it never may, such as a second answer, is cut off. An answer to a call
 *   that was given up is dropped.
 *
 * Runs in: every process.
 *
 * Entries: every file.
 *
 * @module
 */
