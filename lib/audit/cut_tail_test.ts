import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { canonicalJson } from "../base/canonical_json.ts";
import { type AuditFixture, auditFixture } from "./testing/audit_fixture.ts";
import { AUDIT_FILE, CHECKPOINT_FILE, PUBLIC_KEY_FILE } from "./files.ts";
import { HEAD_FILE, readHead } from "./head_file.ts";
import { type AuditRecord, GENESIS, sealRecord } from "./record.ts";
import { openSigner } from "./signing_key.ts";
import { findTrustedKeys } from "./trusted_keys.ts";
import type { AuditDamage } from "./verify.ts";

/** As a copy is verified: with the public key beside it, and without the key folder. */
async function verifyCopy({ dir, verify }: AuditFixture) {
  const { keys } = await findTrustedKeys({ dir });
  return await verify({ keys, keysDir: undefined });
}

/** Everything in a folder, to be put back later. */
async function copyOf(dir: string): Promise<() => Promise<void>> {
  const files = new Map<string, Uint8Array>();
  for await (const { name } of Deno.readDir(dir)) {
    files.set(name, await Deno.readFile(`${dir}/${name}`));
  }
  return async () => {
    await Deno.remove(dir, { recursive: true });
    await Deno.mkdir(dir, { mode: 0o700 });
    for (const [name, bytes] of files) await Deno.writeFile(`${dir}/${name}`, bytes);
  };
}

Deno.test("verifyAudit() takes no checkpoint of the log for the file of the last one", async () => {
  await using audit = await auditFixture();
  await audit.write(40, { checkpointEvery: 8 });
  const lines = await audit.lines();
  const path = `${audit.dir}/${AUDIT_FILE}`;
  const marks = lines.map((line) => JSON.parse(line) as AuditRecord)
    .filter(({ kind }) => kind === "log.checkpoint");
  assert(marks.length > 3);
  for (const { seq, ts, data } of marks.slice(0, -1)) {
    for (const v of [1, 2, data.v]) {
      // Cut before the checkpoint, behind it, and behind the record that follows.
      for (const end of [seq - 1, seq, seq + 1]) {
        const forged = { ...data, v, ts, hash: data.head };
        await Deno.writeTextFile(path, lines.slice(0, end).join("\n") + "\n");
        await Deno.writeTextFile(`${audit.dir}/${CHECKPOINT_FILE}`, JSON.stringify(forged));
        for (const finding of [await verifyCopy(audit), await audit.verify()]) {
          assertEquals([seq, v, end, finding.ok], [seq, v, end, false]);
        }
      }
    }
  }
});

Deno.test("verifyAudit() finds an older copy of the folder that was put back, and a start says so", async () => {
  const rotations = [undefined, 1_500];
  for (const rotateBytes of rotations) {
    await using audit = await auditFixture();
    await audit.write(5, { rotateBytes });
    const putBack = await copyOf(audit.dir);
    await audit.write(20, { rotateBytes });
    assert((await audit.verify()).ok);
    const last = (await audit.lines()).length;
    await putBack();

    const found = (await audit.lines()).length;
    const cut = await audit.verify() as AuditDamage;
    assertEquals([cut.ok, cut.problem], [false, "cut"]);
    assertStringIncludes(cut.message, `ends with record ${found}`);
    assertStringIncludes(cut.message, `record ${last}`);

    // As long again as it was, which the number alone would not tell.
    await audit.write(30, { rotateBytes });
    const records = (await audit.lines()).map((line) => JSON.parse(line) as AuditRecord);
    const [loss, ...more] = records.filter(({ kind }) => kind === "log.cut");
    assertEquals([loss?.data.reason, loss?.data.signed, loss?.data.found, more], [
      "missing",
      last,
      found,
      [],
    ]);
    assertEquals((await audit.verify() as AuditDamage).problem, "loss");
    assertEquals((await audit.verify({ knownLosses: new Set([loss!.seq]) })).ok, true);
  }
});

Deno.test("verifyAudit() finds that the last record is gone before any checkpoint covers it", async () => {
  await using audit = await auditFixture();
  const log = await audit.open();
  for (let index = 0; index < 3; index++) {
    const { seq } = await log.append("action.refused", { index });
    // The process is not asked to stop: what is told is known at once.
    const path = `${audit.dir}/${AUDIT_FILE}`;
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, text.split("\n").slice(0, -2).join("\n") + "\n");
    const cut = await audit.verify() as AuditDamage;
    assertEquals([cut.ok, cut.problem], [false, "cut"]);
    assertStringIncludes(cut.message, `record ${seq}`);
    await Deno.writeTextFile(path, text);
    assert((await audit.verify()).ok);
  }
  await log.close();
});

Deno.test("verifyAudit() and a start miss the head when it is gone, and find it damaged", async () => {
  const cases: [string, string, (path: string) => Promise<void>][] = [
    ["missing", "no_head", (path) => Deno.remove(path)],
    ["damaged", "damaged_head", (path) => Deno.writeTextFile(path, "0".repeat(198))],
  ];
  for (const [word, reason, damage] of cases) {
    await using audit = await auditFixture();
    await audit.write(5);
    await damage(`${audit.keysDir}/${HEAD_FILE}`);
    const finding = await audit.verify();
    assertEquals(finding.ok, false);
    assertStringIncludes((finding as AuditDamage).message, word);
    await audit.write(1);
    const cuts = (await audit.lines()).map((line) => JSON.parse(line) as AuditRecord)
      .filter(({ kind }) => kind === "log.cut");
    assertEquals(cuts.map(({ data }) => data.reason), [reason]);
    assertEquals((await audit.verify({ knownLosses: new Set([cuts[0]!.seq]) })).ok, true);
  }
});

