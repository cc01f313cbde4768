import { assert, assertEquals } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import type { CommandTarget } from "../contract/actions.ts";
import { TRY_SESSION, tryHandlers } from "./testing/session_kind.ts";
import { NO_PERMISSIONS } from "./command.ts";
import { type Commands, createCommands } from "./commands.ts";
import { ATTACK_KERNEL, HARMLESS_DEVICES } from "./testing/attack_kernel.ts";

const SESSION = new URL("./testing/session_child.ts", import.meta.url);
const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };

async function withCommands(
  test: (setup: { commands: Commands; workspace: string }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const workspace = `${folder}/workspace`;
  await Deno.mkdir(workspace);
  const commands = createCommands({
    config: { maxOutputBytes: 1_000_000, allowUnconfined: false },
    workspace,
    own: () => Promise.resolve({ ownPaths: [], sourcePaths: [] }),
    scratchDir: `${folder}/run`,
    onTested: () => Promise.resolve(),
    log,
  });
  try {
    await test({ commands, workspace });
  } finally {
    await commands.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

function assertHeld(output: string): void {
  assert(output.endsWith("tried all\n"), output);
  const got = output.trim().split("\n").slice(0, -1);
  assertEquals(got.filter((line) => !HARMLESS_DEVICES.test(line.replace("write ", ""))), []);
}

Deno.test({
  ...needs(
    "a command can write to no file of the kernel, and reach none of its risky parts",
    "bubblewrap",
    "perl",
  ),
  fn: () =>
    withCommands(async ({ commands, workspace }) => {
      const argv = ["perl", "-e", ATTACK_KERNEL];
      const target: CommandTarget = {
        kind: "command",
        argv,
        program: "/usr/bin/perl",
        cwd: workspace,
      };
      const end = await commands.run(target, {
        timeoutMs: 10_000,
        signal: new AbortController().signal,
        onProgress: silent,
      });
      assert(end.type === "exited", JSON.stringify(end));
      assertHeld(end.output);
    }),
});

Deno.test({
  ...needs(
    "a program of a session, such as an MCP server, reaches no more of the kernel",
    "bubblewrap",
    "perl",
  ),
  fn: () =>
    withCommands(async ({ commands, workspace }) => {
      const session = await commands.open({
        name: "attack",
        entry: SESSION,
        kind: TRY_SESSION,
        params: {},
        permissions: { ...NO_PERMISSIONS, run: ["/usr/bin/perl"] },
        sources: [],
        readOnly: [],
        readWrite: [],
        cwd: workspace,
      }, tryHandlers());
      const argv = ["/usr/bin/perl", "-e", ATTACK_KERNEL];
      const ran = await session.call("run", argv, { timeoutMs: 10_000 }) as { stdout: string };
      assertHeld(ran.stdout);
    }),
});
