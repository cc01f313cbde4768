import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { judgeAudit } from "../audit/judge.ts";
import { openAudit } from "../audit/log.ts";
import { ServiceError } from "../base/errors.ts";
import { resolvePaths } from "../config/paths.ts";
import { type TempHome, tempHome } from "../config/testing/temp_home.ts";
import { openJournal } from "../journal/open.ts";
import { begin, ending } from "../journal/testing/steps.ts";
import { findStateDamage, openOperatorState } from "../state/operator_state.ts";
import { type BackupOptions, backupToFile } from "./create_backup.ts";
import { restoreHome } from "./restore_home.ts";
import { readTar } from "./tar.ts";

const SILENT = { debug() {}, info() {}, warning() {}, error() {} };

function optionsFor({ paths }: TempHome): BackupOptions & { replace: boolean } {
  return {
    paths,
    version: "0.1.0",
    workspace: paths.workspace,
    withWorkspace: false,
    secretsKeyOutside: false,
    replace: false,
  };
}

/** Backs a home up and restores it elsewhere; the paths of that. */
async function copyThrough(home: TempHome, name: string) {
  const archive = `${home.root}/${name}.tar.gz`;
  await backupToFile(archive, optionsFor(home));
  const env = (key: string) => key === "SERVICE_HOME" ? `${home.root}/${name}` : undefined;
  const paths = resolvePaths({ env, homeDir: home.root });
  return { paths, ...await restoreHome({ archive, paths, force: false, dryRun: false }) };
}