Deno.test("readHead() has the last head but one when a write was torn, at any byte", async () => {
  await using audit = await auditFixture();
  const log = await audit.open();
  const path = `${audit.keysDir}/${HEAD_FILE}`;
  const { seq } = await log.append("action.refused", {});
  const before = await Deno.readFile(path);
  await log.append("action.refused", {});
  const after = await Deno.readFile(path);
  assertEquals(after.length, before.length);
  let torn = 0;
  for (let at = 1; at < after.length; at++) {
    await Deno.writeFile(path, new Uint8Array([...after.slice(0, at), ...before.slice(at)]));
    const head = await readHead(audit.keysDir);
    assert(typeof head === "object" && (head.seq === seq || head.seq === seq + 1), `${at}`);
    if (head.seq === seq) torn++;
  }
  assert(torn > 10);
  await Deno.writeFile(path, after);
  await log.close();
  assert((await audit.verify()).ok);
});

/** A log and a checkpoint as version 1 wrote them: both places signed with one purpose, and no head. */
async function writeVersion1({ dir, keysDir }: AuditFixture, groups: number): Promise<void> {
  await Deno.mkdir(dir);
  await Deno.mkdir(keysDir);
  let [seq, prev, text] = [0, GENESIS, ""];
  const signer = await openSigner(keysDir, () => Promise.resolve());
  const sign = async (about: { seq: number; hash: string; ts: number }) => ({
    ...about,
    v: 1,
    key: signer.fingerprint,
    sig: await signer.sign(canonicalJson({ purpose: "service audit checkpoint", v: 1, ...about })),
  });
  const add = (kind: AuditRecord["kind"], data: Record<string, unknown>) => {
    const sealed = sealRecord({ seq: ++seq, ts: seq, kind, prev, data });
    prev = sealed.record.hash;
    text += sealed.line;
  };
  for (let group = 0; group < groups; group++) {
    add("action.refused", { group });
    const { hash, key, sig, seq: about } = await sign({ seq, hash: prev, ts: seq + 1 });
    add("log.checkpoint", { seq: about, head: hash, key, sig });
  }
  await Deno.writeTextFile(`${dir}/${AUDIT_FILE}`, text);
  const last = await sign({ seq, hash: prev, ts: seq });
  await Deno.writeTextFile(`${dir}/${CHECKPOINT_FILE}`, JSON.stringify(last));
  await Deno.writeTextFile(`${dir}/${PUBLIC_KEY_FILE}`, signer.publicKey);
}

Deno.test("a log of version 1 verifies, goes on, and gets a head", async () => {
  await using audit = await auditFixture();
  await writeVersion1(audit, 4);
  for (const finding of [await audit.verify(), await verifyCopy(audit)]) {
    assertEquals(finding.ok && [finding.records, finding.signed?.seq], [8, 8]);
  }
  const putBack = await copyOf(audit.dir);
  // A start that writes nothing, and one that does.
  await audit.write(0);
  assertEquals(await readHead(audit.keysDir), {
    seq: 8,
    hash: (JSON.parse((await audit.lines()).at(-1)!) as AuditRecord).hash,
  });
  assert((await audit.verify()).ok);
  await audit.write(3);
  const finding = await audit.verify();
  assertEquals(finding.ok && finding.signed?.seq, (await audit.lines()).length);
  assert((await verifyCopy(audit)).ok);
  assertEquals((await audit.lines()).filter((line) => line.includes('"log.cut"')), []);

  await putBack();
  assertEquals((await audit.verify() as AuditDamage).problem, "cut");
});

Deno.test("a log of version 1 is not cut by a checkpoint of its own", async () => {
  await using audit = await auditFixture();
  await writeVersion1(audit, 4);
  const lines = await audit.lines();
  const { seq, ts, data } = JSON.parse(lines[5]!) as AuditRecord;
  const forged = JSON.stringify({ ...data, v: 1, ts, hash: data.head });
  await Deno.writeTextFile(`${audit.dir}/${CHECKPOINT_FILE}`, forged);
  for (const end of [seq - 1, seq]) {
    await Deno.writeTextFile(`${audit.dir}/${AUDIT_FILE}`, lines.slice(0, end).join("\n") + "\n");
    for (const finding of [await audit.verify(), await verifyCopy(audit)]) {
      assertEquals([end, finding.ok], [end, false]);
    }
  }
  await audit.write(1);
  const cut = (await audit.lines()).map((line) => JSON.parse(line) as AuditRecord)
    .filter(({ kind }) => kind === "log.cut");
  assertEquals(cut.map(({ data }) => data.reason), ["forged_checkpoint"]);
});

Deno.test("append() waits for the disk once, and the head is there when it resolves", async () => {
  await using audit = await auditFixture();
  const log = await audit.open();
  const { sync, syncData } = Deno.FsFile.prototype;
  let waits = 0;
  try {
    Deno.FsFile.prototype.sync = function () {
      waits++;
      return sync.call(this);
    };
    Deno.FsFile.prototype.syncData = function () {
      waits++;
      return syncData.call(this);
    };
    for (let count = 1; count <= 5; count++) {
      const { seq, hash } = await log.append("action.refused", {});
      assertEquals(await readHead(audit.keysDir), { seq, hash });
      assertEquals(waits, count);
    }
  } finally {
    Object.assign(Deno.FsFile.prototype, { sync, syncData });
  }
  await log.close();
});
