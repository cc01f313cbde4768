import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { mountNeeds, mountReadOnly } from "../../tests/support/mounts.ts";
import { needs } from "../../tests/support/needs.ts";
import { ServiceError } from "../base/errors.ts";
import { type AuditFixture, auditFixture } from "./testing/audit_fixture.ts";
import { CHECKPOINT_FILE, closedName, listClosed } from "./files.ts";
import { AUDIT_FILE } from "./log.ts";
import type { AuditRecord } from "./record.ts";
import type { AuditDamage } from "./verify.ts";
import { lockedFlags } from "../packages/locked_packages.ts";
import { rounds } from "../../tests/support/rounds.ts";

const ROTATE_BYTES = 2_000;

async function kinds(audit: AuditFixture): Promise<string[]> {
  return (await audit.lines()).map((line) => (JSON.parse(line) as AuditRecord).kind);
}

Deno.test("append() begins a new file when one is full, each closed with a checkpoint", async () => {
  await using audit = await auditFixture();
  await audit.write(60, { rotateBytes: ROTATE_BYTES });
  const files = await audit.files();
  assert(files.length > 4);
  const lines = await audit.lines();
  assertEquals(lines.map((line) => JSON.parse(line).seq), lines.map((_, index) => index + 1));
  for (const name of files.slice(0, -1)) {
    const records = (await Deno.readTextFile(`${audit.dir}/${name}`)).trim().split("\n")
      .map((line) => JSON.parse(line) as AuditRecord);
    assertEquals(closedName(records[0]!.seq), name);
    assertEquals(records.at(-1)!.kind, "log.checkpoint");
    assertEquals((await Deno.stat(`${audit.dir}/${name}`)).mode! & 0o777, 0o600);
  }
  const finding = await audit.verify();
  assertEquals(finding.ok && [finding.records, finding.files], [lines.length, files.length]);
});

Deno.test("100 parallel actions give 200 intact records, over files too", async () => {
  for (const rotateBytes of [undefined, 1_000, 8_000]) {
    await using audit = await auditFixture();
    const log = await audit.open({ rotateBytes });
    await Promise.all(Array.from({ length: 100 }, async (_, index) => {
      const start = await log.append("action.start", { index });
      await log.append("action.end", { start: start.seq, status: "ok" });
    }));
    await log.close();
    const finding = await audit.verify();
    assertEquals(finding.ok && finding.unknown, []);
    assertEquals((await kinds(audit)).filter((kind) => kind.startsWith("action.")).length, 200);
  }
});

Deno.test("openAudit() goes on after a crash at each step of a rotation", async () => {
  const steps: [string, (audit: AuditFixture) => Promise<void>][] = [
    ["before the rename", async ({ dir }) => {
      const last = (await listClosed(dir)).at(-1)!;
      await Deno.remove(`${dir}/${AUDIT_FILE}`);
      await Deno.rename(`${dir}/${closedName(last)}`, `${dir}/${AUDIT_FILE}`);
    }],
    ["after the rename", ({ dir }) => Deno.remove(`${dir}/${AUDIT_FILE}`)],
    ["after the new file", () => Promise.resolve()],
    ["within its first record", ({ dir }) => Deno.writeTextFile(`${dir}/${AUDIT_FILE}`, '{"da')],
  ];
  for (const [name, crash] of steps) {
    await using audit = await auditFixture();
    // So small that each write fills a file, and the last one has just been begun.
    await audit.write(3, { rotateBytes: 1 });
    await crash(audit);
    assertEquals([name, (await audit.verify()).ok], [name, true]);
    await audit.write(20, { rotateBytes: ROTATE_BYTES });
    const finding = await audit.verify();
    assertEquals([name, finding.ok], [name, true]);
    const words = (await kinds(audit)).filter((kind) => kind === "log.cut" || kind === "log.gone");
    assertEquals(words, []);
  }
});

