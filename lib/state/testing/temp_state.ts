/**
 * The operators' state in folders of its own; for tests.
 *
 * @module
 */

import { type OperatorRecordKind } from "../operator_record.ts";
import {
  openOperatorState,
  type OperatorState,
  type OperatorStateOptions,
} from "../operator_state.ts";

/** What an audit in memory was told. */
export interface Recorded {
  kind: OperatorRecordKind;
  data: Record<string, unknown>;
}

/** Folders, and state in them. Disposing removes the folders. */
export interface TempState extends AsyncDisposable {
  root: string;
  dir: string;
  keysDir: string;
  /** One more process, as it were. */
  open(options?: Partial<OperatorStateOptions>): Promise<OperatorState>;
  records: Recorded[];
  /** Takes records in memory. */
  audit: { append(kind: OperatorRecordKind, data: Record<string, unknown>): Promise<void> };
}

/** Makes the folders. */
export async function tempState(): Promise<TempState> {
  const root = await Deno.makeTempDir();
  const [dir, keysDir] = [`${root}/operator`, `${root}/keys`];
  const records: Recorded[] = [];
  const audit = {
    append(kind: OperatorRecordKind, data: Record<string, unknown>) {
      records.push({ kind, data });
      return Promise.resolve();
    },
  };
  return {
    root,
    dir,
    keysDir,
    records,
    audit,
    open: (options = {}) => openOperatorState({ dir, keysDir, audit, ...options }),
    async [Symbol.asyncDispose]() {
      await Deno.remove(root, { recursive: true });
    },
  };
}
