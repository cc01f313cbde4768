import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { tempHome } from "../config/testing/temp_home.ts";
import { ServiceError } from "../base/errors.ts";
import { acquireHome } from "../authority/home_lock.ts";
import { BACKUP_FORMAT, HEAD_ENTRY, MANIFEST_ENTRY } from "./manifest.ts";
import { openArchive, readArchive } from "./read_archive.ts";
import { restoreHome, type RestoreOptions } from "./restore_home.ts";
import { tarHeader } from "./tar.ts";
import { gzip, packArchive, type PackedArchive } from "./testing/packed_archive.ts";

const CONFIG = { path: "home/config.json", content: "{}" };

/** A home that is empty, and a place for archives. */
async function setUp() {
  const temp = await tempHome();
  const { root, paths } = temp;
  const archive = `${root}/backup.tar.gz`;
  return {
    ...temp,
    archive,
    restore: (options: Partial<RestoreOptions> = {}) =>
      restoreHome({ archive, paths, force: false, dryRun: false, ...options }),
    put: async (packed: PackedArchive) => Deno.writeFile(archive, await packArchive(packed)),
    namesIn: (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort(),
  };
}

async function refuses(work: Promise<unknown>, code: string): Promise<string> {
  const error = await assertRejects(() => work, ServiceError);
  assertEquals(error.code, code, error.message);
  return error.message;
}

const NASTY: Record<string, [PackedArchive, message: string]> = {
  "a newer format": [{ both: { format: BACKUP_FORMAT + 1 } }, "Update service first"],
  "a format that isn't a number": [{ both: { format: "1" } }, `"${HEAD_ENTRY}" isn't valid`],
  "another first entry": [{ without: HEAD_ENTRY, entries: [CONFIG] }, "wasn't made with"],
  "no manifest": [{ without: MANIFEST_ENTRY, entries: [CONFIG] }, "its manifest is missing"],
  "a manifest that goes on": [{ behindManifest: " " }, "what its manifest says"],
  "a head that contradicts the manifest": [{ head: { version: "9.9.9" } }, '"backup.json"'],
  "an entry behind the manifest": [{ after: [CONFIG] }, "follows its manifest"],
  "a file that the manifest lacks": [
    { entries: [CONFIG], manifestFiles: [] },
    "what its manifest says",
  ],
  "a file that only the manifest has": [
    { manifestFiles: [{ path: "home/a", size: 0, sha256: "0".repeat(64) }] },
    "what its manifest says",
  ],
  "another content than the manifest says": [{
    entries: [CONFIG],
    manifestFiles: [{ path: CONFIG.path, size: 2, sha256: "0".repeat(64) }],
  }, "what its manifest says"],
  "a path that leads out": [{ entries: [{ path: "home/../../evil" }] }, "plain relative path"],
  "an absolute path": [{ entries: [{ path: "/etc/evil" }] }, "plain relative path"],
  "a path with a dot": [{ entries: [{ path: "home/./a" }] }, "plain relative path"],
  "a path with a long name that leads out": [
    { entries: [{ path: `home/${"../".repeat(60)}evil` }] },
    "plain relative path",
  ],
  "a path of another folder": [{ entries: [{ path: "elsewhere/a" }] }, "isn't part of a backup"],
  "a folder alone": [{ entries: [{ path: "home" }] }, "isn't part of a backup"],
  "the lock of a service": [{ entries: [{ path: "home/run/lock" }] }, "isn't part of a backup"],
  "a path without an end": [{ entries: [{ path: `home/${"a".repeat(5_000)}` }] }, "is too long"],
  "a file twice": [{ entries: [CONFIG, CONFIG] }, "is there twice"],
  "a file that is a folder too": [
    { entries: [{ path: "home/a" }, { path: "home/a/b" }] },
    "is there twice",
  ],
  "a folder that is a file too": [
    { entries: [{ path: "home/a/b" }, { path: "home/a" }] },
    "is there twice",
  ],
  "a symbolic link": [
    { entries: [{ path: "home/a", header: linkHeader("home/a") }] },
    "is a symbolic link",
  ],
  "more bytes than there are": [
    { entries: [{ path: "home/big", size: 1024 ** 4 }] },
    "it ends too early",
  ],
};

function linkHeader(path: string): Uint8Array {
  const block = tarHeader({ path, size: 0, mode: 0o600, mtime: 0, isFolder: false });
  // "2" instead of "0"; the checksum's last digit grows by two.
  block[156] = 0x32;
  const text = new TextDecoder().decode(block.subarray(148, 154));
  const sum = (Number.parseInt(text, 8) + 2).toString(8).padStart(6, "0");
  block.set(new TextEncoder().encode(sum), 148);
  return block;
}

for (const [what, [packed, message]] of Object.entries(NASTY)) {
  Deno.test(`restoreHome() refuses an archive with ${what}, and writes nothing`, async () => {
    await using home = await setUp();
    await home.put(packed);
    assertStringIncludes(await refuses(home.restore(), "invalid_request"), message);
    assertEquals(home.namesIn(home.root), ["backup.tar.gz", "home"]);
    assertEquals(home.namesIn(home.paths.home), []);
  });
}

Deno.test("restoreHome() refuses what was cut off at any place or isn't a backup", async () => {
  await using home = await setUp();
  const whole = await packArchive({ entries: [CONFIG, { path: "home/data/a", content: "hello" }] });
  const variants = [
    new Uint8Array(),
    new TextEncoder().encode("not a backup"),
    new Uint8Array([...whole, 0]),
    new Uint8Array([...whole, ...whole]),
    await gzip(new Blob(["not a backup"])),
    await gzip(new Blob([new Uint8Array(4_096)])),
  ];
  for (let at = 1; at < whole.length; at += 7) variants.push(whole.slice(0, at));
  for (const bytes of variants) {
    await Deno.writeFile(home.archive, bytes);
    await refuses(home.restore(), "invalid_request");
  }
  await Deno.remove(home.archive);
  await refuses(home.restore(), "not_found");
  await refuses(home.restore({ archive: home.root }), "invalid_request");
  assertEquals(home.namesIn(home.root), ["home"]);
});

Deno.test("readArchive() accepts a changed byte only where it changes no file", async () => {
  await using home = await setUp();
  const whole = await packArchive({ entries: [CONFIG, { path: "home/data/a", content: "hello" }] });
  const check = async (bytes: Uint8Array) => {
    await Deno.writeFile(home.archive, bytes);
    using file = await openArchive(home.archive);
    return await readArchive(file);
  };
  const expected = await check(whole);
  let accepted = 0;
  for (let at = 0; at < whole.length; at += 3) {
    try {
      assertEquals(await check(whole.with(at, whole[at]! ^ 1)), expected);
      accepted++;
    } catch (error) {
      assertEquals((error as ServiceError).code, "invalid_request");
    }
  }
  // Fields of the gzip header, and other ways to write a run of zeros.
  assert(accepted < 50, `${accepted}`);
});

Deno.test("restoreHome() leaves a home that isn't empty, and with force moves it aside", async () => {
  await using home = await setUp();
  const now = () => Date.UTC(2030, 0, 1);
  await home.put({ entries: [CONFIG, { path: "workspace/.git/refs", isFolder: true }] });
  await Deno.writeTextFile(`${home.paths.home}/old`, "mine");
  const message = await refuses(home.restore(), "conflict");
  assertStringIncludes(message, "--force");
  assertEquals(home.namesIn(home.paths.home), ["old"]);

  const oldHome = `${home.paths.home}.before-restore-20300101T000000Z`;
  const plan = await home.restore({ force: true, dryRun: true, now });
  assertEquals([plan.oldHome, plan.files, plan.hasWorkspace], [oldHome, 1, true]);
  assert(home.namesIn(home.paths.home).includes("old"));

  const restored = await home.restore({ force: true, now });
  assertEquals(restored.oldHome, oldHome);
  assertEquals(await Deno.readTextFile(`${oldHome}/old`), "mine");
  assertEquals(home.namesIn(home.paths.home), ["config.json", "run", "workspace"]);
  assert((await Deno.stat(`${home.paths.home}/workspace/.git/refs`)).isDirectory);
  assertEquals((await Deno.stat(home.paths.configFile)).mode! & 0o777, 0o600);
  assertEquals((await Deno.stat(home.paths.home)).mode! & 0o777, 0o700);
});

Deno.test("restoreHome() refuses a home in which a service runs, with force too", async () => {
  await using home = await setUp();
  await home.put({ entries: [CONFIG] });
  const lock = await acquireHome(home.paths);
  assert("release" in lock);
  for (const force of [false, true]) {
    assertStringIncludes(await refuses(home.restore({ force }), "home_busy"), `${Deno.pid}`);
  }
  lock.release();
  await home.restore({ force: true });
});

Deno.test("restoreHome() follows a home that is a link, and removes what a killed restore left", async () => {
  await using home = await setUp();
  await home.put({ entries: [CONFIG] });
  const real = `${home.root}/real`;
  await Deno.mkdir(`${real}.restore-0123abcd/data`, { recursive: true });
  await Deno.remove(home.paths.home);
  await Deno.symlink(real, home.paths.home);
  await Deno.mkdir(real);
  const { home: restored } = await home.restore();
  assertEquals(restored, real);
  assertEquals(home.namesIn(home.root), ["backup.tar.gz", "home", "real"]);
  assertEquals(await Deno.readTextFile(home.paths.configFile), "{}");
});