Deno.test("openAudit() says in the record that signed records are gone, changed or without their checkpoint", async () => {
  const cases: [string, string, (audit: AuditFixture, lines: string[]) => Promise<void>][] = [
    [
      "cut",
      "missing",
      ({ dir }, lines) =>
        Deno.writeTextFile(`${dir}/${AUDIT_FILE}`, lines.slice(0, 4).join("\n") + "\n"),
    ],
    ["emptied", "missing", ({ dir }) => Deno.writeTextFile(`${dir}/${AUDIT_FILE}`, "")],
    ["no checkpoint", "no_checkpoint", ({ dir }) => Deno.remove(`${dir}/${CHECKPOINT_FILE}`)],
    [
      "damaged",
      "forged_checkpoint",
      ({ dir }) => Deno.writeTextFile(`${dir}/${CHECKPOINT_FILE}`, "{}"),
    ],
  ];
  for (const [name, reason, damage] of cases) {
    await using audit = await auditFixture();
    await audit.write(5);
    await damage(audit, await audit.lines());
    assertEquals([name, (await audit.verify()).ok], [name, false]);
    await audit.write(1);
    const lines = (await audit.lines()).map((line) => JSON.parse(line) as AuditRecord);
    const cut = lines.filter(({ kind }) => kind === "log.cut");
    assertEquals(cut.map(({ data }) => data.reason), [reason]);
    assert(audit.logged.some((text) => text.includes("signed is gone")));
    // A restart does not make it good, and says it once.
    await audit.write(1);
    const finding = await audit.verify() as AuditDamage;
    assertEquals([name, finding.problem], [name, "loss"]);
    assertEquals((await kinds(audit)).filter((kind) => kind === "log.cut").length, 1);
    const knownLosses = new Set([cut[0]!.seq]);
    assertEquals((await audit.verify({ knownLosses })).ok, true);
    assertEquals([name, (await audit.verify({ knownLosses, mirror: audit.mirror })).ok], [
      name,
      true,
    ]);
  }
});

Deno.test("append() goes on in the full file when the next cannot be begun", async () => {
  await using audit = await auditFixture();
  const log = await audit.open({ rotateBytes: ROTATE_BYTES });
  await log.append("action.refused", {});
  await Deno.writeTextFile(`${audit.dir}/${closedName(1)}`, "");
  for (let index = 0; index < 20; index++) await log.append("action.refused", { index });
  await log.close();
  assert(audit.logged.some((text) => text.includes("Cannot begin a new file")));
  await Deno.remove(`${audit.dir}/${closedName(1)}`);
  const finding = await audit.verify();
  assertEquals(finding.ok && finding.files, 1);
});

Deno.test("keepFiles removes the oldest files, and verifyAudit() knows them from others that are gone", async () => {
  await using audit = await auditFixture();
  await audit.write(60, { rotateBytes: ROTATE_BYTES, keepFiles: 2 });
  // Those that the end of the process left are removed at the next start.
  await audit.write(0, { rotateBytes: ROTATE_BYTES, keepFiles: 2 });
  const closed = await listClosed(audit.dir);
  assert(closed.length <= 3 && closed[0]! > 1, `${closed}`);
  const finding = await audit.verify();
  assertEquals(finding.ok && finding.first, closed[0]);
  assert((await audit.verify({ mirror: audit.mirror })).ok);
  await Deno.remove(`${audit.dir}/${closedName(closed[0]!)}`);
  const gone = await audit.verify() as AuditDamage;
  assertEquals([gone.problem, gone.line], ["gap", 1]);
  assertStringIncludes(gone.message, "were not pruned");
});

Deno.test("append() signs after some records and after some time, and close() the rest", async () => {
  await using audit = await auditFixture();
  const timers: { run: () => void; ms: number }[] = [];
  let cleared = 0;
  const log = await audit.open({
    checkpointEvery: 3,
    checkpointMs: 1_000,
    timers: {
      set: (run, ms) => timers.push({ run, ms }) as never,
      clear: () => void cleared++,
    },
  });
  const marks = async () =>
    (await kinds(audit)).map((kind) => kind === "log.checkpoint" ? "C" : ".").join("");
  await log.append("action.refused", {});
  assertEquals([await marks(), timers.length, timers[0]!.ms], ["..", 1, 1_000]);
  timers[0]!.run();
  await log.append("action.refused", {});
  // The one that was asked for first went out with the one that was asked for then.
  assertEquals(await marks(), "...C");
  await log.append("action.refused", {});
  await log.append("action.refused", {});
  await log.append("action.refused", {});
  assertEquals(await marks(), "...C...C");
  await log.append("action.refused", {});
  await log.close();
  assertEquals(await marks(), "...C...C.C");
  assert(cleared > 0);
  const before = await audit.lines();
  await audit.write(0);
  assertEquals(await audit.lines(), before);
});

