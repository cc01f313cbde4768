import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { CHECKPOINT_FILE, PUBLIC_KEY_FILE } from "./files.ts";
import { HEAD_FILE } from "./head_file.ts";
import { AUDIT_FILE } from "./log.ts";
import { type AuditRecord, GENESIS, sealRecord } from "./record.ts";
import { findTrustedKeys } from "./trusted_keys.ts";
import { auditFixture } from "./testing/audit_fixture.ts";
import type { AuditDamage } from "./verify.ts";
import { rounds } from "../../tests/support/rounds.ts";

/** Small enough that some records fill a file. */
const ROTATE_BYTES = 2_000;

/** Sealed anew from some record on, as who has no key can do. */
function reseal(
  lines: readonly string[],
  change: (record: AuditRecord) => Record<string, unknown>,
) {
  let prev = GENESIS;
  return lines.map((line, index) => {
    const record = JSON.parse(line) as AuditRecord;
    const { kind, ts } = record;
    const sealed = sealRecord({ seq: index + 1, ts, kind, prev, data: change(record) });
    prev = sealed.record.hash;
    return sealed.line.trimEnd();
  });
}

Deno.test("G16 verifyAudit() finds every edit, drop, repeat, reorder and cut, over files too", async () => {
  await using audit = await auditFixture();
  await audit.write(40, { rotateBytes: ROTATE_BYTES, checkpointEvery: 8 });
  const names = await audit.files();
  assert(names.length > 3);
  const texts = await Promise.all(names.map((name) => Deno.readTextFile(`${audit.dir}/${name}`)));
  assert((await audit.verify()).ok);

  const line = fc.nat().map((n) => n);
  const damage = fc.oneof(
    fc.record({
      type: fc.constant("flip" as const),
      at: line,
      byte: fc.integer({ min: 1, max: 255 }),
    }),
    fc.record({ type: fc.constant("drop" as const), at: line }),
    fc.record({ type: fc.constant("repeat" as const), at: line, to: line }),
    fc.record({ type: fc.constant("swap" as const), at: line, to: line }),
    fc.record({ type: fc.constant("cut" as const), at: line }),
    fc.record({ type: fc.constant("cutBytes" as const), at: line }),
  );
  await fc.assert(
    fc.asyncProperty(fc.nat(names.length - 1), damage, async (file, what) => {
      const path = `${audit.dir}/${names[file]}`;
      const text = texts[file]!;
      const lines = text.split("\n").slice(0, -1);
      if (lines.length === 0) return;
      const at = what.at % lines.length;
      let changed: string | Uint8Array = text;
      switch (what.type) {
        case "flip": {
          const bytes = new TextEncoder().encode(text);
          bytes[what.at % bytes.length]! ^= what.byte;
          changed = bytes;
          break;
        }
        case "drop":
          changed = lines.toSpliced(at, 1).map((each) => each + "\n").join("");
          break;
        case "repeat":
          changed = lines.toSpliced(what.to % lines.length, 0, lines[at]!)
            .map((each) => each + "\n").join("");
          break;
        case "swap": {
          const to = what.to % lines.length;
          changed = lines.with(at, lines[to]!).with(to, lines[at]!)
            .map((each) => each + "\n").join("");
          break;
        }
        case "cut":
          changed = lines.slice(0, at).map((each) => each + "\n").join("");
          break;
        case "cutBytes":
          changed = new TextEncoder().encode(text).slice(0, what.at % text.length);
          break;
      }
      if (changed === text) return;
      try {
        if (typeof changed === "string") await Deno.writeTextFile(path, changed);
        else await Deno.writeFile(path, changed);
        const finding = await audit.verify();
        assertEquals([what.type, finding.ok], [what.type, false]);
        const { message, file: where, line } = finding as AuditDamage;
        assertStringIncludes(message, `${where} line ${line}: `);
      } finally {
        await Deno.writeTextFile(path, text);
      }
    }),
    { numRuns: rounds(300) },
  );
  assert((await audit.verify()).ok);
});

