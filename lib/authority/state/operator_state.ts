/**
 * Everything that the authority remembers for operators: tokens, grants, latches, pending approvals.
 *
 * @module
 */

import type { GrantStore } from "../grant_store.ts";
import type { LatchStore } from "../latch_store.ts";
import type { TokenStore } from "../token_store.ts";
import type { OperatorAudit } from "./operator_record.ts";
import type { PendingStore } from "./pending_store.ts";

/** How the state is opened. */
export interface OperatorStateOptions {
  /** Folder of the files, made with mode 0700. */
  dir: string;
  /** Folder of the key. */
  keysDir: string;
  /** Undefined in a command beside a running service: records then wait in the files. */
  audit?: OperatorAudit;
  now?: () => number;
}

/** The state of a home. Several processes may have it open at once. */
export interface OperatorState {
  readonly tokens: TokenStore;
  readonly grants: GrantStore;
  readonly latches: LatchStore;
  readonly pending: PendingStore;
  /** What is wrong with grants or latches, for people; actions that are not allowed are then refused. */
  damaged(): string | undefined;
  /** Gives the audit what waits, also from other processes. Nothing is lost when it rejects. */
  record(): Promise<void>;
  /** Writes what is still to be written. */
  close(): Promise<void>;
}
