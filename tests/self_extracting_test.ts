/** The script of a self-extracting file: what it unpacks, what it refuses, and what it says then. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { FILE_PROGRAMS, makeSmallFile, ownTarget } from "./support/small_file.ts";
import { mountNeeds, mountSmallDisk } from "./support/mounts.ts";
import { type Need, needs, programPath } from "./support/needs.ts";

const TOOLS: Need[] = [
  ...FILE_PROGRAMS,
  { what: "a platform that files are made for", isThere: ownTarget() !== undefined },
];

/** A user that is nobody here. */
const OTHER_UID = 65_534;

/** A user's folder with such a file in it. */
async function makeUser() {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "a user " }));
  const file = `${dir}/service`;
  await makeSmallFile(file);
  const env: Record<string, string> = { HOME: dir, PATH: "/usr/bin:/bin" };
  const command = (args: string[], more: Record<string, string> = {}, without?: string) => {
    const own: Record<string, string> = { ...env, ...more };
    if (without !== undefined) delete own[without];
    return new Deno.Command(file, {
      args,
      cwd: dir,
      clearEnv: true,
      env: own,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  };
  const run = async (...given: Parameters<typeof command>) => {
    const { code, stdout, stderr } = await command(...given).output();
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
  };
  const base = `${dir}/.cache/service`;
  return {
    dir,
    file,
    command,
    run,
    base,
    /** The folder of the program, once it is there. */
    folder: () => `${base}/${[...Deno.readDirSync(base)].find(isProgramFolder)!.name}`,
    /** What lies beside Deno's own cache. */
    left: () =>
      [...Deno.readDirSync(base)].map(({ name }) => name).filter((name) => name !== "deno"),
    [Symbol.asyncDispose]: () => Deno.remove(dir, { recursive: true }),
  };
}

function isProgramFolder({ name }: Deno.DirEntry): boolean {
  return /^[0-9a-f]{16}$/.test(name);
}

const DONE = { code: 0, stdout: '["service","a b","*"]\n', stderr: "" };

Deno.test(
  needs("a self-extracting file unpacks once, and passes its arguments on", ...TOOLS),
  async () => {
    await using user = await makeUser();
    const onPath = { PATH: `${user.dir}:/usr/bin:/bin` };
    assertEquals(await user.run(["a b", "*"], onPath), DONE);
    const { mode } = await Deno.stat(user.base);
    assertEquals(mode! & 0o777, 0o700);
    const [name] = user.left();
    const { ino } = await Deno.stat(user.folder());
    assertEquals(await user.run(["a b", "*"], onPath), DONE);
    assertEquals([user.left(), (await Deno.stat(user.folder())).ino], [[name], ino]);
    // Another cache is another place.
    const elsewhere = { ...onPath, XDG_CACHE_HOME: `${user.dir}/else where` };
    assertEquals(await user.run(["a b", "*"], elsewhere), DONE);
    assert((await Deno.stat(`${user.dir}/else where/service/${name}`)).isDirectory);
  },
);

Deno.test(needs("first runs at once all answer, and leave one folder", ...TOOLS), async () => {
  await using user = await makeUser();
  const runs = await Promise.all(Array.from({ length: 4 }, () => user.run(["x"])));
  for (const { code, stderr } of runs) assertEquals([code, stderr], [0, ""]);
  assertEquals(user.left().length, 1);
});

Deno.test(needs("a file that is cut off or damaged unpacks nothing", ...TOOLS), async () => {
  await using user = await makeUser();
  const whole = await Deno.readFile(user.file);
  await Deno.writeFile(user.file, whole.subarray(0, -1));
  const cut = await user.run([]);
  assertEquals(cut.code, 1);
  assertStringIncludes(cut.stderr, `${whole.length - 1} bytes instead of ${whole.length}`);
  assertStringIncludes(cut.stderr, "Download it again");
  const garbled = whole.slice();
  garbled.fill(0, whole.length - 300, whole.length - 200);
  await Deno.writeFile(user.file, garbled);
  const unreadable = await user.run([]);
  assertMatch(
    unreadable.stderr,
    /^error: Can't unpack .* \((gzip|tar): .*\)\. Download it again, or .*\n$/,
  );
  // The checksum of gzip at its very end, which a pipe of a shell would not tell.
  const damaged = whole.slice();
  damaged[damaged.length - 6]! ^= 1;
  await Deno.writeFile(user.file, damaged);
  const { code, stderr } = await user.run([]);
  assertEquals([code, stderr], [1, `error: ${user.file} is damaged. Download it again\n`]);
  assertEquals(user.left(), []);
});

Deno.test(needs("a start without a place to unpack into says what to set", ...TOOLS), async () => {
  await using user = await makeUser();
  const noHome = await user.run([], {}, "HOME");
  assertEquals(noHome.code, 1);
  assertStringIncludes(noHome.stderr, "HOME is not set. Set it, or XDG_CACHE_HOME");
  const relative = await user.run([], { XDG_CACHE_HOME: "cache" });
  assertStringIncludes(relative.stderr, "Invalid folder for the program: cache");
  const inFile = await user.run([], { XDG_CACHE_HOME: user.file });
  assertEquals(
    [inFile.code, inFile.stderr],
    [
      1,
      `error: Can't make the folder ${user.file}/service. Make it writable, or set XDG_CACHE_HOME ` +
      "to a folder of your own\n",
    ],
  );
});

Deno.test(
  needs(
    "a folder that is a link, or that others can write to, is neither run nor changed",
    ...TOOLS,
  ),
  async () => {
    await using user = await makeUser();
    await user.run([]);
    const folder = user.folder();
    for (const place of [user.base, folder]) {
      await Deno.rename(place, `${user.dir}/moved`);
      await Deno.symlink(`${user.dir}/moved`, place);
      const linked = await user.run([]);
      assertEquals([linked.code, linked.stdout], [1, ""]);
      assertStringIncludes(linked.stderr, `${place} is a link. Remove it, or set XDG_CACHE_HOME`);
      await Deno.remove(place);
      await Deno.rename(`${user.dir}/moved`, place);
      for (const mode of [0o770, 0o707]) {
        await Deno.chmod(place, mode);
        const open = await user.run([]);
        assertEquals([open.code, open.stdout], [1, ""]);
        assertStringIncludes(open.stderr, `Other users can write to ${place}`);
      }
      await Deno.chmod(place, 0o700);
    }
    assertEquals((await user.run([])).code, 0);
    await Deno.remove(folder, { recursive: true });
    await Deno.writeTextFile(folder, "");
    assertStringIncludes((await user.run([])).stderr, `${folder} isn't a folder`);
  },
);

Deno.test(
  needs("a folder of another user is neither run nor changed", "root", ...TOOLS),
  async () => {
    await using user = await makeUser();
    await user.run([]);
    for (const place of [user.folder(), user.base]) {
      await Deno.chown(place, OTHER_UID, OTHER_UID);
      const { code, stdout, stderr } = await user.run([]);
      assertEquals([code, stdout], [1, ""]);
      assertStringIncludes(stderr, `${place} belongs to another user`);
    }
  },
);

Deno.test(
  needs("what changed in the folder is found, and what is gone comes back", ...TOOLS),
  async () => {
    await using user = await makeUser();
    await user.run([]);
    const folder = user.folder();
    const main = `${folder}/cli/main.js`;
    // As a program does that clears caches.
    await Deno.remove(`${folder}/cli`, { recursive: true });
    const back = await user.run(["back"]);
    assertEquals(JSON.parse(back.stdout), [`'${user.file}'`, "back"]);

    const before = await Deno.readTextFile(main);
    await Deno.writeTextFile(main, "console.log('changed')");
    const { code, stdout, stderr } = await user.run([]);
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, `${folder} has changed: cli/main.js isn't as it was unpacked`);
    assertStringIncludes(stderr, `rm -rf '${folder}'`);
    assertEquals(await Deno.readTextFile(main), "console.log('changed')");
    await Deno.writeTextFile(main, before);
    assertEquals((await user.run([])).code, 0);

    // Prepared by somebody who knew the name: it has no mark of its own, or one of the same age.
    await Deno.remove(`${folder}/verified`);
    await Deno.writeTextFile(main, "console.log('prepared')");
    assertStringIncludes((await user.run([])).stderr, "has changed: cli/main.js");
    await Deno.writeTextFile(main, before);
    await Deno.chmod(`${folder}/cli`, 0o777);
    assertStringIncludes((await user.run([])).stderr, "has changed: cli isn't as it was unpacked");
  },
);

