/**
 * The session of an account that encrypts, and how far somebody has come in making sure that it is ours.
 *
 * @module
 */

/** `show`: go on, and say how it stands. The other two answer whether the emoji are the same. */
export type VerifyAction = "show" | "confirm" | "cancel";

export interface Verification {
  /** Id of the session. */
  deviceId: string;
  /** Its public key, which the platform shows people as well. */
  key: string;
  /** Whether the account itself vouches for the session. */
  isVerified: boolean;
  /**
   * `idle`: nobody has asked. `waiting`: for the other side. `compare`: people look whether both sides show
   * the same emoji. `failed`: `message` says why.
   */
  state: "idle" | "waiting" | "compare" | "done" | "failed";
  /** Whom it is verified with. */
  with?: string;
  emoji?: readonly { symbol: string; name: string }[];
  message?: string;
}