Deno.test("backupToFile() gets a home in one piece while everything in it is written", async () => {
  await using home = await tempHome();
  const { auditDir, keysDir, operatorDir, dataDir, mediaDir, database } = home.paths;
  await Deno.mkdir(mediaDir, { recursive: true });
  // Small files, so that the log begins new ones all the time.
  const audit = await openAudit({ dir: auditDir, keysDir, log: SILENT, rotateBytes: 4_096 });
  const state = await openOperatorState({ dir: operatorDir, keysDir, audit });
  const journal = openJournal({ path: database });
  let isOver = false;
  const repeat = async (step: (count: number) => Promise<unknown>) => {
    for (let count = 0; !isOver; count++) {
      await step(count);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const writing = Promise.all([
    repeat(() => audit.append("policy.loaded", { digest: "x".repeat(200) })),
    repeat(async (count) => {
      const target = `https://example.org/${count % 100}`;
      const { id } = await state.grants.add({
        subject: "cli:a",
        capability: "net.fetch",
        target,
        note: "",
      });
      await state.grants.remove(id);
    }),
    repeat(async (count) => {
      const id = `turn-${count}`;
      await begin(journal, id);
      // Before the journal names it, as the service does.
      await Deno.writeTextFile(`${mediaDir}/${count}`, id);
      await journal.end(id, ending());
    }),
  ]);
  try {
    for (const name of ["a", "b"]) {
      const { paths, auditProblem, settled } = await copyThrough(home, name);
      assertEquals(auditProblem, undefined);
      const judged = { dir: paths.auditDir, keysDir: paths.keysDir, publicKeys: [], mirror: "" };
      const verdict = await judgeAudit({ ...judged, knownLosses: new Set() });
      assert(verdict.ok, verdict.message);
      assertEquals(findStateDamage({ dir: paths.operatorDir, keysDir: paths.keysDir }), []);
      assert(settled!.turns <= 1, `${settled!.turns} open turns`);
      const restored = openJournal({ path: paths.database });
      const done = restored.turns(1, 0, 10_000).filter(({ status }) => status === "done");
      await restored.close();
      for (const { id } of done) {
        const media = `${paths.mediaDir}/${id.slice("turn-".length)}`;
        assertEquals(await Deno.readTextFile(media), id);
      }
    }
  } finally {
    isOver = true;
    await writing;
  }
  await journal.close();
  await state.close();
  await audit.close();
  assertEquals([...Deno.readDirSync(dataDir)].map(({ name }) => name).sort(), [
    "media",
    "service.db",
  ]);
});

Deno.test("backupToFile() keeps torn lines of the audit log, and leaves out what is being written", async () => {
  await using home = await tempHome();
  const { auditDir } = home.paths;
  await Deno.mkdir(auditDir);
  await Deno.writeTextFile(`${auditDir}/torn-1.jsonl`, '{"half');
  await Deno.writeTextFile(`${auditDir}/audit.jsonl`, '{}\n{"ha');
  const { paths, auditProblem } = await copyThrough(home, "a");
  assert(auditProblem !== undefined);
  assertEquals(await Deno.readTextFile(`${paths.auditDir}/torn-1.jsonl`), '{"half');
  assertEquals(await Deno.readTextFile(`${paths.auditDir}/audit.jsonl`), "{}\n");
});

Deno.test("backupToFile() takes snapshots of channels' databases, and their other files", async () => {
  await using home = await tempHome();
  const folder = `${home.paths.dataDir}/channels/irc`;
  await Deno.mkdir(folder, { recursive: true });
  using database = new DatabaseSync(`${folder}/inbox.sqlite`);
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)");
  await Deno.writeTextFile(`${folder}/cursor.json`, "7");
  const { paths } = await copyThrough(home, "a");
  const copy = `${paths.dataDir}/channels/irc`;
  assertEquals([...Deno.readDirSync(copy)].map(({ name }) => name).sort(), [
    "cursor.json",
    "inbox.sqlite",
  ]);
  using restored = new DatabaseSync(`${copy}/inbox.sqlite`);
  assertEquals(restored.prepare("SELECT count(*) AS n FROM t").get()!.n, 2);
});

Deno.test("backupToFile() copies what a channel needs for a message after the journal that names it", async () => {
  await using home = await tempHome();
  const folder = `${home.paths.dataDir}/channels/matrix`;
  await Deno.mkdir(folder, { recursive: true });
  await openJournal({ path: home.paths.database }).close();
  for (const name of ["a.sqlite", "intake.sqlite", "z.sqlite"]) {
    using database = new DatabaseSync(`${folder}/${name}`);
    database.exec("CREATE TABLE t (a)");
  }
  const archive = `${home.root}/a.tar.gz`;
  await backupToFile(archive, optionsFor(home));
  using file = await Deno.open(archive);
  const names: string[] = [];
  const unzipped = file.readable.pipeThrough(new DecompressionStream("gzip"));
  for await (const { path } of readTar(unzipped)) names.push(path.split("/").at(-1)!);
  assertEquals(names.filter((name) => /\.(sqlite|db)$/.test(name)), [
    "intake.sqlite",
    "service.db",
    "a.sqlite",
    "z.sqlite",
  ]);
});

Deno.test("backupToFile() brings a configuration from elsewhere and folders on other disks home", async () => {
  await using home = await tempHome({}, "elsewhere/service.json");
  const { root, paths } = home;
  await Deno.mkdir(`${root}/elsewhere`);
  await Deno.writeTextFile(paths.configFile, "{}");
  await Deno.writeTextFile(`${paths.home}/config.json`, "not used");
  await Deno.writeTextFile(`${root}/elsewhere/policy.test.json`, "[]");
  await Deno.mkdir(`${root}/disk/media`, { recursive: true });
  await Deno.writeTextFile(`${root}/disk/media/a`, "hello");
  await Deno.symlink(`${root}/disk`, paths.dataDir);
  const { paths: restored } = await copyThrough(home, "a");
  assertEquals(await Deno.readTextFile(restored.configFile), "{}");
  assertEquals(await Deno.readTextFile(`${restored.home}/policy.test.json`), "[]");
  assertEquals(await Deno.readTextFile(`${restored.mediaDir}/a`), "hello");
});

Deno.test("backupToFile() of two at once under one name keeps one, and refuses the other", async () => {
  await using home = await tempHome();
  await home.write({});
  const archive = `${home.root}/a.tar.gz`;
  const both = [1, 2].map(() => backupToFile(archive, optionsFor(home)));
  const [refused, ...others] = (await Promise.allSettled(both))
    .filter((result) => result.status === "rejected");
  assertEquals([refused!.reason.code, others], ["conflict", []]);
  const names = [...Deno.readDirSync(home.root)].map(({ name }) => name).sort();
  assertEquals(names, ["a.tar.gz", "home"]);
});

Deno.test("backupToFile() says what stands in its way", async () => {
  await using home = await tempHome();
  const code = async (path: string, change: object = {}) => {
    const options = { ...optionsFor(home), ...change };
    return (await assertRejects(() => backupToFile(path, options), ServiceError)).code;
  };
  assertEquals(await code(`${home.paths.home}/a.tar.gz`), "invalid_request");
  assertEquals(await code(`${home.root}/none/a.tar.gz`), "internal");
  await Deno.symlink("/dev/null", `${home.root}/null`);
  assertEquals(await code(`${home.root}/null`, { replace: true }), "conflict");
  await Deno.remove(`${home.root}/null`);
  const paths = { ...home.paths, home: `${home.root}/none` };
  assertEquals(await code(`${home.root}/a.tar.gz`, { paths }), "not_found");
  await Deno.mkdir(home.paths.dataDir);
  await Deno.writeTextFile(home.paths.database, "SQLite format 3\0 and nothing that fits");
  assertEquals(await code(`${home.root}/a.tar.gz`), "database_unusable");
  assertEquals([...Deno.readDirSync(home.root)].map(({ name }) => name), ["home"]);
});
