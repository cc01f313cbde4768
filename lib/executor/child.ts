/**
 * The compiled binary as a child: `cli/main.ts` calls {@linkcode runAsChild} when the first argument is
 * `CHILD_ARGUMENT`, before anything else.
 *
 * A binary starts with every permission that it was compiled with, and Deno can give up a kind of
 * permission as a whole but not narrow it to a path. So the tool runs in a Worker that is created with
 * exactly the action's permissions, and this thread then gives up all of its own; it only passes
 * bytes on, and ends the process when standard input ends, however busy the Worker is. The process
 * is the boundary for memory and time, as from source.
 *
 * @module
 */

import { type ChildPermissions, PROBE_ARGUMENT, RELAY_ARGUMENT } from "./command.ts";
import { readInput, READY, writeOutput } from "../rpc/child_transport.ts";
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
const CHILDREN: ReadonlyMap<string, string> = new Map([
  ...CHILD_TOOLS.map((name) => [name, `lib/tools/child/${name}.ts`] as const),
  ["read_page", "lib/tools/page/child.ts"],
  ["extract_document", "lib/documents/child.ts"],
  ["mcp", "lib/mcp/child.ts"],
  ["network_proxy", "lib/network/proxy/child.ts"],
]);

/** What runs a channel; it speaks for itself over standard input and output (`spawn_child.ts`). */
const CHANNEL = "lib/channel_worker/worker.ts";

/** The relay of a sandbox's network; it speaks no frames. */
const RELAY = "lib/network/relay/child.ts";

/** The program of the sandbox's self-test; neither does it. */
const PROBE = "lib/executor/probe_kernel.ts";

/** Sources of the modules that processes of children start with. */
export const CHILD_MODULES: readonly string[] = [
  "lib/executor/child.ts",
  ...CHILDREN.values(),
  RELAY,
  PROBE,
];

const EXIT_UNCAUGHT = 1;
const EXIT_USAGE = 2;

const KINDS = ["read", "write", "net", "env", "run", "sys", "ffi", "import"] as const;

/** Serves as the child that the arguments name, until the authority ends it. */
export function runAsChild(): Promise<never> {
  const [, tool, permissionsJson] = Deno.args;
  if (tool === RELAY_ARGUMENT && permissionsJson !== undefined) return runRelay(permissionsJson);
  if (tool === PROBE_ARGUMENT) return runProbe();
  const isChannel = tool === "channel";
  const entry = isChannel ? CHANNEL : CHILDREN.get(tool ?? "");
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
  worker.onerror = (event) => {
    event.preventDefault();
    Deno.stderr.writeSync(new TextEncoder().encode(`${event.message}\n`));
    Deno.exit(EXIT_UNCAUGHT);
  };
  worker.onmessage = ({ data }: MessageEvent<Uint8Array<ArrayBuffer> | typeof READY>) => {
    if (data !== READY) return writeOutput(data);
    // Its modules are loaded, with this thread's permissions; the task comes only afterwards.
    for (const name of KINDS) Deno.permissions.revokeSync({ name } as Deno.PermissionDescriptor);
    // A channel reads and writes the streams of the process itself.
    if (isChannel) worker.postMessage(READY);
    else readInput((chunk) => worker.postMessage(chunk));
  };
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
