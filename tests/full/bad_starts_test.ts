/**
 * What a start says that can't be: one sentence and a way out, and nothing of the home is overwritten. Lost and
 * damaged databases are in lost_database_test.ts, disks that fill up later in full_disk_test.ts.
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { makeHome, programArgs, type TestHome } from "../support/home.ts";
import { fillDisk, mountNeeds, mountSmallDisk } from "../support/mounts.ts";
import { needs, programPath } from "../support/needs.ts";

const GATEWAY = ["gateway", "--json"];

/** A home in which something was said, and a token issued. */
async function makeUsedHome(): Promise<TestHome> {
  const home = await makeHome({});
  const { code, stderr } = await home.run(["agent", "-m", "hi", "--no-stdin"]);
  assertEquals(code, 0, stderr);
  await home.run(["tokens", "issue", "--scopes", "approve"]);
  return home;
}

/** Digests of the home's files, but for what a start writes before it looks. */
async function filesOf(dir: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const folder of ["data", "audit", "operator"]) {
    for (const { name, isFile } of Deno.readDirSync(`${dir}/${folder}`)) {
      if (!isFile || /-(wal|shm)$|^lock$/.test(name)) continue;
      const bytes = await Deno.readFile(`${dir}/${folder}/${name}`);
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
      found[`${folder}/${name}`] = digest.toHex();
    }
  }
  return found;
}

const DAMAGES: Record<string, [damage: (dir: string) => Promise<void> | void, words: RegExp]> = {
  "a database of a newer program": [
    (dir) => {
      using db = new DatabaseSync(`${dir}/data/service.db`);
      db.exec("PRAGMA user_version = 99");
    },
    /service\.db": it has version 99, written by a newer program[^]*Use the version of service that wrote it/,
  ],
  "a file that is no database": [
    (dir) => Deno.writeTextFile(`${dir}/data/service.db`, "notes"),
    /service\.db": it is not a SQLite database[^]*service doctor/,
  ],
  "a database of another program": [
    async (dir) => {
      await Deno.remove(`${dir}/data/service.db`);
      using db = new DatabaseSync(`${dir}/data/service.db`);
      db.exec("CREATE TABLE theirs (a)");
    },
    /it is the database of another program[^]*service doctor/,
  ],
  "an audit log of a newer program": [
    async (dir) => {
      const path = `${dir}/audit/audit.jsonl`;
      const lines = (await Deno.readTextFile(path)).trimEnd().split("\n");
      const last = { ...JSON.parse(lines.pop()!), v: 2 };
      await Deno.writeTextFile(path, [...lines, JSON.stringify(last), ""].join("\n"));
    },
    /audit\.jsonl": a newer program wrote its last records\. Use that program/,
  ],
  "an audit log that was changed": [
    async (dir) => {
      const path = `${dir}/audit/audit.jsonl`;
      const text = await Deno.readTextFile(path);
      await Deno.writeTextFile(path, text.replace(/"ts":\d+(?=[^]*$)/g, '"ts":7'));
    },
    /audit\.jsonl": a record near its end was changed[^]*service doctor/,
  ],
};

for (const [what, [damage, words]] of Object.entries(DAMAGES)) {
  Deno.test(`a start refuses ${what}, says what to do, and overwrites nothing`, async () => {
    await using home = await makeUsedHome();
    const dir = `${home.dir}/home`;
    await damage(dir);
    const before = await filesOf(dir);
    const { code, stderr } = await home.run(["gateway"]);
    assertEquals(code, 1);
    assertMatch(stderr, words);
    assert(!stderr.includes("    at "), stderr);
    assertEquals(await filesOf(dir), before);
  });
}

Deno.test("a start goes on beside a token file of a newer program, and says whose it is", async () => {
  await using home = await makeUsedHome();
  const path = `${home.dir}/home/operator/tokens.json`;
  const text = (await Deno.readTextFile(path)).replace('{"v":1,', '{"v":2,');
  await Deno.writeTextFile(path, text);
  await using gateway = await home.start(GATEWAY);
  await gateway.stop();
  assertStringIncludes(gateway.log(), "Use the version of this program that wrote it");
  const { code, stderr } = await home.run(["tokens", "issue", "--scopes", "approve"]);
  assertEquals(code, 5, stderr);
  assertStringIncludes(stderr, "Use the version of this program that wrote it");
  assertEquals(await Deno.readTextFile(path), text);
});

