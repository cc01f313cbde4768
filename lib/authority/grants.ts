/**
 * Standing grants: what is allowed in advance, exactly, also when nobody is there to ask (decisions E2,
 * E10).
 *
 * @module
 */

import type { Capability } from "./actions.ts";

/** One grant. It holds for one action of one subject and nothing near it. */
export interface Grant {
  /** `gr_` and 16 letters and digits. */
  id: string;
  /** The session's key, such as `api:reports`, or `automation:<id>`. */
  subject: string;
  capability: Capability;
  /** The resolved target as {@linkcode grantTarget} writes it. */
  target: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Why; for people. */
  note: string;
}
