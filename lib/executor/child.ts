/**
 * The compiled binary as a child: `cli/main.ts` calls {@linkcode runAsChild} when the first argument is
 * `CHILD_ARGUMENT`, before anything else.
 *
 * A binary starts with every permission that it was compiled with, and Deno can give up a kind of
 * permission as a whole but not narrow it to a path. So the tool runs in a Worker that is created with
 * exactly the action's permissions, and this thread then gives up all of its own; it only passes
 * frames on, and ends the process when standard input ends, however busy the Worker is. The process
 * is the boundary for memory and time, as from source.
 *
 * @module
 */

import { type ChildPermissions, PROBE_ARGUMENT, RELAY_ARGUMENT } from "./command.ts";
import type { ChildFrame } from "../rpc/protocol.ts";
import { READY, serveInput, writeFrame } from "../rpc/serve_child.ts";
import { writeSessionFrame } from "../rpc/serve_session.ts";
import type { SessionFrame, StartFrame } from "../rpc/session_protocol.ts";
import { moduleUrl } from "../base/layout.ts";

/** Every tool with a child side, `lib/tools/child/<name>.ts`. */
export const CHILD_TOOLS = [
  "attach_file",
  "edit_file",
  "fetch_keys",
  "list_files",
  "read_file",
  "resolve_host",
  "search_files",
  "web_fetch",
  "web_search",
  "write_file",
] as const;

/** Every module that a child may be: no specifier comes from anywhere else. */
const ACTIONS: ReadonlyMap<string, string> = new Map([
  ...CHILD_TOOLS.map((name) => [name, `lib/tools/child/${name}.ts`] as const),
  ["extract_article", "lib/tools/article/child.ts"],
  ["extract_document", "lib/documents/child.ts"],
]);

/** Every module that a session may be (`serve_session.ts`). */
const SESSIONS: ReadonlyMap<string, string> = new Map([
  ["mcp", "lib/mcp/child.ts"],
  ["network_proxy", "lib/network/proxy/child.ts"],
]);

/** What runs a channel; it speaks for itself over standard input and output (`spawn_child.ts`). */
const CHANNEL = "lib/place/worker.ts";

/** The relay of a sandbox's network; it speaks no frames. */
const RELAY = "lib/network/relay/child.ts";

/** The program of the sandbox's self-test; neither does it. */
const PROBE = "lib/executor/probe_kernel.ts";

/** Sources of the modules that processes of children start with. */
export const CHILD_MODULES: readonly string[] = [
  "lib/executor/child.ts",
  ...ACTIONS.values(),
  ...SESSIONS.values(),
  RELAY,
  PROBE,
];

const EXIT_USAGE = 2;

type Said = ChildFrame | SessionFrame | StartFrame;

const KINDS = ["read", "write", "net", "env", "run", "sys", "ffi", "import"] as const;

/** Serves the one action of this child, or its session, and exits. */
export function runAsChild(args: readonly string[] = Deno.args): Promise<never> {
  const [, tool, permissionsJson] = args;
  if (tool === RELAY_ARGUMENT && permissionsJson !== undefined) return runRelay(permissionsJson);
  if (tool === PROBE_ARGUMENT) return runProbe();
  const isSession = SESSIONS.has(tool ?? "");
  const isChannel = tool === "channel";
  const entry = isChannel ? CHANNEL : ACTIONS.get(tool ?? "") ?? SESSIONS.get(tool ?? "");
  if (entry === undefined || permissionsJson === undefined) Deno.exit(EXIT_USAGE);
  const permissions = JSON.parse(permissionsJson) as ChildPermissions;
  const { read, write, net, everyAddress, run, env, sys } = permissions;
  const worker = new Worker(moduleUrl(entry), {
    type: "module",
    deno: {
      permissions: {
        read: [...read],
        write: [...write],
        net: everyAddress ?? [...net],
        env: env === undefined ? false : [...env],
        run: run === undefined ? false : [...run],
        sys: sys === undefined ? false : [...sys],
        ffi: false,
        import: false,
      },
    },
  } as WorkerOptions);
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    const { message } = event;
    // deno-lint-ignore no-console -- the last of what it says is why it ended
    if (isChannel) console.error(message);
    else if (isSession) writeSessionFrame({ type: "unable", message });
    else writeFrame({ type: "failure", message });
    Deno.exit(1);
  });
  worker.addEventListener("message", ({ data }: MessageEvent<Said | typeof READY>) => {
    if (data === READY) {
      // Its modules are loaded, with this thread's permissions; the task comes only afterwards.
      for (const name of KINDS) Deno.permissions.revokeSync({ name } as Deno.PermissionDescriptor);
      if (isChannel) return worker.postMessage(READY);
      return serveInput((task) => worker.postMessage(task));
    }
    if (isChannel) Deno.exit(1);
    if (isSession) {
      const frame = data as SessionFrame | StartFrame;
      writeSessionFrame(frame);
      if (frame.type === "unable") Deno.exit(1);
      return;
    }
    writeFrame(data as ChildFrame);
    if (data.type !== "progress") Deno.exit(0);
  });
  return new Promise(() => {});
}

/** It has the sandbox that it serves around it, and no more to give up than the programs there. */
async function runRelay(folder: string): Promise<never> {
  const module = await import(moduleUrl(RELAY).href) as { runRelay(folder: string): Promise<void> };
  await module.runRelay(folder);
  return await new Promise(() => {});
}

async function runProbe(): Promise<never> {
  const module = await import(moduleUrl(PROBE).href) as { probeKernel(): void };
  module.probeKernel();
  Deno.exit(0);
}

if (import.meta.main) await runAsChild();
