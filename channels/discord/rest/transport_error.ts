/**
 * How a request fails of which Discord has said nothing.
 *
 * @module
 */

/** The request has not left this machine. */
export class NotSentError extends Error {
  override readonly name = "NotSentError";
}

/** The request was on its way when the connection ended; Discord may have done what it asked. */
export class CutOffError extends Error {
  override readonly name = "CutOffError";
}