Deno.test(
  needs("an unpacking that is killed leaves nothing that is run, and is done again", ...TOOLS),
  async () => {
    await using user = await makeUser();
    // A tar that unpacks, says so, and never ends.
    const bin = `${user.dir}/bin`;
    await Deno.mkdir(bin);
    await Deno.writeTextFile(
      `${bin}/tar`,
      `#!/bin/sh\n'${programPath("tar")}' "$@"\necho here >&3\nread -r _ <&4\n`,
      { mode: 0o755 },
    );
    const slow = (): [Deno.ChildProcess, Promise<unknown>] => {
      const child = new Deno.Command("/bin/sh", {
        args: ["-c", 'exec 3>&1 4<&0; exec "$0"', user.file],
        clearEnv: true,
        env: { HOME: user.dir, PATH: `${bin}:/usr/bin:/bin` },
        stdin: "piped",
        stdout: "piped",
        stderr: "null",
        detached: true,
      }).spawn();
      return [child, child.stdout.getReader().read()];
    };
    const [killed, here] = slow();
    await here;
    Deno.kill(-killed.pid, "SIGKILL");
    await killed.status;
    const [left] = user.left();
    assertMatch(left!, /^\.unpacking-/);
    assertEquals((await user.run([])).code, 0);
    // Another one may be at it: only what is old is removed.
    assertEquals(user.left().length, 2);
    await Deno.utime(`${user.base}/${left}`, 0, 0);
    await Deno.remove(user.folder(), { recursive: true });
    assertEquals((await user.run([])).code, 0);
    assertEquals(user.left().length, 1);

    await Deno.remove(user.folder(), { recursive: true });
    const [asked, hereToo] = slow();
    await hereToo;
    Deno.kill(-asked.pid, "SIGTERM");
    assertEquals((await asked.status).code, 143);
    assertEquals(user.left(), []);
    for (const child of [killed, asked]) await child.stdin.close().catch(() => {});
  },
);