Deno.test("G16 verifyAudit() finds a file that is missing, swapped or put in", async () => {
  await using audit = await auditFixture();
  await audit.write(60, { rotateBytes: ROTATE_BYTES });
  const names = await audit.files();
  const path = (index: number) => `${audit.dir}/${names[index]}`;
  const problem = async () => (await audit.verify() as AuditDamage).problem;

  for (const index of names.keys()) {
    await Deno.rename(path(index), `${audit.root}/away`);
    const expected = index === names.length - 1 ? "cut" : "gap";
    // The file that is written to may hold nothing yet.
    const { size } = await Deno.stat(`${audit.root}/away`);
    if (size > 0) assertEquals([index, await problem()], [index, expected]);
    await Deno.rename(`${audit.root}/away`, path(index));
  }
  await Deno.rename(path(1), `${audit.root}/away`);
  await Deno.rename(path(2), path(1));
  await Deno.rename(`${audit.root}/away`, path(2));
  assertEquals(await problem(), "gap");
  await Deno.rename(path(1), `${audit.root}/away`);
  await Deno.rename(path(2), path(1));
  await Deno.rename(`${audit.root}/away`, path(2));
  assert((await audit.verify()).ok);

  await Deno.copyFile(path(0), `${audit.dir}/audit-9999.jsonl`);
  assertEquals(await problem(), "order");
});

Deno.test("G16 verifyAudit() finds a chain that was computed anew without the key", async () => {
  await using audit = await auditFixture();
  await audit.write(20, { checkpointEvery: 8 });
  const lines = await audit.lines();
  const path = `${audit.dir}/${AUDIT_FILE}`;
  const forge = (record: AuditRecord) =>
    record.data.index === 3 ? { ...record.data, index: 99 } : record.data;

  // With the checkpoints as they were, which are about other hashes now.
  await Deno.writeTextFile(path, reseal(lines, forge).join("\n") + "\n");
  assertEquals((await audit.verify() as AuditDamage).problem, "checkpoint");

  // With checkpoints that name the new hashes, and the old signatures.
  let prev = GENESIS;
  const renamed = lines.map((line) => {
    const { seq, ts, kind, data } = JSON.parse(line) as AuditRecord;
    const own = kind === "log.checkpoint" ? { ...data, head: prev } : data;
    const sealed = sealRecord({
      seq,
      ts,
      kind,
      prev,
      data: data.index === 3 ? { index: 99 } : own,
    });
    prev = sealed.record.hash;
    return sealed.line;
  });
  await Deno.writeTextFile(path, renamed.join(""));
  const forged = await audit.verify() as AuditDamage;
  assertEquals(forged.problem, "checkpoint");
  assertStringIncludes(forged.message, "not signed by the audit's key");

  // Without any checkpoint in it: the last one beside it still says what there was.
  const bare = lines.filter((line) => !line.includes('"kind":"log.checkpoint"'));
  await Deno.writeTextFile(path, reseal(bare, forge).join("\n") + "\n");
  assertEquals((await audit.verify() as AuditDamage).problem, "cut");

  // And without that one.
  await Deno.remove(`${audit.dir}/${CHECKPOINT_FILE}`);
  assertEquals((await audit.verify() as AuditDamage).problem, "cut");
});

Deno.test("G16 verifyAudit() takes no signature of another key, nor a forged or damaged checkpoint", async () => {
  await using audit = await auditFixture();
  await using other = await auditFixture();
  await audit.write(5);
  await other.write(5);
  const path = `${audit.dir}/${CHECKPOINT_FILE}`;
  const genuine = await Deno.readTextFile(path);
  const problem = async () => (await audit.verify() as AuditDamage).problem;

  await Deno.copyFile(`${other.dir}/${CHECKPOINT_FILE}`, path);
  assertEquals(await problem(), "checkpoint");
  for (const change of [{ seq: 3 }, { hash: GENESIS }, { ts: 1 }, { sig: "AAAA" }, { sig: "?" }]) {
    await Deno.writeTextFile(path, JSON.stringify({ ...JSON.parse(genuine), ...change }));
    assertEquals(await problem(), "checkpoint");
  }
  for (const text of ["", "null", "[]", "{}", genuine.slice(0, 40)]) {
    await Deno.writeTextFile(path, text);
    assertEquals(await problem(), "checkpoint");
  }
  await Deno.writeTextFile(path, genuine);
  assert((await audit.verify()).ok);

  // The whole of another home in its place, with its public key.
  for (const name of [AUDIT_FILE, CHECKPOINT_FILE, PUBLIC_KEY_FILE]) {
    await Deno.copyFile(`${other.dir}/${name}`, `${audit.dir}/${name}`);
  }
  assertEquals(await problem(), "checkpoint");
  const trusted = await findTrustedKeys({ dir: audit.dir, keysDir: audit.keysDir });
  assertEquals([trusted.from, trusted.isReplaced], ["own", true]);
});

