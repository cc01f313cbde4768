import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { grantTarget } from "../grant_target.ts";
import { resolveCommand } from "./resolve_command.ts";

/** A workspace with a script, and a folder outside of it. */
async function withWorkspace(
  test: (set: {
    workspace: string;
    outside: string;
    resolve: (command: string | string[], cwd?: string) => ReturnType<typeof resolveCommand>;
  }) => Promise<void>,
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const [workspace, outside] = [`${root}/workspace`, `${root}/outside`];
  try {
    await Deno.mkdir(`${workspace}/sub`, { recursive: true });
    await Deno.mkdir(outside);
    for (const path of [`${workspace}/run.sh`, `${workspace}/sub/run.sh`, `${outside}/run.sh`]) {
      await Deno.writeTextFile(path, "#!/bin/sh\n", { mode: 0o755 });
    }
    await test({
      workspace,
      outside,
      resolve: (command, cwd = ".") =>
        resolveCommand({ command, cwd }, { path: workspace, real: workspace }),
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("resolveCommand() gives the whole argv, the real program and the real folder", async () => {
  await withWorkspace(async ({ workspace, resolve }) => {
    const shell = await Deno.realPath("/bin/sh");
    assertEquals(await resolve("echo x | cat"), {
      kind: "command",
      argv: ["/bin/sh", "-c", "echo x | cat"],
      program: shell,
      cwd: workspace,
    });
    // In its own folder, and not in that of the service.
    assertEquals(await resolve(["./run.sh", "", "a b"], "sub"), {
      kind: "command",
      argv: ["./run.sh", "", "a b"],
      program: `${workspace}/sub/run.sh`,
      cwd: `${workspace}/sub`,
    });
  });
});

Deno.test("resolveCommand() takes a bare name for the system's program alone", async () => {
  await withWorkspace(async ({ workspace, resolve }) => {
    await Deno.copyFile(`${workspace}/run.sh`, `${workspace}/sh`);
    const found = await resolve(["sh", "-c", "true"]);
    assertEquals(found.kind === "command" && found.program, await Deno.realPath("/bin/sh"));
    const missing = await resolve(["run.sh"]);
    assert(missing.kind === "unresolved", JSON.stringify(missing));
    assertStringIncludes(missing.reason, 'no program "run.sh"');
  });
});

Deno.test("G21 resolveCommand() tells a renamed, linked or replaced program from the one that was granted", async () => {
  await withWorkspace(async ({ workspace, resolve }) => {
    const textOf = async (command: string | string[]) => {
      const target = await resolve(command);
      assert(target.kind === "command", JSON.stringify(target));
      return grantTarget(target);
    };
    const shell = await Deno.realPath("/bin/sh");
    await Deno.copyFile(shell, `${workspace}/cat`);
    await Deno.symlink(shell, `${workspace}/link`);
    await Deno.symlink("run.sh", `${workspace}/moved`);
    const before = await textOf(["./moved"]);
    const texts = [
      before,
      ...await Promise.all([
        textOf(["cat"]),
        textOf(["./cat"]),
        textOf(["./link"]),
        textOf(["sh"]),
        textOf(["env", "sh"]),
        textOf("sh"),
        textOf(["sh", ""]),
        textOf("$(echo sh)"),
      ]),
    ];
    await Deno.remove(`${workspace}/moved`);
    await Deno.symlink("sub/run.sh", `${workspace}/moved`);
    texts.push(await textOf(["./moved"]));
    assertEquals(new Set(texts).size, texts.length);
  });
});

Deno.test("resolveCommand() is unresolved for what is no program here, and says why", async () => {
  await withWorkspace(async ({ workspace, outside, resolve }) => {
    await Deno.writeTextFile(`${workspace}/text`, "x", { mode: 0o644 });
    await Deno.symlink(`${outside}/run.sh`, `${workspace}/out`);
    await Deno.symlink(outside, `${workspace}/away`);
    const wrong: [string[], string, string][] = [
      [[], ".", "names no program"],
      [[""], ".", "names no program"],
      [["sh", "a\0b"], ".", "part 1 of it holds a NUL"],
      [["sh", "\ud800"], ".", "half of a character"],
      [["./text"], ".", "is not executable"],
      [["./sub"], ".", "is no file"],
      [["./none"], ".", "there is no program"],
      [["./out"], ".", "neither the system's nor in the workspace"],
      [[`${outside}/run.sh`], ".", "neither the system's nor in the workspace"],
      [["../outside/run.sh"], ".", "neither the system's nor in the workspace"],
      [["sh"], "none", "there is no folder"],
      [["sh"], "run.sh", "is no folder"],
      [["sh"], "away", "is outside the workspace"],
      [["sh"], "..", "is outside the workspace"],
    ];
    for (const [command, cwd, reason] of wrong) {
      const target = await resolve(command, cwd);
      assert(target.kind === "unresolved", `${command} in ${cwd}`);
      assertStringIncludes(target.reason, reason);
    }
  });
});
