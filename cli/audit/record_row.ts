/**
 * A record as a row for people.
 *
 * @module
 */

import { canonicalJson } from "../../lib/base/canonical_json.ts";
import type { AuditRecord } from "../../lib/audit/record.ts";
import type { FoundRecord } from "../../lib/audit/read_records.ts";
import { visible } from "./visible.ts";

/** Titles of the columns. */
export const RECORD_COLUMNS = [
  "SEQ",
  "TIME",
  "KIND",
  "TOOL",
  "DECISION",
  "SESSION",
  "TARGET",
] as const;

/** Longest text of facts that have no column, characters. */
const MAX_FACTS_CHARS = 200;

/** The cells of a record, in the order of the columns. */
export function recordRow({ record, subject }: FoundRecord): string[] {
  const { seq, ts, kind } = record;
  return [
    `${seq}`,
    formatTime(ts),
    kind,
    subject.tool ?? "",
    describeOutcome(record),
    subject.session ?? "",
    subject.target ?? describeFacts(record),
  ].map(visible);
}

/** What was decided, or how it ended. */
export function describeOutcome({ kind, data }: AuditRecord): string {
  switch (kind) {
    case "action.start":
    case "action.refused": {
      const { effect, rule } = (data.decision ?? {}) as Record<string, unknown>;
      return effect === undefined ? "" : rule === undefined ? `${effect}` : `${effect} (${rule})`;
    }
    case "action.end":
      return [data.status, data.code, data.ms === undefined ? undefined : `${data.ms} ms`]
        .filter((part) => part !== undefined).join(" ");
    case "approval.answered":
    case "approval.refused": {
      const who = data.by === undefined ? "" : ` by ${plainText(data.by)}`;
      return `${plainText(data.outcome ?? data.why ?? "")}${who}`.trim();
    }
    default:
      return "";
  }
}

/** ISO 8601 with milliseconds, UTC; a number that is no time as it is. */
export function formatTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms}` : date.toISOString();
}

function describeFacts({ kind, data }: AuditRecord): string {
  if (kind.startsWith("action.")) return "";
  const { sig: _, ...facts } = data;
  const text = canonicalJson(facts);
  return text.length <= MAX_FACTS_CHARS ? text : `${text.slice(0, MAX_FACTS_CHARS)}…`;
}

function plainText(value: unknown): string {
  return typeof value === "string" ? value : canonicalJson(value);
}
