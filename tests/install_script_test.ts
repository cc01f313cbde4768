/** release/install.sh against a server of a release: what it installs, what it refuses, and what it says. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  newKey,
  programName,
  programText,
  serveRelease,
  writeRelease,
} from "../cli/upgrade/testing/release_folder.ts";
import { installScript } from "../release/install_script.ts";
import { type Need, needs, programPath } from "./support/needs.ts";

const TOOLS: Need[] = ["Unix", "sh", "curl", "openssl"];
const NAME = programName("9.9.9");

/** A user's folder, a release 9.9.9 behind a URL, and the script that belongs to it. */
async function makeWorld() {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "a download " }));
  const key = newKey();
  const folder = `${dir}/release`;
  await writeRelease(folder, { [NAME]: programText("9.9.9") }, key);
  const server = serveRelease(folder);
  await Deno.writeTextFile(`${dir}/install.sh`, await installScript(key, server.url));
  const bin = `${dir}/.local/bin`;
  return {
    dir,
    key,
    folder,
    server,
    bin,
    program: `${bin}/service`,
    spawn(args: string[] = [], path = "/usr/bin:/bin") {
      return new Deno.Command(programPath("sh"), {
        args: ["install.sh", ...args],
        cwd: dir,
        clearEnv: true,
        env: { HOME: dir, PATH: path, SHELL: "/bin/bash" },
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
    },
    async run(args: string[] = [], path?: string) {
      const { code, stdout, stderr } = await this.spawn(args, path).output();
      const decoder = new TextDecoder();
      return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
    },
    /** What is in the folder of the program. */
    async files() {
      try {
        return await Array.fromAsync(Deno.readDir(bin), ({ name }) => name);
      } catch {
        return [];
      }
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

Deno.test({
  ...needs("install.sh installs what it has verified, again and again, and removes it", ...TOOLS),
  async fn() {
    await using world = await makeWorld();
    const { bin, program, dir } = world;
    const { code, stdout, stderr } = await world.run();
    assertEquals([code, stdout], [0, ""], stderr);
    assertStringIncludes(
      stderr,
      `Installed service 9.9.9 in ${program} (checked: checksum and signature)`,
    );
    assertStringIncludes(stderr, `${bin} is not on your PATH. Add it with:`);
    assertStringIncludes(stderr, `${program} onboard`);
    // What it says makes it reachable.
    const [add] = /^ {2}echo .*$/m.exec(stderr)!;
    const typed = await new Deno.Command(programPath("sh"), {
      args: ["-c", `${add}\nservice --version`],
      clearEnv: true,
      env: { HOME: dir, PATH: "/usr/bin:/bin" },
    }).output();
    assertEquals(new TextDecoder().decode(typed.stdout), "service 9.9.9\n");

    const again = await world.run([], `${bin}:/usr/bin:/bin`);
    assertStringIncludes(again.stderr, "\n  service onboard ");
    assert(!again.stderr.includes("PATH"));
    assertEquals(await world.files(), ["service"]);

    await Deno.mkdir(`${dir}/.cache/service/x`, { recursive: true });
    await Deno.mkdir(`${dir}/.service`);
    const removed = await world.run(["--uninstall"]);
    assertEquals(removed.code, 0);
    assertStringIncludes(removed.stderr, `Removed ${program}`);
    assertStringIncludes(removed.stderr, `Kept ${dir}/.service, with all conversations`);
    assertEquals([...Deno.readDirSync(`${dir}/.cache`)], []);
    assert((await Deno.stat(`${dir}/.service`)).isDirectory);
    assertStringIncludes((await world.run(["--uninstall"])).stderr, `There is no ${program}`);
  },
});

Deno.test({
  ...needs("install.sh installs nothing that is damaged, changed or not there", ...TOOLS),
  async fn() {
    await using world = await makeWorld();
    const { server, folder } = world;
    const refused = async (words: string) => {
      const { code, stderr } = await world.run();
      assertEquals(code, 1, stderr);
      assertStringIncludes(stderr, words);
      assertMatch(stderr, /^(Downloading .*\n)?error: .*\n$/);
      assertEquals(await world.files(), []);
    };
    server.instead.set(NAME, () => new Response(programText("9.9.9") + "rm -rf ~\n"));
    await refused(`The checksum of ${NAME} is wrong`);
    server.instead.set(NAME, () => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("#!/bin/sh\n"));
          controller.error(new Error("gone"));
        },
      });
      return new Response(body, { headers: { "content-length": "1000" } });
    });
    await refused(`Can't download ${server.url}/${NAME}: curl: `);
    server.instead.set(NAME, () => new Response(null, { status: 404 }));
    await refused(`Can't download ${server.url}/${NAME}: curl: (22)`);
    server.instead.clear();
    await writeRelease(folder, { [NAME]: "#!/bin/sh\n# changed\n" }, newKey());
    await refused("The signature of the release is wrong");
    await Deno.remove(`${folder}/SHA256SUMS.sig`);
    await refused(`Can't download ${server.url}/SHA256SUMS.sig`);
    await Deno.remove(`${folder}/${NAME}`);
    await writeRelease(folder, { "service-9.9.9-linux-riscv": "" }, world.key);
    await refused("That release has no file for");
    await writeRelease(
      folder,
      { [NAME]: "#!/bin/sh\necho 'error: no glibc' >&2; exit 1\n" },
      world.key,
    );
    await refused("The program doesn't start here: no glibc");
  },
});

