import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { fillDisk, mountNeeds, mountSmallDisk } from "../../tests/support/mounts.ts";
import { needs } from "../../tests/support/needs.ts";
import { CHECKSUMS, SIGNATURE } from "./checksums.ts";
import { releaseSource } from "./release_source.ts";
import {
  newKey,
  programName,
  programText,
  serveRelease,
  writeRelease,
} from "./testing/release_folder.ts";
import { findRelease, goBackToPrevious, installRelease } from "./upgrade.ts";

const { os, arch } = Deno.build;
const PLATFORM = { os, arch, isCompiled: false };
const NEXT = programName("0.2.0");
const CHANGELOG = `# Changelog

## 0.3.0

- Not yet.

## 0.2.0 - 2030-01-01

- New.

## 0.1.0

- Old.
`;

/** A program 0.1.0 in a folder, and a release 0.2.0 behind a URL. */
async function makeWorld() {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "an upgrade " }));
  const key = newKey();
  const program = `${dir}/bin/service`;
  const folder = `${dir}/release`;
  await Deno.mkdir(`${dir}/bin`);
  await Deno.writeTextFile(program, programText("0.1.0"), { mode: 0o755 });
  await writeRelease(folder, { [NEXT]: programText("0.2.0"), "CHANGELOG.md": CHANGELOG }, key);
  const server = serveRelease(folder);
  const signal = new AbortController().signal;
  return {
    dir,
    key,
    program,
    folder,
    server,
    /** What is in the folder of the program: name and first words of each. */
    async files() {
      const names = await Array.fromAsync(Deno.readDir(`${dir}/bin`), ({ name }) => name);
      return names.toSorted();
    },
    version: async () => /# service (\S+)/.exec(await Deno.readTextFile(program))![1],
    async find(from: string = server.url, publicKey: string | null = key.publicKey) {
      const source = await releaseSource(from, dir);
      const options = {
        version: "0.1.0",
        platform: PLATFORM,
        publicKey: publicKey ?? undefined,
        signal,
      };
      return { source, release: await findRelease(source, options) };
    },
    async upgrade(beforeReplace: () => Promise<void> = () => Promise.resolve()) {
      const { source, release } = await this.find();
      const progress: number[] = [];
      await installRelease(source, release, {
        program,
        signal,
        onProgress: (bytes) => progress.push(bytes),
        beforeReplace,
      });
      return progress;
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

type World = Awaited<ReturnType<typeof makeWorld>>;

/** Fails with these words, and leaves the program and its folder as they were. */
async function refuses(world: World, words: string, what: () => Promise<unknown>): Promise<void> {
  const error = await assertRejects(what, ServiceError);
  assertStringIncludes(error.message, words);
  assertEquals([await world.version(), await world.files()], ["0.1.0", ["service"]]);
}

Deno.test({
  ...needs("upgrade replaces the program by a verified release, and goes back and forth", "sh"),
  async fn() {
    await using world = await makeWorld();
    await Deno.chmod(world.program, 0o750);
    const { release } = await world.find();
    assertEquals([release.file.version, release.isSigned], ["0.2.0", true]);
    assertEquals(release.changes, ["## 0.2.0 - 2030-01-01", "", "- New."]);
    const progress = await world.upgrade();
    assertEquals(progress.at(-1), programText("0.2.0").length);
    assertEquals(await world.files(), [".service.previous", "service"]);
    assertEquals(await world.version(), "0.2.0");
    assertEquals((await Deno.stat(world.program)).mode! & 0o777, 0o750);
    assertEquals((await goBackToPrevious(world.program)).version, "0.1.0");
    assertEquals(await world.version(), "0.1.0");
    assertEquals((await goBackToPrevious(world.program)).version, "0.2.0");
    assertEquals(await world.version(), "0.2.0");
    assertEquals(await world.files(), [".service.previous", "service"]);
  },
});

Deno.test({
  ...needs("upgrade takes nothing that isn't what the makers of this program signed", "sh"),
  async fn() {
    await using world = await makeWorld();
    const { server, folder } = world;
    server.instead.set(NEXT, () => new Response(programText("0.2.0") + "rm -rf /\n"));
    await refuses(world, `The checksum of ${NEXT} is wrong`, () => world.upgrade());
    server.instead.clear();

    // A list for the changed file, signed by somebody else.
    await writeRelease(folder, { [NEXT]: programText("0.2.0") + "\n" }, newKey());
    await refuses(world, "The signature of SHA256SUMS is wrong", () => world.upgrade());
    await Deno.remove(`${folder}/${SIGNATURE}`);
    await refuses(world, `There is no ${SIGNATURE} in ${server.url}`, () => world.upgrade());
    await refuses(
      world,
      "This program has no key to verify a download with",
      () => world.find(server.url, null),
    );
  },
});

Deno.test({
  ...needs("upgrade says what is wrong with a release, and changes nothing", "sh"),
  async fn() {
    await using world = await makeWorld();
    const { server, folder, key } = world;
    server.instead.set(NEXT, () => cutOff(programText("0.2.0")));
    await refuses(world, `The download of ${NEXT} was cut off`, () => world.upgrade());
    server.instead.set(NEXT, () => new Response(null, { status: 404 }));
    await refuses(world, `There is no ${NEXT} in ${server.url}`, () => world.upgrade());
    server.instead.set(NEXT, () => new Response(null, { status: 503 }));
    await refuses(world, "the server answered 503", () => world.upgrade());
    server.instead.clear();
    server.instead.set(CHECKSUMS, () => new Response("<html>"));
    await refuses(world, "The signature of SHA256SUMS is wrong", () => world.upgrade());
    server.instead.clear();

    await writeRelease(
      folder,
      { [NEXT]: "#!/bin/sh\necho 'error: needs glibc' >&2; exit 1\n" },
      key,
    );
    await refuses(
      world,
      "service 0.2.0 doesn't start on this machine: needs glibc. Nothing was changed",
      () => world.upgrade(),
    );
    await writeRelease(folder, { [NEXT]: programText("0.3.0") }, key);
    await refuses(world, "service 0.2.0 doesn't start on this machine", () => world.upgrade());
    await writeRelease(folder, { [NEXT]: "MZ not for here" }, key);
    await refuses(world, "service 0.2.0 doesn't start on this machine", () => world.upgrade());
    await Deno.remove(`${folder}/${NEXT}`);
    await writeRelease(folder, { "service-0.2.0-linux-riscv": "" }, key);
    await refuses(world, "That release has no file for", () => world.upgrade());
    await refuses(world, "There is no previous version", () => goBackToPrevious(world.program));
    await assertRejects(() => world.find("http://127.0.0.1:1"), ServiceError, "Can't read http:");
  },
});

/** An answer that says how long it is and ends before. */
function cutOff(text: string): Response {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.subarray(0, bytes.length / 2));
      controller.error(new Error("gone"));
    },
  });
  return new Response(body, { headers: { "content-length": String(bytes.length) } });
}

