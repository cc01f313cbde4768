/**
 * Which records of an audit are asked for.
 *
 * @module
 */

import type { AuditRecord } from "./record.ts";
import type { Subject } from "./subjects.ts";

/** What a record has to be like; what is absent does not matter. */
export interface AuditFilter {
  /** Milliseconds since 1970, both ends included. */
  since?: number;
  until?: number;
  /** A kind such as `action.end`, or the first half of several: `action`. */
  kind?: string;
  capability?: string;
  tool?: string;
  /** Key of a session, such as `cli:main`. */
  session?: string;
}

/** What {@linkcode AuditFilter} takes as kind or capability. */
export const KIND_FORM = /^[a-z]+(\.[a-z_]+)?$/;

/** Whether a record is asked for. */
export type RecordFilter = (record: AuditRecord, subject: Subject) => boolean;

/** The test that a filter stands for. */
export function recordFilter(
  { since, until, kind, capability, tool, session }: AuditFilter,
): RecordFilter {
  return (record, subject) =>
    (since === undefined || record.ts >= since) &&
    (until === undefined || record.ts <= until) &&
    (kind === undefined || record.kind === kind || record.kind.startsWith(`${kind}.`)) &&
    (capability === undefined || subject.capability === capability) &&
    (tool === undefined || subject.tool === tool) &&
    (session === undefined || subject.session === session);
}