Deno.test({
  ...needs("install.sh says what it checked where it can't check the signature", ...TOOLS),
  async fn() {
    await using world = await makeWorld();
    const { dir, folder } = world;
    // The system's programs, and an openssl that is LibreSSL's.
    const path = `${dir}/without openssl`;
    await Deno.mkdir(path);
    for (const { name } of Deno.readDirSync("/usr/bin")) {
      if (name !== "openssl") await Deno.symlink(`/usr/bin/${name}`, `${path}/${name}`);
    }
    await Deno.writeTextFile(`${path}/openssl`, "#!/bin/sh\necho LibreSSL 3.3.6\n", {
      mode: 0o755,
    });
    const { code, stderr } = await world.run([], path);
    assertEquals(code, 0, stderr);
    assertStringIncludes(
      stderr,
      "(checked: checksum only: checking the signature needs OpenSSL 3)",
    );
    await Deno.remove(`${folder}/SHA256SUMS.sig`);
    await Deno.writeTextFile(`${dir}/install.sh`, await installScript(undefined, world.server.url));
    const unsigned = await world.run();
    assertStringIncludes(unsigned.stderr, "(checked: checksum only: this release isn't signed)");
  },
});

Deno.test({
  ...needs("install.sh leaves alone what isn't this program, and folders it can't use", ...TOOLS),
  async fn() {
    await using world = await makeWorld();
    const { bin, program, dir } = world;
    await Deno.mkdir(bin, { recursive: true });
    await Deno.writeTextFile(program, "#!/bin/sh\necho other\n", { mode: 0o755 });
    for (const args of [[], ["--uninstall"]]) {
      const { code, stderr } = await world.run(args);
      assertEquals(code, 1);
      assertStringIncludes(stderr, "isn't this program");
    }
    assertEquals(await Deno.readTextFile(program), "#!/bin/sh\necho other\n");
    await Deno.writeTextFile(`${dir}/file`, "");
    const noFolder = await world.run(["--dir", "file/bin"]);
    assertStringIncludes(noFolder.stderr, `Can't make the folder ${dir}/file/bin`);
    assertStringIncludes((await world.run(["--dri", "x"])).stderr, "Unknown option --dri");
    assertStringIncludes((await world.run(["--dir"])).stderr, "--dir needs a value");

    // Another program of the name, first on the PATH.
    const shadowed = await world.run(["--dir", "own"], `${bin}:${dir}/own:/usr/bin:/bin`);
    assertStringIncludes(shadowed.stderr, `service means another program: ${program}`);
    assertStringIncludes(shadowed.stderr, `\n  ${dir}/own/service onboard`);
  },
});

Deno.test({
  ...needs("install.sh that is killed leaves no program; two at once leave a whole one", ...TOOLS),
  async fn() {
    await using world = await makeWorld();
    const { server } = world;
    const asked = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<Response>();
    server.instead.set(NAME, () => {
      asked.resolve();
      return ended.promise;
    });
    const killed = world.spawn();
    const output = killed.output();
    await asked.promise;
    killed.kill("SIGTERM");
    ended.resolve(new Response(programText("9.9.9")));
    assertEquals((await output).code, 143);
    assertEquals(await world.files(), []);

    // Both have downloaded before one of them goes on.
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    server.instead.set(NAME, async () => {
      if (++waiting === 2) both.resolve();
      await both.promise;
      return new Response(programText("9.9.9"));
    });
    const codes = (await Promise.all([world.run(), world.run()])).map(({ code }) => code);
    assertEquals(codes, [0, 0]);
    assertEquals(await world.files(), ["service"]);
    assertEquals(await Deno.readTextFile(world.program), programText("9.9.9"));
  },
});

Deno.test(needs("install.sh cut off on its way to sh does nothing", ...TOOLS), async () => {
  await using world = await makeWorld();
  const script = await Deno.readTextFile(`${world.dir}/install.sh`);
  const lines = script.split("\n");
  for (let count = 1; count < lines.length - 1; count += 7) {
    await Deno.writeTextFile(`${world.dir}/install.sh`, lines.slice(0, count).join("\n"));
    await world.run();
    assertEquals(await world.files(), [], lines[count - 1]);
  }
});
