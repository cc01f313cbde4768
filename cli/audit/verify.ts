/**
 * `service audit verify`.
 *
 * @module
 */

import { EXIT, type ExitCode } from "../command.ts";
import type { Output, Span } from "../output.ts";
import { plural } from "../plural.ts";
import { printParagraph } from "../print_paragraph.ts";
import { printTable } from "../table.ts";
import { judgeAudit, type JudgeOptions, type Verdict } from "../../lib/audit/judge.ts";
import { verdictToWire } from "../../lib/operations/audit.ts";
import { formatTime } from "./record_row.ts";
import { describeTarget } from "../../lib/audit/subjects.ts";
import { visible } from "./visible.ts";

/** Unknown actions that are shown to a person. */
const MAX_SHOWN = 50;

/** How many bytes are read between two words about it. */
const PROGRESS_BYTES = 64 * 1024 * 1024;

/** Verifies, prints the verdict, and fails if the log is damaged. Throws as {@linkcode judgeAudit}. */
export async function verifyRecord(
  options: JudgeOptions,
  { json, out }: { json: boolean; out: Output },
): Promise<ExitCode> {
  let told = 0;
  const onProgress = ({ bytes, records }: { bytes: number; records: number }) => {
    if (bytes - told < PROGRESS_BYTES) return;
    told = bytes;
    out.note(`… ${Math.round(bytes / 1024 / 1024)} MiB, ${plural(records, "record")}`);
  };
  const verdict = await judgeAudit({ ...options, onProgress });
  if (json) out.json(verdictToWire(verdict));
  else printVerdict(verdict, out);
  return verdict.ok ? EXIT.done : EXIT.failed;
}

function printVerdict(verdict: Verdict, out: Output): void {
  const { keys, keysFrom } = verdict;
  const print = (head: Span, text: string) => printParagraph(out, head, text);
  if (!verdict.ok) {
    print({ text: "The audit log is damaged", style: "red" }, `: ${verdict.message}`);
  } else {
    print(
      { text: "The audit log is intact", style: "green" },
      verdict.records === 0
        ? ": no records yet"
        : `: ${plural(verdict.records!, "record")} in ${
          plural(verdict.files!, "file")
        }, from ${verdict.firstSeq} on`,
    );
    print(
      { text: "" },
      verdict.signedSeq === null
        ? "No record is signed yet"
        : `Signed up to record ${verdict.signedSeq}, ${verdict.signedAt}`,
    );
    if (verdict.prunedAt !== undefined) {
      const { firstSeq, prunedAt } = verdict;
      print(
        { text: "" },
        `Verified from record ${firstSeq}. Earlier ones were removed by retention on ${prunedAt}`,
      );
    }
    if (verdict.mirror !== null) print({ text: "" }, `Matches the mirror ${verdict.mirror}`);
  }
  for (const { fingerprint } of keys) {
    print({ text: "Key " }, `${fingerprint} ${KEY_FROM[keysFrom] ?? ""}`);
  }
  if (verdict.tornBytes) {
    out.note(
      `The last ${plural(verdict.tornBytes, "byte")} are being written, or were cut off by a crash`,
    );
  }
  printUnknown(verdict, out);
}

const KEY_FROM: Readonly<Record<string, string>> = {
  own: "(this service's own)",
  given: "(given with --public-key)",
  beside: "(found beside the records: compare it with the key that the service reports)",
};

function printUnknown({ unknown = [], unknownMore = 0 }: Verdict, out: Output): void {
  if (unknown.length === 0) return;
  const shown = unknown.slice(-MAX_SHOWN);
  out.line("");
  out.line(`${plural(unknown.length + unknownMore, "action")} without a recorded end:`);
  printTable(
    out,
    ["SEQ", "TIME", "STATE", "TOOL", "SESSION", "TARGET"],
    shown.map(({ seq, ts, crashed, data }) =>
      [
        `${seq}`,
        formatTime(ts),
        crashed ? "cut off" : "may run",
        typeof data.tool === "string" ? data.tool : "",
        typeof data.session === "string" ? data.session : "",
        describeTarget(data.target) ?? "",
      ].map(visible)
    ),
  );
}
