/**
 * `service audit verify`.
 *
 * @module
 */

import { EXIT, type ExitCode } from "../command.ts";
import type { Output } from "../output.ts";
import { printTable } from "../table.ts";
import { judgeAudit, type JudgeOptions, type Verdict } from "../../lib/audit/judge.ts";
import { formatTime } from "./record_row.ts";
import { describeTarget } from "../../lib/audit/subjects.ts";
import { visible } from "./visible.ts";

/** Unknown actions that are shown to a person. */
const MAX_SHOWN = 50;

/** How many bytes are read between two words about it. */
const PROGRESS_BYTES = 64 * 1024 * 1024;

/** Verifies, says what was found, and fails when it is not in order. Throws as {@linkcode judgeAudit}. */
export async function verifyRecord(
  options: JudgeOptions,
  { json, out }: { json: boolean; out: Output },
): Promise<ExitCode> {
  let told = 0;
  const onProgress = ({ bytes, records }: { bytes: number; records: number }) => {
    if (bytes - told < PROGRESS_BYTES) return;
    told = bytes;
    out.note(`… ${Math.round(bytes / 1024 / 1024)} MiB, ${records} records`);
  };
  const verdict = await judgeAudit({ ...options, onProgress });
  if (json) out.json(verdict);
  else printVerdict(verdict, out);
  return verdict.ok ? EXIT.done : EXIT.failed;
}

function printVerdict(verdict: Verdict, out: Output): void {
  const { keys, keysFrom } = verdict;
  if (!verdict.ok) {
    out.line({ text: "The record does not hold", style: "red" }, `: ${verdict.message}`);
  } else {
    out.line(
      { text: "The record holds", style: "green" },
      verdict.records === 0
        ? ": nothing is in it yet"
        : `: ${verdict.records} records in ${verdict.files} files, from ${verdict.firstSeq} on`,
    );
    out.line(
      verdict.signedSeq === null
        ? "Nothing of it is signed"
        : `Signed up to record ${verdict.signedSeq}, ${verdict.signedAt}`,
    );
    if (verdict.mirror !== null) out.line(`Nothing in ${verdict.mirror} contradicts it`);
  }
  for (const { fingerprint } of keys) out.line(`Key ${fingerprint} ${KEY_FROM[keysFrom] ?? ""}`);
  if (verdict.tornBytes) {
    out.note(`${verdict.tornBytes} bytes at its end are being written, or were cut off by a crash`);
  }
  printUnknown(verdict, out);
}

const KEY_FROM: Readonly<Record<string, string>> = {
  own: "(this service's own)",
  given: "(given with --public-key)",
  beside: "(it lies beside the records: compare it with what the service says of itself)",
};

function printUnknown({ unknown = [], unknownMore = 0 }: Verdict, out: Output): void {
  if (unknown.length === 0) return;
  const shown = unknown.slice(-MAX_SHOWN);
  out.line("");
  out.line(`${unknown.length + unknownMore} actions whose end is not on record:`);
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
