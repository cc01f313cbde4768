import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { commandSandbox } from "./command_sandbox.ts";
import { type MountCheck, mountCheck } from "./mount_check.ts";
import { runSandbox } from "./testing/run_sandbox.ts";
import type { Guard } from "./workspace_guards.ts";
import { mountNeeds, mountReadOnly } from "../../tests/support/mounts.ts";
import { rounds } from "../../tests/support/rounds.ts";

/** Runs a command in the sandbox of a workspace. */
async function run(workspace: string, guards: readonly Guard[], argv: string[]) {
  const { open, args, check } = await commandSandbox({ workspace, cwd: workspace, guards });
  return await runSandbox({ open, args: [...args, ...checked(check), ...argv] });
}

/** A shell that compares and becomes what follows. */
function checked({ script, args }: MountCheck): string[] {
  return ["/bin/sh", "-c", `${script}exec "$@"`, "sh", ...args];
}

async function withFolders(
  test: (workspace: string, outside: string) => Promise<void>,
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    // What the kernel escapes, and what a shell would expand.
    const workspace = `${root}/a b\t\\n $(x) *'"`;
    await Deno.mkdir(`${workspace}/sub`, { recursive: true });
    await Deno.mkdir(`${root}/outside`);
    await Deno.writeTextFile(`${root}/outside/secret`, "the secret");
    await test(workspace, `${root}/outside`);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test({
  ...needs(
    "mountCheck() lets a command run whose mounts are their own places, as it was given",
    "bubblewrap",
  ),
  async fn() {
    await withFolders(async (workspace) => {
      await Deno.writeTextFile(`${workspace}/sub/AGENTS.md`, "obey");
      await Deno.writeTextFile(`${workspace}/sub/.env`, "KEY=x");
      await Deno.mkdir(`${workspace}/.ssh`);
      const guards: Guard[] = [
        { path: `${workspace}/.ssh`, how: "hideFolder" },
        { path: `${workspace}/sub`, how: "pin" },
        { path: `${workspace}/sub/.env`, how: "hideFile" },
        { path: `${workspace}/sub/AGENTS.md`, how: "readOnly" },
      ];
      const words = ["", "a b", "$HOME", "*", "--", "-x", "'", "new\nline"];
      const echo = await run(workspace, guards, ["printf", "[%s]", ...words]);
      assertEquals(echo, {
        code: 0,
        stdout: words.map((word) => `[${word}]`).join(""),
        stderr: "",
      });
      await Deno.mkdir(`${workspace}/-c`);
      await Deno.writeTextFile(`${workspace}/-c/own`, "#!/bin/sh\necho own", { mode: 0o755 });
      assertEquals((await run(workspace, guards, ["-c/own"])).stdout, "own\n");
      const env = await run(workspace, guards, ["env"]);
      const without = await run(workspace, [], ["env"]);
      assertEquals(env.stdout.split("\n").sort(), without.stdout.split("\n").sort());
      assertEquals((await run(workspace, guards, ["sh", "-c", "exit 7"])).code, 7);
      const read = await run(workspace, guards, [
        "sh",
        "-c",
        "cat sub/.env .ssh/x; echo x >sub/AGENTS.md",
      ]);
      assertEquals(read.stdout, "");
      assertEquals(read.code === 0, false);
    });
  },
});

Deno.test({
  ...needs(
    "mountCheck() starts nothing when a mount is missing or is of another place",
    "bubblewrap",
  ),
  async fn() {
    await withFolders(async (workspace, outside) => {
      const guards: Guard[] = [{ path: `${workspace}/sub`, how: "pin" }];
      const { open, args: right, check } = await commandSandbox({
        workspace,
        cwd: workspace,
        guards,
      });
      const from = right.lastIndexOf(guards[0]!.path) - 1;
      // As if a link had stood there when bubblewrap looked, and what was seen before, when it mounted.
      const swapped = right.with(from, outside);
      const missing = [...right.slice(0, from - 1), ...right.slice(from + 2)];
      for (const args of [swapped, missing]) {
        const { code, stdout, stderr } = await runSandbox({
          open,
          args: [...args, ...checked(check), "cat", "sub/secret"],
        });
        assertEquals([code, stdout], [126, ""]);
        assertStringIncludes(stderr, "nothing was run");
      }
      assertEquals(mountCheck({ workspace, guards: [] }).script, "");
    });
  },
});

Deno.test({
  ...needs(
    "mountCheck() looks at every guard where the workspace has mounts of its own",
    "bubblewrap",
    ...mountNeeds(),
  ),
  async fn() {
    await withFolders(async (workspace, outside) => {
      await Deno.mkdir(`${workspace}/.git`);
      using _mounted = mountReadOnly(`${workspace}/.git`);
      const guards: Guard[] = [
        { path: `${workspace}/.git`, how: "readOnly" },
        { path: `${workspace}/sub`, how: "pin" },
      ];
      const { open, args, check } = await commandSandbox({ workspace, cwd: workspace, guards });
      const from = args.lastIndexOf(`${workspace}/sub`) - 1;
      const { code, stdout } = await runSandbox({
        open,
        args: [...args.with(from, outside), ...checked(check), "cat", "sub/secret"],
      });
      assertEquals([code, stdout], [126, ""]);
    });
  },
});

Deno.test({
  ...needs(
    "a command reaches nothing outside while another one swaps a guarded folder for a link",
    "bubblewrap",
  ),
  async fn() {
    await withFolders(async (workspace, outside) => {
      const file = `${outside}/../swap.ts`;
      await Deno.writeTextFile(
        file,
        `const [sub, link, outside] = Deno.args;
        console.log("swapping");
        for (;;) {
          try { Deno.renameSync(sub, sub + ".kept"); } catch { /* the next round */ }
          try { Deno.symlinkSync(outside, link); Deno.renameSync(link, sub); } catch { /* … */ }
          try { Deno.removeSync(sub); } catch { /* … */ }
          try { Deno.renameSync(sub + ".kept", sub); } catch { /* … */ }
        }`,
      );
      const swapper = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-config", file, `${workspace}/sub`, `${workspace}/link`, outside],
        stdout: "piped",
        stderr: "null",
      }).spawn();
      const reader = swapper.stdout.getReader();
      assertEquals((await reader.read()).done, false);
      const guards: Guard[] = [{ path: `${workspace}/sub`, how: "pin" }];
      for (let round = 0; round < rounds(20, 5); round++) {
        const ran = await Promise.all(
          Array.from(
            { length: 8 },
            () => run(workspace, guards, ["sh", "-c", "cat */secret; echo planted >sub/planted"]),
          ),
        );
        for (const { stdout } of ran) assert(!stdout.includes("the secret"), stdout);
      }
      swapper.kill("SIGKILL");
      await swapper.status;
      await reader.cancel();
      assertEquals([...Deno.readDirSync(outside)].map(({ name }) => name), ["secret"]);
    });
  },
});

