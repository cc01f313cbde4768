/**
 * A change of a sealed file, and what the audit is to be told of it.
 *
 * @module
 */

import type { OperatorRecordKind } from "./operator_record.ts";

/** What the audit is to be told of a change. */
export interface ChangeRecord {
  kind: OperatorRecordKind;
  /** No secret in it. */
  data: Record<string, unknown>;
}

/** What a change makes of a value; without a `value` nothing is written. */
export interface Change<T, R> {
  value?: T;
  records?: readonly ChangeRecord[];
  result: R;
}

/** A record with what tells it from others, so that one that reaches the audit twice is known. */
export interface WaitingRecord extends ChangeRecord {
  /** `<name>:<counter>:<index>` */
  change: string;
  at: number;
}
