/**
 * How a delivery fails, as a runtime says it. Any other error is taken
 * for one that a repeat may mend.
 *
 * @module
 */

/** A repeat cannot mend it: the chat is gone, the message is refused, the token is revoked. */
export class PermanentDeliveryError extends Error {
  override readonly name = "PermanentDeliveryError";
}

/** The platform says when to come again. */
export class RetryLaterError extends Error {
  override readonly name = "RetryLaterError";
  /** Milliseconds from now. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Before it is looked again whether a platform is there, milliseconds. */
const AWAY_MS = 2_000;

/**
 * The platform is away, or the channel has no connection to it yet. That is no fault of the message: it
 * costs none of its attempts, and is tried for as long as the message is kept.
 */
export class NotConnectedError extends RetryLaterError {
  constructor(why: string) {
    super(`Not connected: ${why}`, AWAY_MS);
  }
}

/**
 * The platform does not know who we say we are: a token that is wrong or was revoked, an account that is
 * locked. A `start` that rejects with it is not tried again until the section changes or the channel is
 * switched on anew. A call that delivers and rejects with it ends the channel in the same way, and what was
 * to be delivered waits for the channel.
 */
export class LoginRefusedError extends Error {
  override readonly name = "LoginRefusedError";
}

/** Whether it is one, by its name: a package may have its own copy of the errors. */
export function isLoginRefused(error: unknown): boolean {
  return typeof error === "object" && error !== null &&
    (error as { name?: unknown }).name === "LoginRefusedError";
}

/**
 * It may have arrived: whoever was to say so is gone, or did not answer in time. What is not safe to
 * repeat is `unknown` then, and never sent again by itself.
 */
export class UncertainDeliveryError extends Error {
  override readonly name = "UncertainDeliveryError";
}