Deno.test("kill -9 while it appends and begins new files loses no record that was told", async () => {
  await using audit = await auditFixture();
  const script = new URL("./testing/appending_process.ts", import.meta.url).pathname;
  for (const [index, keepFiles] of [0, 2, 0, 2].slice(0, rounds(4, 2)).entries()) {
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-q",
        "-A",
        "--cached-only",
        ...lockedFlags(),
        "--no-check",
        script,
        audit.dir,
        audit.keysDir,
      ]
        .concat("2000", `${keepFiles}`),
      stdout: "piped",
    }).spawn();
    let told = 0;
    const numbers = child.stdout.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream());
    const stopAt = 60 + index * 37;
    let lines = 0;
    for await (const line of numbers) {
      told = Math.max(told, Number(line));
      // What is told after the signal was sent is on the disk as well.
      if (++lines === stopAt) child.kill("SIGKILL");
    }
    await child.status;
    const finding = await audit.verify();
    assert(finding.ok, JSON.stringify(finding));
    assert(finding.first + finding.records - 1 >= told);
  }
  await audit.write(3);
  const words = (await kinds(audit)).filter((kind) => kind === "log.cut" || kind === "log.gone");
  assertEquals([(await audit.verify()).ok, words], [true, []]);
});

Deno.test("verifyAudit() finds nothing wrong while another process appends, rotates and prunes", async () => {
  await using audit = await auditFixture();
  const log = await audit.open({ rotateBytes: 4_000, keepFiles: 20, checkpointEvery: 7 });
  await log.append("action.refused", {});
  const script = new URL("./testing/verifying_process.ts", import.meta.url).pathname;
  const verifiers = [1, 2].map(() =>
    new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-q",
        "-A",
        "--cached-only",
        ...lockedFlags(),
        "--no-check",
        script,
        audit.dir,
        audit.keysDir,
      ],
      stdout: "piped",
    }).output()
  );
  let isDone = false;
  const done = Promise.all(verifiers).finally(() => isDone = true);
  while (!isDone) {
    await log.append("action.refused", { filler: "x".repeat(50) });
    // An append is done without a turn of the event loop, which pruning and the verifiers' end wait for.
    await new Promise((resolve) => setTimeout(resolve));
  }
  await log.close();
  for (const { stdout } of await done) assertEquals(new TextDecoder().decode(stdout), "ok\n");
  assert((await listClosed(audit.dir)).at(-1)! > 20, "no file was begun anew meanwhile");
});

Deno.test("openAudit() refuses a folder that it cannot write, and changes nothing there", async () => {
  await using audit = await auditFixture();
  await audit.write(2);
  const before = await audit.lines();
  // A file where the folder should be: as root no mode keeps anybody out.
  const error = await assertRejects(
    () => audit.open({ dir: `${audit.dir}/${AUDIT_FILE}` }),
    ServiceError,
  );
  assertEquals(error.code, "audit_unavailable");
  assertEquals(await audit.lines(), before);
});

Deno.test(
  needs("openAudit() refuses a folder that is mounted read-only", ...mountNeeds()),
  async () => {
    await using audit = await auditFixture();
    await audit.write(2);
    using _mount = mountReadOnly(audit.dir);
    const error = await assertRejects(() => audit.open(), ServiceError);
    assertEquals(error.code, "audit_unavailable");
    assert((await audit.verify()).ok);
  },
);

Deno.test("append() is not held up by a mirror that cannot be written, which is told once", async () => {
  await using audit = await auditFixture();
  const log = await audit.open({ mirror: `${audit.root}/no/such/folder/m`, checkpointEvery: 1 });
  for (let index = 0; index < 10; index++) await log.append("action.refused", {});
  await log.close();
  assertEquals(audit.logged.filter((text) => text.includes("mirror")).length, 1);
  assert((await audit.verify()).ok);
});
