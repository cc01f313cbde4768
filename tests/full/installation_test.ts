/** The launcher that `deno task install` writes, and the commands that the program tells people to type. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../../cli/commands.ts";
import { parseCommand } from "../../cli/parse.ts";
import { VERSION } from "../../cli/version.ts";
import { ROOT } from "../support/home.ts";
import { needs } from "../support/needs.ts";

const DENO_FOLDER = Deno.execPath().replace(/\/[^/]*$/, "");

/** A machine with a home folder, and what is run on it. */
async function makeMachine() {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "a machine " }));
  const env = {
    HOME: dir,
    PATH: `${DENO_FOLDER}:/usr/bin:/bin`,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    NO_COLOR: "1",
    SHELL: "/bin/bash",
  };
  async function run(
    program: string,
    args: string[],
    { cwd = dir, path = env.PATH, stdin = "null" as const } = {},
  ) {
    const { code, stdout, stderr } = await new Deno.Command(program, {
      args,
      cwd,
      clearEnv: true,
      env: { ...env, PATH: path },
      stdin,
    }).output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  }
  return {
    dir,
    env,
    run,
    task: (args: string[], options: { path?: string; cwd?: string } = {}) =>
      run(Deno.execPath(), ["task", "--quiet", ...args], { cwd: ROOT, ...options }),
    [Symbol.asyncDispose]: () => Deno.remove(dir, { recursive: true }),
  };
}

Deno.test({
  ...needs(
    "install puts a launcher on the PATH that works from any folder and through a link",
    "sh",
  ),
  async fn() {
    await using machine = await makeMachine();
    const { dir, run, task, env } = machine;
    const first = await task(["install"]);
    assertEquals([first.code, first.stdout], [0, ""], first.stderr);
    assertStringIncludes(first.stderr, `Installed ${dir}/.local/bin/service`);
    assertStringIncludes(first.stderr, `${dir}/.local/bin is not on your PATH`);
    // What it tells to type makes it reachable.
    const [add] = /^ {2}echo .*$/m.exec(first.stderr)!;
    const typed = await run("sh", ["-c", `${add}\nservice --version`]);
    assertEquals(typed, { code: 0, stdout: `service ${VERSION}\n`, stderr: "" });

    const path = `${dir}/.local/bin:${env.PATH}`;
    const again = await task(["install"], { path });
    assertEquals(again.code, 0);
    assertStringIncludes(again.stderr, "Try it: service agent -m hi");

    await Deno.symlink(`${dir}/.local/bin/service`, `${dir}/short`);
    assertMatch((await run(`${dir}/short`, ["agent", "-m", "hi"])).stdout, /offline/);

    const removed = await task(["uninstall"]);
    assertStringIncludes(removed.stderr, `Removed ${dir}/.local/bin/service`);
    assertStringIncludes((await task(["uninstall"])).stderr, "No launcher of this program found");
  },
});

Deno.test({
  ...needs("install leaves alone what isn't its own, and says what comes first on the PATH", "sh"),
  async fn() {
    await using machine = await makeMachine();
    const { dir, env, task } = machine;
    await Deno.mkdir(`${dir}/other`);
    await Deno.writeTextFile(`${dir}/other/service`, "#!/bin/sh\n", { mode: 0o755 });
    for (const name of ["install", "uninstall"]) {
      const refused = await task([name, "--dir", `${dir}/other`]);
      assertEquals(refused.code, 2);
      assertStringIncludes(refused.stderr, "isn't a launcher of this program");
    }
    assertEquals(await Deno.readTextFile(`${dir}/other/service`), "#!/bin/sh\n");

    const shadowed = await task(["install", "--dir", `${dir}/own folder`], {
      path: `${dir}/other:${dir}/own folder:${env.PATH}`,
    });
    assertEquals(shadowed.code, 0, shadowed.stderr);
    assertStringIncludes(
      shadowed.stderr,
      `Another program comes first on your PATH: ${dir}/other/service`,
    );

    await Deno.writeTextFile(`${dir}/file`, "");
    const noFolder = await task(["install", "--dir", `${dir}/file/bin`]);
    assertEquals(noFolder.code, 2);
    assertStringIncludes(noFolder.stderr, "Choose a folder with --dir");
    const unknown = await task(["install", "--dri", dir]);
    assertEquals(unknown.code, 2);
    assertStringIncludes(unknown.stderr, "did you mean --dir?");
  },
});

const NAMES = COMMANDS.map(({ name }) => name).join("|");