Deno.test(
  needs("a disk that is full, or that programs can't run on, is named", ...mountNeeds(), ...TOOLS),
  async () => {
    await using user = await makeUser();
    const cache = `${user.dir}/disk`;
    await Deno.mkdir(cache);
    {
      using _disk = mountSmallDisk(cache, "8k");
      const { code, stderr } = await user.run([], { XDG_CACHE_HOME: cache });
      assertEquals(code, 1);
      assertMatch(
        stderr,
        /^error: Not enough space in .*\/disk\/service\. Free \d+ MB there, or set .*\n$/,
      );
      assertEquals([...Deno.readDirSync(`${cache}/service`)], []);
    }
    {
      using _disk = mountSmallDisk(cache, "1m,noexec");
      const { code, stderr } = await user.run([], { XDG_CACHE_HOME: cache });
      assertEquals(code, 1);
      assertStringIncludes(stderr, `Programs can't be run in ${cache}/service`);
      assertEquals([...Deno.readDirSync(`${cache}/service`)].map(({ name }) => name), []);
    }
  },
);

Deno.test(needs("a file for another platform says so", ...TOOLS), async () => {
  await using user = await makeUser();
  const bin = `${user.dir}/bin`;
  await Deno.mkdir(bin);
  await Deno.writeTextFile(`${bin}/uname`, "#!/bin/sh\necho Plan9 mips\n", { mode: 0o755 });
  const { code, stderr } = await user.run([], { PATH: `${bin}:/usr/bin:/bin` });
  assertEquals(code, 1);
  assertStringIncludes(
    stderr,
    `This file is for ${ownTarget()!.title}, and this machine is Plan9 mips`,
  );
  await Deno.writeTextFile(`${bin}/uname`, "#!/bin/sh\n", { mode: 0o755 });
  const missing = await user.run([], { PATH: bin });
  assertStringIncludes(missing.stderr, "is not installed. Unpacking the program needs it");
});
