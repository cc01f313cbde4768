import { assertEquals, assertRejects } from "@std/assert";
import { packArchive } from "../../lib/backup/testing/packed_archive.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { tempHome } from "../../lib/config/testing/temp_home.ts";
import { openJournal } from "../../lib/journal/open.ts";
import { begin } from "../../lib/journal/testing/steps.ts";
import { parseCommand, parseHead } from "../parse.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { VERSION } from "../version.ts";
import backup, { runBackup } from "./backup.ts";
import restore, { runRestore } from "./restore.ts";

/** A home whose configuration is named, and commands that run on it. */
async function setUp() {
  const home = await tempHome({}, "elsewhere.json");
  const now = () => Date.UTC(2030, 0, 1);
  const env = () => undefined;
  return {
    ...home,
    now,
    async restore(...args: string[]) {
      const { out, stdout, stderr } = memoryOutput();
      const parsed = parseCommand("restore", restore, parseHead(["restore", ...args]));
      const exit = await runRestore({ ...parsed, out }, { paths: home.paths, env, now });
      return { exit, stdout: stdout.text, stderr: stderr.text };
    },
    async backup(...args: string[]) {
      const { out, stdout, stderr } = memoryOutput();
      const parsed = parseCommand("backup", backup, parseHead(["backup", ...args]));
      const exit = await runBackup({ ...parsed, out }, {
        paths: home.paths,
        env: (name) => name === "SERVICE_SECRETS_KEY" ? "a key" : undefined,
        cwd: () => home.root,
        stdout: { writable: new WritableStream(), isTerminal: () => true },
        now,
      });
      return { exit, stdout: stdout.text, stderr: stderr.text };
    },
  };
}

Deno.test("restore says what was restored, what isn't done again, and what to look at", async () => {
  await using home = await setUp();
  const { root, paths } = home;
  await Deno.mkdir(paths.dataDir);
  const journal = openJournal({ path: paths.database, now: home.now });
  await begin(journal, "a");
  await begin(journal, "b", { sessionKey: "test:b" });
  await home.backup("a.tar.gz");
  await journal.close();

  const plan = await home.restore(`${root}/a.tar.gz`, "--force", "--dry-run");
  const oldHome = `${paths.home}.before-restore-20300101T000000Z`;
  assertEquals(plan.stdout.split("\n")[1], `Would move the old home to ${oldHome}`);
  const { stdout, stderr } = await home.restore(`${root}/a.tar.gz`, "--force");
  assertEquals(
    stdout.replace(/\d+\.\d kB/, "N kB"),
    [
      `Restored to ${paths.home}: 1 file, N kB, made 2030-01-01T00:00:00Z by service ${VERSION}`,
      `The old home is ${oldHome}\n`,
    ].join("\n"),
  );
  assertEquals(
    stderr,
    [
      "2 unfinished turns: interrupted",
      "Tokens, grants and blocks are as they were then. Check: service tokens list, service grants list",
      "Set SERVICE_SECRETS_KEY as it was: the secrets are encrypted with it",
      `The configuration is ${paths.home}/config.json, but --config names another\n`,
    ].join("\n"),
  );
});

Deno.test("restore --verify looks at the archive alone", async () => {
  await using home = await setUp();
  const archive = `${home.root}/a.tar.gz`;
  await Deno.writeFile(archive, await packArchive({ entries: [{ path: "home/a" }] }));
  await Deno.writeTextFile(`${home.paths.home}/old`, "mine");
  const { exit, stdout } = await home.restore(archive, "--verify");
  assertEquals([exit, stdout], [
    0,
    "The backup is whole: 1 file, 0 B, made 2026-01-02T03:04:05Z by service 0.1.0\n",
  ]);
  await Deno.writeFile(archive, await packArchive({ entries: [{ path: "../a" }] }));
  const { code } = await assertRejects(() => home.restore(archive, "--verify"), ServiceError);
  assertEquals(code, "invalid_request");
});

Deno.test("backup says where it is and what it holds, and writes to no terminal", async () => {
  await using home = await setUp();
  await home.write({});
  const { exit, stdout, stderr } = await home.backup();
  assertEquals([exit, stdout.replace(/\(.*\)/, "(…)"), stderr], [
    0,
    `${home.root}/service-backup-20300101T000000Z.tar.gz  (…)\n`,
    "The backup holds keys and tokens. Keep it as safe as the service itself\n" +
    "Keep SERVICE_SECRETS_KEY too: the backup doesn't hold it\n",
  ]);
  const { code } = await assertRejects(() => home.backup("-"), ServiceError);
  assertEquals(code, "usage");
});