Deno.test("G16 verifyAudit() finds an earlier state of the whole home by the mirror", async () => {
  await using audit = await auditFixture();
  const { mirror } = audit;
  await audit.write(5);
  const early = await Deno.readTextFile(`${audit.dir}/${AUDIT_FILE}`);
  const earlyCheckpoint = await Deno.readTextFile(`${audit.dir}/${CHECKPOINT_FILE}`);
  const earlyHead = await Deno.readTextFile(`${audit.keysDir}/${HEAD_FILE}`);
  await audit.write(5);
  assert((await audit.verify({ mirror })).ok);
  await Deno.writeTextFile(`${audit.dir}/${AUDIT_FILE}`, early);
  await Deno.writeTextFile(`${audit.dir}/${CHECKPOINT_FILE}`, earlyCheckpoint);
  await Deno.writeTextFile(`${audit.keysDir}/${HEAD_FILE}`, earlyHead);
  assert((await audit.verify()).ok);
  const cut = await audit.verify({ mirror }) as AuditDamage;
  assertEquals(cut.problem, "cut");
  assertStringIncludes(cut.message, "the mirror");

  // It goes on from there as if nothing had been, and is as long again: the mirror has both.
  await audit.write(5);
  await audit.write(5);
  assert((await audit.verify()).ok);
  assertEquals((await audit.verify({ mirror }) as AuditDamage).problem, "mirror");

  // What others write there, or what is torn, is no word of ours.
  await Deno.writeTextFile(mirror, 'junk\n{}\n{"v":1,"seq":9', { append: false });
  assert((await audit.verify({ mirror })).ok);
  await Deno.remove(mirror);
  assertEquals((await audit.verify({ mirror }) as AuditDamage).problem, "mirror");
});

Deno.test("verifyAudit() checks a copy with its public key alone, and without any key the chain", async () => {
  await using audit = await auditFixture();
  await audit.write(5);
  const beside = await findTrustedKeys({ dir: audit.dir });
  assertEquals(beside.from, "beside");
  const finding = await audit.verify({ keys: beside.keys });
  assert(finding.ok && finding.signed?.seq === finding.records);
  const bare = await audit.verify({ keys: [] });
  assert(bare.ok && bare.signed === undefined);
  const given = await findTrustedKeys({
    dir: "/nowhere",
    given: [`${audit.dir}/${PUBLIC_KEY_FILE}`],
  });
  assertEquals(given.keys.map((key) => key.fingerprint), beside.keys.map((key) => key.fingerprint));
});

Deno.test("verifyAudit() tells its progress, ends when it is told to, and bounds its list", async () => {
  await using audit = await auditFixture();
  const log = await audit.open();
  await Promise.all(
    Array.from(
      { length: 9_000 },
      (_, index) => log.append("action.start", { index, f: "x".repeat(99) }),
    ),
  );
  await Promise.all(
    Array.from({ length: 3_000 }, (_, index) => log.append("action.start", { index })),
  );
  await log.close();
  const told: number[] = [];
  const finding = await audit.verify({ onProgress: ({ bytes }) => told.push(bytes) });
  assert(finding.ok);
  assert(told.length > 1 && told.every((bytes, at) => at === 0 || bytes > told[at - 1]!));
  assertEquals([finding.unknown.length, finding.unknownMore], [10_000, 2_000]);
  const stopped = await audit.verify({ signal: AbortSignal.abort(new Error("enough")) })
    .catch((error) => error.message);
  assertEquals(stopped, "enough");
});
