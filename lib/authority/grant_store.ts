/**
 * Standing grants on the disk (decisions E2, E10).
 *
 * @module
 */

import type { Capability } from "./actions.ts";
import type { Grant } from "./grants.ts";

/** The grants of a home. */
export interface GrantStore {
  /** The grant that holds exactly; none while the state is damaged. Takes no disk access but a stat. */
  find(subject: string, capability: Capability, target: string): Grant | undefined;
  /** Oldest first. Throws `refused` when the state is damaged. */
  list(): Grant[];
  /** Rejects with `invalid_request` for what is no grant, naming the field. Adding twice adds once. */
  add(grant: Pick<Grant, "subject" | "capability" | "target" | "note">): Promise<Grant>;
  /** Rejects with `not_found`. */
  remove(id: string): Promise<Grant>;
  /** Why nothing can be read, for people. */
  damaged(): string | undefined;
  /** Sets a damaged file aside; nothing is granted then. False when it is not damaged. */
  reset(): Promise<boolean>;
}
