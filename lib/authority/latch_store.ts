/**
 * What a person has denied in a session stays denied until an operator clears it (decisions E5).
 *
 * @module
 */

import type { Capability } from "./actions.ts";
import type { Latch } from "./operator.ts";
import type { Damaged } from "./state/damaged.ts";

/** The latches of a home. They outlive restarts (spec 5, G10). */
export interface LatchStore {
  /**
   * Whether a capability is denied in a session. Damaged state answers so: what would be asked has
   * then to be refused (spec 5, G11). Takes no disk access but a stat.
   */
  find(sessionKey: string, capability: Capability): Latch | Damaged | undefined;
  /**
   * Holds at once in this process, also when it rejects because the disk did not take it. The first
   * denial's time and words stay.
   */
  set(latch: Pick<Latch, "sessionKey" | "capability" | "reason">): Promise<Latch>;
  /** Oldest first. Throws `refused` when the state is damaged. */
  list(): Latch[];
  /** False when there was none. */
  clear(sessionKey: string, capability: Capability): Promise<boolean>;
  /** Why nothing can be read, for people. */
  damaged(): string | undefined;
  /** Sets a damaged file aside; nothing is denied then. False when it is not damaged. */
  reset(): Promise<boolean>;
}
