import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { mountNeeds, mountSmallDisk } from "../../tests/support/mounts.ts";
import { needs } from "../../tests/support/needs.ts";
import { ServiceError } from "../base/errors.ts";
import { AUDIT_FILE, type AuditLog, openAudit } from "./log.ts";
import { findTrustedKeys } from "./trusted_keys.ts";
import { type AuditFinding, verifyAudit } from "./verify.ts";

const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };

interface Setup {
  path: string;
  dir: string;
  keysDir: string;
  open(): Promise<AuditLog>;
  verify(): Promise<AuditFinding>;
}

async function withAudit(test: (setup: Setup) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  const dir = `${root}/audit`;
  const keysDir = `${root}/keys`;
  try {
    await test({
      path: `${dir}/${AUDIT_FILE}`,
      dir,
      keysDir,
      open: () => openAudit({ dir, keysDir, log }),
      verify: async () => {
        const { keys } = await findTrustedKeys({ dir, keysDir });
        return await verifyAudit({ dir, keys });
      },
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

async function lines(path: string): Promise<string[]> {
  return (await Deno.readTextFile(path)).split("\n").slice(0, -1);
}

/** A file of some records, closed. */
async function write(setup: Setup, count: number): Promise<string[]> {
  const audit = await setup.open();
  for (let index = 0; index < count; index++) await audit.append("action.refused", { index });
  await audit.close();
  return await lines(setup.path);
}

Deno.test("append() chains records over restarts, and files are the owner's alone", async () => {
  await withAudit(async (setup) => {
    const audit = await setup.open();
    const first = await audit.append("action.start", { tool: "a" });
    await audit.append("action.end", { start: first.seq, status: "ok" });
    await audit.close();
    const again = await setup.open();
    await again.append("action.refused", {});
    await again.close();

    const records = (await lines(setup.path)).map((line) => JSON.parse(line));
    assertEquals(records.map(({ seq, kind }) => [seq, kind]), [
      [1, "log.open"],
      [2, "action.start"],
      [3, "action.end"],
      [4, "log.checkpoint"],
      [5, "log.open"],
      [6, "action.refused"],
      [7, "log.checkpoint"],
    ]);
    for (const [index, record] of records.entries()) {
      assertEquals(record.prev, records[index - 1]?.hash ?? "0".repeat(64));
    }
    const finding = await setup.verify();
    assertEquals({ ...finding, signed: undefined }, {
      ok: true,
      records: 7,
      files: 1,
      first: 1,
      head: records[6].hash,
      signed: undefined,
      tornBytes: 0,
      unknown: [],
      unknownMore: 0,
    });
    assertEquals(finding.ok && finding.signed?.seq, 7);
    const mode = async (path: string) => (await Deno.stat(path)).mode! & 0o777;
    assertEquals(await mode(setup.path), 0o600);
    assertEquals(await mode(setup.dir), 0o700);
    assertEquals(await mode(setup.keysDir), 0o700);
    assertEquals(await mode(`${setup.keysDir}/audit.key`), 0o600);
    assertEquals(await mode(`${setup.keysDir}/audit-signing.key`), 0o600);
  });
});

Deno.test("append() groups what comes together and keeps its order", async () => {
  await withAudit(async (setup) => {
    const audit = await setup.open();
    const records = await Promise.all(
      Array.from({ length: 200 }, (_, index) => audit.append("action.refused", { index })),
    );
    await audit.close();
    assertEquals(records.map(({ seq }) => seq), Array.from({ length: 200 }, (_, i) => i + 2));
    assertEquals(records.map(({ data }) => data.index), Array.from({ length: 200 }, (_, i) => i));
    const finding = await setup.verify();
    assertEquals(finding.ok && finding.records, 202);
  });
});

Deno.test("digest() is the same over restarts, and another with another key", async () => {
  await withAudit(async (setup) => {
    const audit = await setup.open();
    const digest = audit.digest("rm -rf /");
    await audit.close();
    const again = await setup.open();
    assertEquals(again.digest("rm -rf /"), digest);
    await again.close();
    await Deno.remove(`${setup.keysDir}/audit.key`);
    const other = await setup.open();
    assert(other.digest("rm -rf /") !== digest);
    await other.close();
  });
});

Deno.test("openAudit() sets a torn last line aside and records that it did", async () => {
  for (const torn of ['{"v":1,"seq":4,"ki', "\0\0\0\0\0\0", "\0\0\n\0\n", "garbage\n"]) {
    await withAudit(async (setup) => {
      await write(setup, 2);
      await Deno.writeTextFile(setup.path, torn, { append: true });
      const before = await setup.verify();
      assertEquals(before.ok, !torn.includes("\n"));

      const audit = await setup.open();
      await audit.append("action.refused", {});
      await audit.close();
      const records = (await lines(setup.path)).map((line) => JSON.parse(line));
      const record = records.find(({ kind }) => kind === "log.torn");
      assertEquals(record.data.bytes, torn.length);
      assertEquals(await Deno.readTextFile(`${setup.dir}/${record.data.aside}`), torn);
      assertEquals((await setup.verify()).ok, true);
    });
  }
});

Deno.test("openAudit() refuses a file whose end does not hold together", async () => {
  const cases: [string, (all: string[]) => string[], string][] = [
    ["edited", (all) => all.with(-2, all.at(-2)!.replace('"index":4', '"index":5')), "was changed"],
    [
      "edited before the last",
      (all) => all.with(-3, all.at(-3)!.replace('"index":3', '"index":9')),
      "",
    ],
    ["dropped", (all) => all.toSpliced(-2, 1), "does not follow"],
    ["swapped", (all) => [...all.slice(0, -2), all.at(-1)!, all.at(-2)!], "does not follow"],
    ["damaged", (all) => all.with(-2, "garbage"), "damaged"],
    ["without its beginning", (all) => all.slice(1), "beginning is missing"],
  ];
  for (const [name, change, expected] of cases) {
    await withAudit(async (setup) => {
      const all = await write(setup, 5);
      await Deno.writeTextFile(setup.path, change(all).join("\n") + "\n");
      const error = await assertRejects(() => setup.open(), ServiceError);
      assertEquals([name, (error as ServiceError).code], [name, "audit_unavailable"]);
      assertStringIncludes((error as ServiceError).message, expected);
    });
  }
});

Deno.test("openAudit() reads only the end of a long file", async () => {
  await withAudit(async (setup) => {
    const audit = await setup.open();
    const filler = "x".repeat(100_000);
    for (let index = 0; index < 40; index++) await audit.append("action.refused", { filler });
    await audit.close();
    const again = await setup.open();
    assertEquals((await again.append("action.refused", {})).seq, 44);
    await again.close();
    assertEquals((await setup.verify()).ok, true);
  });
});

Deno.test("G16 verifyAudit() finds what was edited, dropped, swapped, repeated or put in", async () => {
  const cases: [string, (all: string[]) => string[], string, number][] = [
    ["edited", (all) => all.with(2, all[2]!.replace('"index":1', '"index":7')), "edited", 3],
    ["edited key", (all) => all.with(2, all[2]!.replace('"index"', '"indey"')), "edited", 3],
    ["dropped", (all) => all.toSpliced(2, 1), "gap", 3],
    ["swapped", (all) => all.with(2, all[3]!).with(3, all[2]!), "gap", 3],
    ["repeated", (all) => all.toSpliced(3, 0, all[2]!), "order", 4],
    ["garbage", (all) => all.toSpliced(3, 0, "{}"), "unreadable", 4],
    ["blank", (all) => all.toSpliced(3, 0, ""), "unreadable", 4],
    ["beginning cut", (all) => all.slice(2), "gap", 1],
    ["too long", (all) => all.with(2, "x".repeat(1_100_000)), "too_long", 3],
  ];
  for (const [name, change, problem, line] of cases) {
    await withAudit(async (setup) => {
      const all = await write(setup, 5);
      await Deno.writeTextFile(setup.path, change(all).join("\n") + "\n");
      const finding = await setup.verify() as Extract<AuditFinding, { ok: false }>;
      assertEquals([name, finding.problem, finding.line], [name, problem, line]);
      assertStringIncludes(finding.message, `line ${line}: `);
    });
  }
});

Deno.test("G16 verifyAudit() finds a record that was written anew with a right hash of its own", async () => {
  await withAudit(async (setup) => {
    const all = await write(setup, 5);
    // Another history of the same length, spliced in.
    await withAudit(async (other) => {
      const forged = await write(other, 5);
      await Deno.writeTextFile(setup.path, all.with(3, forged[3]!).join("\n") + "\n");
    });
    const finding = await setup.verify() as Extract<AuditFinding, { ok: false }>;
    assertEquals([finding.problem, finding.line], ["chain", 4]);
  });
});

Deno.test("verifyAudit() names actions whose end is unknown, and whether they can still run", async () => {
  await withAudit(async (setup) => {
    const audit = await setup.open();
    await audit.append("action.start", { tool: "crashed" });
    await audit.close();
    const again = await setup.open();
    const done = await again.append("action.start", { tool: "done" });
    await again.append("action.start", { tool: "running" });
    await again.append("action.end", { start: done.seq, status: "ok" });
    await again.close();
    const finding = await setup.verify();
    assertEquals(
      finding.ok && finding.unknown.map(({ data, crashed }) => [data.tool, crashed]),
      [["crashed", true], ["running", false]],
    );
  });
});

Deno.test("append() rejects what is too long, and after close()", async () => {
  await withAudit(async (setup) => {
    const audit = await setup.open();
    const long = await assertRejects(
      () => audit.append("action.refused", { text: "x".repeat(400_000) }),
      ServiceError,
    );
    assertEquals((long as ServiceError).code, "audit_unavailable");
    await audit.append("action.refused", {});
    await audit.close();
    await audit.close();
    await assertRejects(() => audit.append("action.refused", {}), ServiceError, "is closed");
    assertEquals((await setup.verify()).ok, true);
  });
});

Deno.test({
  ...needs("append() rejects and leaves the file whole when the disk is full", ...mountNeeds()),
  async fn() {
    const root = await Deno.makeTempDir();
    const disk = mountSmallDisk(root);
    try {
      const audit = await openAudit({ dir: `${root}/audit`, keysDir: `${root}/keys`, log });
      await audit.append("action.refused", { index: 0 });
      const filler = "x".repeat(100_000);
      const error = await assertRejects(
        () => audit.append("action.refused", { filler }),
        ServiceError,
      );
      assertEquals((error as ServiceError).code, "audit_unavailable");
      // What fits goes on from the last whole record.
      await audit.append("action.refused", { index: 1 });
      await audit.close();
      const finding = await verifyAudit({ dir: `${root}/audit` });
      assertEquals(finding.ok && finding.records, 4);
    } finally {
      disk[Symbol.dispose]();
      await Deno.remove(root, { recursive: true });
    }
  },
});

Deno.test("G15 append() rejects once the file was removed under it", async () => {
  await withAudit(async (setup) => {
    const audit = await setup.open();
    await audit.append("action.refused", { index: 1 });
    await Deno.remove(setup.path);
    const error = await assertRejects(
      () => audit.append("action.refused", { index: 2 }),
      ServiceError,
    );
    assertEquals(error.code, "audit_unavailable");
    assertStringIncludes(error.message, "removed");
    await audit.close();
  });
});

Deno.test("openAudit() says in the record that an earlier one is gone, and at a first start says nothing", async () => {
  await withAudit(async (setup) => {
    const [first] = await write(setup, 1);
    assert(!first!.includes("log.gone"));
    await Deno.remove(setup.path);
    const audit = await setup.open();
    await audit.close();
    const kinds = (await lines(setup.path)).map((line) => JSON.parse(line).kind);
    assertEquals(kinds, ["log.open", "log.gone", "log.checkpoint"]);
  });
});
