import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { storedBackups } from "./stored_backups.ts";
import { packArchive } from "./testing/packed_archive.ts";

async function setUp() {
  const root = await Deno.makeTempDir();
  const [folder, data] = [`${root}/backups`, `${root}/data`];
  await Deno.mkdir(folder);
  await Deno.mkdir(data);
  const state = { folder };
  return {
    folder,
    data,
    state,
    store: storedBackups({ folder: () => state.folder, dataDir: data }),
    /** A backup made on that day of 2030. */
    async backup(
      day: number,
      name = `service-backup-203001${String(day).padStart(2, "0")}T000000Z`,
    ) {
      const createdAt = new Date(Date.UTC(2030, 0, day)).toISOString();
      await Deno.writeFile(`${folder}/${name}.tar.gz`, await packArchive({ both: { createdAt } }));
    },
    names: (dir: string) => [...Deno.readDirSync(dir)].map(({ name }) => name).sort(),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

Deno.test("storedBackups() lists backups by the time in them, and never the newest or what only has such a name", async () => {
  await using home = await setUp();
  for (const day of [9, 3, 6]) await home.backup(day);
  await home.backup(1, "mine");
  await Deno.writeTextFile(`${home.folder}/service-backup-20290101T000000Z.tar.gz`, "notes");
  await Deno.writeTextFile(
    `${home.folder}/service-backup-20290102T000000Z.tar.gz.1a2b3c4d.tmp`,
    "",
  );
  await Deno.symlink("/etc/passwd", `${home.folder}/service-backup-20290103T000000Z.tar.gz`);
  const { items } = await home.store.page();
  assertEquals(items.map(({ at }) => new Date(at).getUTCDate()), [3, 6]);
  assertEquals(items[0]!.name, `${home.folder}/service-backup-20300103T000000Z.tar.gz`);
  assertEquals(items[0]!.bytes, (await Deno.stat(items[0]!.name)).size);
  const before = home.names(home.folder);
  assertEquals(await home.store.remove([items[0]!, { ...items[1]!, at: 5 }]), [items[0]!]);
  assertEquals(home.names(home.folder).length, before.length - 1);
});

Deno.test("storedBackups() lists the copies of migrations, and nothing else beside the database", async () => {
  await using home = await setUp();
  for (const name of ["service.db", "service.db-wal", "service.db.v7.unfinished", "service.db.v"]) {
    await Deno.writeTextFile(`${home.data}/${name}`, "x");
  }
  const day = (n: number) => new Date(Date.UTC(2030, 0, n));
  for (const [version, n] of [[7, 2], [8, 1]] as const) {
    await Deno.writeTextFile(`${home.data}/service.db.v${version}`, "copy");
    await Deno.utime(`${home.data}/service.db.v${version}`, day(n), day(n));
  }
  home.state.folder = "";
  await Deno.mkdir(`${home.data}/channels/irc`, { recursive: true });
  await Deno.writeTextFile(`${home.data}/channels/irc/intake.sqlite`, "x");
  await Deno.writeTextFile(`${home.data}/channels/irc/intake.sqlite.v0`, "old");
  const { items } = await home.store.page();
  assertEquals(items.map(({ name }) => name), [
    // Made now, and that is before the others.
    `${home.data}/channels/irc/intake.sqlite.v0`,
    `${home.data}/service.db.v8`,
    `${home.data}/service.db.v7`,
  ]);
  assertEquals(await home.store.usedBytes(), 11);
  assertEquals(await home.store.remove(items), items);
  assertEquals(home.names(home.data).length, 5);
  assertEquals(home.names(`${home.data}/channels/irc`), ["intake.sqlite"]);
});

Deno.test("storedBackups() names a folder that isn't there", async () => {
  await using home = await setUp();
  home.state.folder = `${home.folder}/unmounted`;
  const error = await assertRejects(() => home.store.page(), ServiceError);
  assertEquals(error.message.startsWith(`Cannot list "${home.folder}/unmounted": `), true);
});
