import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Removable } from "../contract/retention.ts";
import { AUDIT_FILE, CHECKPOINT_FILE, closedName, listClosed } from "./files.ts";
import { HEAD_FILE } from "./head_file.ts";
import type { AuditOptions, OwnedAudit } from "./log.ts";
import { type AuditRecord, sealRecord } from "./record.ts";
import { auditFixture } from "./testing/audit_fixture.ts";
import type { AuditDamage, AuditWhole } from "./verify.ts";

const DAY_MS = 86_400_000;

/** A log with a clock that moves on by a day with each record. */
function daily(options: Partial<AuditOptions> = {}) {
  const clock = { now: 1_000 * DAY_MS };
  return { clock, options: { rotateBytes: 1_000, now: () => clock.now, ...options } };
}

async function listed({ retention }: OwnedAudit): Promise<Removable[]> {
  const found: Removable[] = [];
  let after: string | undefined;
  do {
    const page = await retention.page(after);
    found.push(...page.items);
    after = page.after;
  } while (after !== undefined);
  return found;
}

/** Records of so many days, a few in each file. */
async function fill(log: OwnedAudit, clock: { now: number }, days: number): Promise<void> {
  for (let index = 0; index < days; index++) {
    await log.append("action.refused", { index });
    clock.now += DAY_MS;
  }
}

Deno.test("retention removes the oldest closed files, and verifyAudit() says from where on it holds and since when", async () => {
  await using audit = await auditFixture();
  const { clock, options } = daily();
  const log = await audit.open(options);
  await fill(log, clock, 200);
  const files = await listed(log);
  assert(files.length > 32, `${files.length}`);
  assertEquals(files.map(({ name }) => name), (await listClosed(audit.dir)).map(closedName));
  for (const [index, { at }] of files.entries()) assert(at > (files[index - 1]?.at ?? 0));
  assertEquals(
    (await log.retention.usedBytes()) - files.reduce((sum, { bytes }) => sum + bytes, 0),
    (await Deno.stat(`${audit.dir}/${AUDIT_FILE}`)).size,
  );
  const when = clock.now;
  assertEquals(await log.retention.remove(files.slice(0, 20)), files.slice(0, 20));
  await log.close();
  const [first] = await listClosed(audit.dir);
  assertEquals(closedName(first!), files[20]!.name);
  const finding = await audit.verify({ mirror: audit.mirror }) as AuditWhole;
  assertEquals([finding.ok, finding.first, finding.prunedAt], [true, first, when]);
  const words = (await audit.lines()).map((line) => JSON.parse(line) as AuditRecord)
    .filter(({ kind }) => kind === "log.pruned");
  assertEquals(words.map(({ data }) => data.by), Array(20).fill("retention"));
});

Deno.test("retention removes no file before an older one, and none that is written to", async () => {
  await using audit = await auditFixture();
  const { clock, options } = daily();
  const log = await audit.open(options);
  await fill(log, clock, 40);
  const files = await listed(log);
  assertEquals(await log.retention.remove([files[1]!, files[0]!]), []);
  assertEquals(await log.retention.remove([...files.slice(0, 2), files[4]!]), files.slice(0, 2));
  assertEquals((await listed(log)).length >= files.length - 2, true);
  await log.close();
  assertEquals((await audit.verify()).ok, true);
});

Deno.test("keepFiles and retention at once remove each file once", async () => {
  await using audit = await auditFixture();
  const { clock, options } = daily();
  const before = await audit.open(options);
  await fill(before, clock, 100);
  await before.close();
  const log = await audit.open({ ...options, keepFiles: 3 });
  await log.retention.remove(await listed(log));
  await log.close();
  const finding = await audit.verify();
  assertEquals(finding.ok, true);
  const words = (await audit.lines()).map((line) => JSON.parse(line) as AuditRecord)
    .filter(({ kind }) => kind === "log.pruned").map(({ data }) => data.file);
  assertEquals(new Set(words).size, words.length);
});

Deno.test("split() closes a file that begins too long ago, and no other", async () => {
  await using audit = await auditFixture();
  const { clock, options } = daily({ rotateBytes: 1_000_000 });
  const log = await audit.open(options);
  await log.retention.split!(10 * DAY_MS);
  assertEquals(await listed(log), []);
  await fill(log, clock, 9);
  await log.retention.split!(10 * DAY_MS);
  assertEquals(await listed(log), []);
  await fill(log, clock, 2);
  await log.retention.split!(10 * DAY_MS);
  assertEquals((await listed(log)).map(({ name }) => name), [closedName(1)]);
  // Nothing has been written since.
  await log.retention.split!(0);
  assertEquals((await listed(log)).length, 1);
  await fill(log, clock, 1);
  await log.close();
  const finding = await audit.verify() as AuditWhole;
  assertEquals([finding.ok, finding.files], [true, 2]);
});

Deno.test("verifyAudit() finds files that are gone though nothing signed says that they were pruned", async () => {
  await using audit = await auditFixture();
  const { clock, options } = daily();
  const log = await audit.open(options);
  await fill(log, clock, 40);
  const files = await listed(log);
  await log.retention.remove(files.slice(0, 2));
  await log.close();
  const lines = (await audit.lines()).map((line) => JSON.parse(line) as AuditRecord);

  // By somebody who can write the log and has no key.
  const gone = lines.filter(({ seq }) => seq < Number(/\d+/.exec(files[3]!.name)![0]));
  await Deno.remove(`${audit.dir}/${files[2]!.name}`);
  const taken = await audit.verify() as AuditDamage;
  assertEquals(taken.problem, "gap");
  assertStringIncludes(taken.message, "were not pruned");
  const last = lines.at(-1)!;
  const { line } = sealRecord({
    seq: last.seq + 1,
    ts: clock.now,
    kind: "log.pruned",
    prev: last.hash,
    data: {
      file: files[2]!.name,
      first: gone[0]!.seq,
      last: gone.at(-1)!.seq,
      head: gone.at(-1)!.hash,
    },
  });
  await Deno.writeTextFile(`${audit.dir}/${AUDIT_FILE}`, line, { append: true });
  const forged = await audit.verify() as AuditDamage;
  assertEquals(forged.problem, "gap");
  assertStringIncludes(forged.message, "that they were pruned isn't signed");
  assert((await Deno.stat(`${audit.dir}/${CHECKPOINT_FILE}`)).isFile);
  assert((await Deno.stat(`${audit.keysDir}/${HEAD_FILE}`)).isFile);
});
