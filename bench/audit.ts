/**
 * What a record costs: an append, which waits for the disk, against a bare write of as many bytes that
 * waits for it too, in turns in the same folder. Checkpoints are in it as they come. Then appends at
 * once, which share the wait, and how fast the record is verified.
 *
 *     deno run -A --cached-only --lock=deno.lock --frozen bench/audit.ts [--json]
 *
 * @module
 */

import { openAudit } from "../lib/audit/log.ts";
import { findTrustedKeys } from "../lib/audit/trusted_keys.ts";
import { verifyAudit } from "../lib/audit/verify.ts";
import { type Figure, median, report } from "./report.ts";

const ROUNDS = 40;
/** Appends in a round: as many as have one checkpoint among them. */
const APPENDS = 64;
const PARALLEL = 64;

/** As an action of a tool has it. */
const DATA = {
  tool: "write_file",
  capability: "fs.write",
  target: { kind: "path", access: "write", real: "/home/someone/.service/workspace/notes.md" },
  digest: "0".repeat(64),
  args: "0".repeat(64),
  decision: { effect: "allow", rule: "workspace" },
  session: "cli:default",
  turn: "0123456789abcdef",
  call: "0123456789abcdef",
  channel: "cli",
  actor: "cli:local",
  attended: true,
};

const folder = Deno.makeTempDirSync({ prefix: "bench-audit-" });
const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };
const [dir, keysDir] = [`${folder}/audit`, `${folder}/keys`];
try {
  const audit = await openAudit({ dir, keysDir, log });
  const record = await audit.append("action.start", DATA);
  const line = new TextEncoder().encode(JSON.stringify(record) + "\n");
  using bare = Deno.openSync(`${folder}/bare`, { write: true, create: true });

  const [appends, writes, grouped]: number[][] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    appends!.push(
      await time(APPENDS, async () => {
        for (let at = 0; at < APPENDS; at++) await audit.append("action.start", DATA);
      }),
    );
    writes!.push(
      await time(APPENDS, async () => {
        for (let at = 0; at < APPENDS; at++) {
          for (let to = 0; to < line.length;) to += await bare.write(line.subarray(to));
          await bare.syncData();
        }
      }),
    );
    grouped!.push(
      await time(PARALLEL, async () => {
        await Promise.all(
          Array.from({ length: PARALLEL }, () => audit.append("action.start", DATA)),
        );
      }),
    );
  }
  await audit.close();

  const { keys } = await findTrustedKeys({ dir, keysDir });
  const startedAt = performance.now();
  const finding = await verifyAudit({ dir, keys });
  if (!finding.ok) throw new Error(finding.message);
  const perRecord = (performance.now() - startedAt) * 1_000 / finding.records;

  const against = { name: "bare write with fsync", value: median(writes!) };
  const figures: Figure[] = [
    { name: "append", value: median(appends!), unit: "us", against, aim: { atMost: 2 } },
    {
      name: `append, ${PARALLEL} at once`,
      value: median(grouped!),
      unit: "us",
      against,
      aim: { atMost: 1 },
    },
    { name: "verify a record", value: perRecord, unit: "us" },
  ];
  const met = report("audit", figures, { json: Deno.args.includes("--json") });
  Deno.exitCode = met ? 0 : 1;
} finally {
  Deno.removeSync(folder, { recursive: true });
}

/** Microseconds of one of `count`. */
async function time(count: number, work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) * 1_000 / count;
}
