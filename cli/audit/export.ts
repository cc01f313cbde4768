/**
 * `service audit export`: the verdict and the public key first, then the records.
 *
 * @module
 */

import { canonicalJson } from "../../lib/base/canonical_json.ts";
import { EXIT, type ExitCode } from "../command.ts";
import { jsonLine, type Output } from "../output.ts";
import { plural } from "../plural.ts";
import type { RecordFilter } from "../../lib/audit/record_filter.ts";
import { judgeAudit, type JudgeOptions } from "../../lib/audit/judge.ts";
import { type FoundRecord, readRecords } from "../../lib/audit/read_records.ts";
import { describeOutcome, formatTime } from "./record_row.ts";
import { visible, visibleJson } from "./visible.ts";

/** Forms of an export. */
export const EXPORT_FORMATS = ["jsonl", "csv"] as const;

/** What is exported. */
export interface ExportOptions {
  judge: JudgeOptions;
  format: typeof EXPORT_FORMATS[number];
  filter: RecordFilter;
  /** First records that are written; undefined: all. */
  limit?: number;
  out: Output;
}

const CSV_COLUMNS = [
  "seq",
  "time",
  "kind",
  "tool",
  "capability",
  "target",
  "decision",
  "session",
  "prev",
  "hash",
  "data",
];

/** Writes to standard output, whatever the verdict is, and fails when the record does not hold. */
export async function exportRecords(options: ExportOptions): Promise<ExitCode> {
  const { judge, format, filter, limit = Infinity, out } = options;
  const verdict = await judgeAudit(judge);
  const head = jsonLine({ audit: verdict });
  await out.stream(format === "csv" ? `# ${head}\r\n${CSV_COLUMNS.join(",")}\r\n` : `${head}\n`);
  let written = 0;
  let damages = 0;
  const records = readRecords({ dir: judge.dir, filter, onDamage: () => damages++ });
  if (verdict.problem !== "gone" && limit > 0) {
    for await (const found of records) {
      await out.stream(format === "csv" ? csvLine(found) : `${jsonLine(found.record)}\n`);
      if (++written >= limit) break;
    }
  }
  if (damages > 0) out.note(`Left out ${plural(damages, "unreadable line")}`);
  if (!verdict.ok) {
    out.note({ text: "The audit log is damaged", style: "red" }, `: ${verdict.message}`);
  }
  return verdict.ok ? EXIT.done : EXIT.failed;
}

/** A line after RFC 4180. `hash` and `prev` are those of the record, which `data` holds whole. */
function csvLine({ record, subject }: FoundRecord): string {
  const { seq, ts, kind, prev, hash, data } = record;
  return [
    `${seq}`,
    formatTime(ts),
    kind,
    subject.tool,
    subject.capability,
    subject.target,
    describeOutcome(record),
    subject.session,
    prev,
    hash,
  ].map((cell) => csvCell(cell ?? "")).concat(quoteCsv(visibleJson(canonicalJson(data))))
    .join(",") + "\r\n";
}

/** A cell that no spreadsheet takes for a formula. */
export function csvCell(text: string): string {
  const shown = visible(text);
  const safe = /^[=+\-@]/.test(shown) ? `'${shown}` : shown;
  return /[",]/.test(safe) ? quoteCsv(safe) : safe;
}

function quoteCsv(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
