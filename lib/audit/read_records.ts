/**
 * Records of an audit folder that pass a filter, with what they are about. What cannot be read is told,
 * and passed over: to judge it is the part of `verify`.
 *
 * @module
 */

import { type AuditRecord, parseRecord } from "./record.ts";
import { walkAudit } from "./walk.ts";
import type { RecordFilter } from "./record_filter.ts";
import { type Subject, Subjects } from "./subjects.ts";

/** A record that passed. */
export interface FoundRecord {
  record: AuditRecord;
  subject: Subject;
}

/** What is read, and how. */
export interface ReadRecordsOptions {
  dir: string;
  filter: RecordFilter;
  /** Told where something cannot be read. */
  onDamage: (file: string, line: number) => void;
  /** See {@linkcode WalkOptions}. */
  more?: () => Promise<boolean>;
}

/** Oldest first. Throws `NotFound` where there is no audit. */
export async function* readRecords(
  { dir, filter, onDamage, more }: ReadRecordsOptions,
): AsyncGenerator<FoundRecord> {
  const subjects = new Subjects();
  for await (const { text, ended, file, line } of walkAudit({ dir, more })) {
    if (!ended) continue;
    const record = text === undefined ? undefined : parseRecord(text);
    if (record === undefined || "damage" in record) {
      onDamage(file, line);
      continue;
    }
    const subject = subjects.of(record);
    if (filter(record, subject)) yield { record, subject };
  }
}