/** Purposes of keys, which look like commands. */
const NO_HINTS = ["lib/audit/checkpoint.ts", "lib/state/secret_key.ts"];

/** Commands that stand in a text for people to type. */
function hintsIn(text: string, typedAs: string): string[] {
  const escaped = typedAs.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return [...text.matchAll(new RegExp(`${escaped} (?:${NAMES})\\b[^\n;,"]*`, "g"))].map(([hint]) =>
    hint
  );
}

Deno.test({
  ...needs("every hint works as typed: with the launcher, from the checkout, and elsewhere", "sh"),
  async fn() {
    await using machine = await makeMachine();
    const { dir, env, run, task } = machine;
    await task(["install", "--dir", `${dir}/with blank`]);
    const launcher = `${dir}/with blank/service`;
    const ways = [
      { typedAs: "service", cwd: dir, path: `${dir}/with blank:${env.PATH}`, start: "service" },
      { typedAs: `'${launcher}'`, cwd: dir, start: `'${launcher}'` },
      { typedAs: "deno task service", cwd: ROOT, start: "deno task --quiet service" },
      {
        typedAs: `deno task --config ${ROOT}deno.json service`,
        cwd: dir,
        start: `deno task --quiet --config ${ROOT}deno.json service`,
      },
    ];
    for (const { typedAs, start, ...where } of ways) {
      const told: string[] = [];
      for (
        const line of ["doctor", "plugins list", "audit --help", "plugins enable telegram --json"]
      ) {
        const { stdout, stderr } = await run("sh", ["-c", `${start} ${line}`], where);
        told.push(...hintsIn(stdout + stderr, typedAs));
      }
      assert(told.length >= 4, `${typedAs}: ${told}`);
      // With --help a command does nothing, and its words have to be those that there are.
      for (const hint of new Set(told)) {
        const words = hint.slice(typedAs.length).trim().split(" ")
          .filter((word) => /^[a-z-]+$/.test(word)).slice(0, 2);
        const { code, stderr } = await run(
          "sh",
          ["-c", `${typedAs} ${words.join(" ")} --help`],
          where,
        );
        assertEquals([code, stderr.replace(/^Task service .*\n/, "")], [0, ""], hint);
      }
    }
  },
});

/** Words that people are told to type, as they stand in the sources. */
async function hintsOfSources(): Promise<{ file: string; hint: string }[]> {
  const found: { file: string; hint: string }[] = [];
  const hint = new RegExp(
    `(?:["'\`(]|: |, |or |see |with |run |until |set |&& |\\| )service (?:${NAMES})\\b[^"'\`\n&|;,()]*`,
    "g",
  );
  for (const folder of ["cli", "lib", "channels"]) await walk(`${ROOT}${folder}`);
  return found.filter(({ file }) => !NO_HINTS.includes(file));

  function isProgram(path: string): boolean {
    return path.endsWith(".ts") && !path.endsWith("_test.ts");
  }

  async function walk(folder: string): Promise<void> {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      const path = `${folder}/${name}`;
      if (isDirectory) await walk(path);
      else if (isProgram(path)) {
        for (const [hit] of (await Deno.readTextFile(path)).matchAll(hint)) {
          found.push({ file: path.slice(ROOT.length), hint: hit.slice(hit.indexOf("service ")) });
        }
      }
    }
  }
}

Deno.test("every command that the sources tell people to type is one that there is", async () => {
  const hints = await hintsOfSources();
  assert(hints.length > 150);
  const wrong: string[] = [];
  for (const { file, hint } of hints) {
    const [, name, ...typed] = hint.replaceAll(/[.:](?=\s|$)/g, "").trim().split(/\s+/);
    const words = typed.filter((word) => /^-{0,2}[a-z][a-z-]*$/.test(word));
    const { default: command } = await COMMANDS.find((each) => each.name === name)!.load();
    const [first] = words;
    const isSub = command.subcommands !== undefined && first !== undefined &&
      first === typed[0] && !first.startsWith("-");
    const options = words.filter((word) => word.startsWith("--"));
    // Words of the sentence around a hint without a subcommand.
    const known = command.subcommands?.some((each) => each.name === first) ?? true;
    if (isSub && !known) wrong.push(`${file}: ${hint}`);
    for (const option of options) {
      try {
        parseCommand(name!, command, {
          rest: [option, "--help"],
          globals: { lastGood: false, json: false, verbose: false },
          help: false,
          version: false,
        });
      } catch (error) {
        if (/Unknown option/.test((error as Error).message)) wrong.push(`${file}: ${hint}`);
      }
    }
  }
  assertEquals(wrong, []);
});