Deno.test({
  ...needs("mountCheck() does not mind what was mounted in the workspace before", "bubblewrap"),
  async fn() {
    await withFolders(async (workspace) => {
      await Deno.writeTextFile(`${workspace}/sub/AGENTS.md`, "obey");
      await Deno.mkdir(`${workspace}/volume`);
      const guards: Guard[] = [
        { path: `${workspace}/sub`, how: "pin" },
        { path: `${workspace}/sub/AGENTS.md`, how: "readOnly" },
      ];
      const { open, args, check } = await commandSandbox({ workspace, cwd: workspace, guards });
      const at = args.indexOf("--remount-ro", args.indexOf(workspace));
      const volume = ["--tmpfs", `${workspace}/volume`];
      const mounted = [...args.slice(0, at), ...volume, ...args.slice(at)];
      const { code, stdout } = await runSandbox({
        open,
        args: [...mounted, ...checked(check), "echo", "ran"],
      });
      assertEquals([code, stdout], [0, "ran\n"]);
    });
  },
});

Deno.test({
  ...needs("mountCheck() starts nothing when something lies over what is held", "bubblewrap"),
  async fn() {
    await withFolders(async (workspace) => {
      const guards: Guard[] = [{ path: `${workspace}/sub`, how: "pin" }];
      const mounts = ["--tmpfs", guards[0]!.path];
      const view = { workspace, cwd: workspace, guards, mounts };
      const { open, args, check } = await commandSandbox(view);
      const { code, stdout } = await runSandbox({
        open,
        args: [...args, ...checked(check), "echo", "ran"],
      });
      assertEquals([code, stdout], [126, ""]);
    });
  },
});