Deno.test("a start names the port that is in use, and the setting that names it", async () => {
  await using home = await makeHome();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  await home.configure({ channels: { websocket: { port } } });
  const { code, stderr } = await home.run(["gateway"]);
  assertEquals(code, 3);
  assertMatch(
    stderr,
    new RegExp(`error: .*127\\.0\\.0\\.1:${port}: the port is in use.*channels\\.websocket\\.port`),
  );
});

Deno.test("a start says that the clock is behind what the home wrote last", async () => {
  await using home = await makeUsedHome();
  const later = new Date(Date.now() + 3 * 3_600_000);
  await Deno.utime(`${home.dir}/home/data/service.db`, later, later);
  await using gateway = await home.start(GATEWAY);
  await gateway.stop();
  assertMatch(gateway.log(), /The clock is wrong: the clock is 3 h behind.*Set the clock/);
});

const isRoot = Deno.uid() === 0;

Deno.test({
  ...needs(
    "a start names the folder of the home that this user can't use",
    "Unix",
    isRoot && "setpriv",
  ),
  async fn() {
    await using home = await makeUsedHome();
    // Root without the right to pass over the rights of files.
    const prefix = isRoot
      ? [programPath("setpriv"), "--bounding-set", "-dac_override,-dac_read_search"]
      : [];
    const [command, ...args] = [...prefix, Deno.execPath(), ...programArgs(), "gateway"];
    for (const folder of ["keys", "data", "audit", "run"]) {
      const path = `${home.dir}/home/${folder}`;
      await Deno.chmod(path, 0);
      const { code, stderr } = await new Deno.Command(command!, {
        args,
        env: { SERVICE_HOME: `${home.dir}/home`, NO_COLOR: "1" },
      }).output().finally(() => Deno.chmod(path, 0o700));
      const text = new TextDecoder().decode(stderr);
      assertEquals(code, 3, text);
      assertMatch(text, /error: Cannot use the home ".*" \(SERVICE_HOME\): Permission denied/);
      assert(!text.includes("Unexpected error"), text);
    }
  },
});

Deno.test(
  needs(
    "a start on a full disk says so, and service start that it could write no log",
    ...mountNeeds(),
  ),
  async () => {
    await using home = await makeHome();
    await Deno.mkdir(`${home.dir}/disk`);
    using _disk = mountSmallDisk(`${home.dir}/disk`, "1m");
    using _full = fillDisk(`${home.dir}/disk`, 24_576);
    const env = { SERVICE_HOME: `${home.dir}/disk/home` };
    const { code, stderr } = await home.run(["gateway"], { env });
    assertEquals(code, 1);
    assertMatch(stderr, /No space left on device[^]*service doctor/);
    // How much of the rest that start has taken depends on how far it came.
    using _rest = fillDisk(`${home.dir}/disk`, 0);
    const started = await home.run(["start"], { env });
    assertEquals(started.code, 1);
    assertStringIncludes(started.stderr, "It wrote nothing there");
  },
);

Deno.test("a restore refuses a backup that is half written, and leaves the home as it was", async () => {
  await using home = await makeUsedHome();
  const file = `${home.dir}/a.tar.gz`;
  assertEquals((await home.run(["backup", file])).code, 0);
  const bytes = await Deno.readFile(file);
  const before = await filesOf(`${home.dir}/home`);
  for (const part of [0, 100, bytes.length / 2, bytes.length - 1]) {
    await Deno.writeFile(file, bytes.subarray(0, part));
    const { code, stderr } = await home.run(["restore", file, "--force"]);
    assertEquals(code, 1);
    assertMatch(stderr, /error: Cannot use the backup: /);
  }
  assertEquals(await filesOf(`${home.dir}/home`), before);
  assertEquals([...Deno.readDirSync(home.dir)].map(({ name }) => name).sort(), [
    "a.tar.gz",
    "home",
  ]);
});