Deno.test({
  ...needs("upgrade takes a file of a folder, with or without a key", "sh"),
  async fn() {
    await using world = await makeWorld();
    const { folder, key, dir } = world;
    const byFile = await world.find(`release/${NEXT}`);
    assertEquals(byFile.release.file.name, NEXT);
    const unsigned = await world.find(folder, null);
    assertEquals([unsigned.release.file.name, unsigned.release.isSigned], [NEXT, false]);
    await Deno.writeTextFile(`${folder}/service-0.2.0-linux-mips`, "");
    await refuses(
      world,
      "doesn't list service-0.2.0-linux-mips",
      () => world.find("release/service-0.2.0-linux-mips"),
    );
    await writeRelease(folder, { "notes.txt": "" }, key);
    await refuses(world, "notes.txt isn't for this machine", () => world.find("release/notes.txt"));
    await refuses(world, `There is no file or folder ${dir}/none`, () => world.find("none"));
  },
});

Deno.test({
  ...needs("of two upgrades at once one is refused", "sh"),
  async fn() {
    await using world = await makeWorld();
    const isHere = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const first = world.upgrade(async () => {
      isHere.resolve();
      await goOn.promise;
    });
    await isHere.promise;
    const error = await assertRejects(() => world.upgrade(), ServiceError);
    assertEquals(error.message, "Another upgrade is running. Nothing was changed");
    goOn.resolve();
    await first;
    assertEquals(await world.version(), "0.2.0");
  },
});

Deno.test({
  ...needs("an upgrade that is killed leaves the program, and the next one works", "sh"),
  async fn() {
    await using world = await makeWorld();
    const half = Promise.withResolvers<void>();
    world.server.instead.set(NEXT, () => {
      const bytes = new TextEncoder().encode(programText("0.2.0"));
      const body = new ReadableStream({
        pull(controller) {
          controller.enqueue(bytes.subarray(0, 10));
          half.resolve();
          return new Promise<void>(() => {});
        },
      }, { highWaterMark: 0 });
      return new Response(body, { headers: { "content-length": String(bytes.length) } });
    });
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-q", "-A", "--cached-only", "--lock=deno.lock", "--frozen"],
        ...["cli/upgrade/testing/run_upgrade.ts", world.server.url, world.program],
        world.key.publicKey,
      ],
      cwd: new URL("../../", import.meta.url),
    }).spawn();
    await half.promise;
    child.kill("SIGKILL");
    await child.status;
    assertEquals(await world.version(), "0.1.0");
    world.server.instead.clear();
    await world.upgrade();
    assertEquals([await world.version(), await world.files()], ["0.2.0", [
      ".service.previous",
      "service",
    ]]);
  },
});

Deno.test({
  ...needs("upgrade on a full disk changes nothing", "sh", ...mountNeeds()),
  async fn() {
    await using world = await makeWorld();
    const { program, key, folder, dir } = world;
    await writeRelease(folder, { [NEXT]: programText("0.2.0") + "#".repeat(100_000) }, key);
    using _disk = mountSmallDisk(`${dir}/bin`);
    await Deno.writeTextFile(program, programText("0.1.0"), { mode: 0o755 });
    using _full = fillDisk(`${dir}/bin`, 4_096);
    const error = await assertRejects(() => world.upgrade(), ServiceError);
    assertStringIncludes(error.message, `Can't write the new version to ${dir}/bin: No space left`);
    assertStringIncludes(error.message, "It needs 100.2 kB there. Nothing was changed");
    assertEquals(await world.version(), "0.1.0");
    assert(!(await world.files()).includes(".service.next"));
  },
});

Deno.test("upgrade says who may write where this user may not", async () => {
  await using world = await makeWorld();
  // A file in the place of the folder is nobody's to write into, root's neither.
  const { source, release } = await world.find();
  const program = `${world.program}/service`;
  const options = {
    program,
    signal: new AbortController().signal,
    onProgress() {},
    beforeReplace: () => Promise.resolve(),
  };
  await refuses(
    world,
    `Can't write to ${world.program}`,
    () => installRelease(source, release, options),
  );
});
