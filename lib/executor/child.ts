/**
 * A process that narrows itself: `cli/main.ts` calls {@linkcode runAsChild} when the first argument is
 * `CHILD_ARGUMENT`, before anything else.
 *
 * It starts with every permission of the launcher, and Deno can give up a kind of permission as a whole but
 * not narrow it to a path. So the module runs in a Worker that is created with exactly its permissions, and
 * this thread then gives up all of its own; it passes bytes on, and ends the process when standard input
 * ends, however busy the Worker is. Nothing else is in this process, so it is the boundary, as from source.
 *
 * @module
 */

import { ENTRIES, type EntryName, entryUrl } from "../base/entries.ts";
import { NARROWS_ITSELF, pathOf, ROOT } from "../base/layout.ts";
import { ENDED, OWN_PROCESS, readInput, READY, writeOutput } from "../rpc/child_transport.ts";
import type { ChildPermissions } from "./command.ts";
import { openRanges } from "./open_ranges.ts";

const EXIT_UNCAUGHT = 1;
const EXIT_USAGE = 2;

const KINDS = ["read", "write", "net", "env", "run", "sys", "ffi", "import"] as const;

/** What reads and writes the streams of the process itself, and ends it by its word. */
const OWN_STREAMS: readonly string[] = ["gateway", "channel"] satisfies EntryName[];

/** Serves as what the arguments name, until the launcher ends it. */
export function runAsChild(): Promise<never> {
  const [, name, argument] = Deno.args;
  if (name === "network_relay" && argument !== undefined) return runRelay(argument);
  if (name === "probe_kernel") return runProbe();
  if (!isEntry(name) || argument === undefined) Deno.exit(EXIT_USAGE);
  const hasOwnStreams = OWN_STREAMS.includes(name);
  const worker = new Worker(entryUrl(name), {
    type: "module",
    name: hasOwnStreams ? OWN_PROCESS : name,
    deno: { permissions: workerPermissions(JSON.parse(argument)) },
  } as WorkerOptions);
  worker.onerror = (event) => {
    event.preventDefault();
    Deno.stderr.writeSync(new TextEncoder().encode(`${event.message}\n`));
    Deno.exit(EXIT_UNCAUGHT);
  };
  worker.onmessage = (
    { data }: MessageEvent<Uint8Array<ArrayBuffer> | typeof READY | typeof ENDED>,
  ) => {
    if (data === ENDED) Deno.exit(EXIT_UNCAUGHT);
    if (data !== READY) return writeOutput(data);
    // Its modules are loaded, with this thread's permissions; the task comes only afterwards.
    for (const name of KINDS) Deno.permissions.revokeSync({ name } as Deno.PermissionDescriptor);
    if (hasOwnStreams) worker.postMessage(READY);
    else readInput((chunk) => worker.postMessage(chunk));
  };
  return new Promise(() => {});
}

function isEntry(name = ""): name is EntryName {
  return Object.hasOwn(ENTRIES, name);
}

function workerPermissions(
  { read, write, net, denyNet, everyAddress, run, env, sys }: ChildPermissions,
): Deno.PermissionOptionsObject {
  return {
    // The modules that it loads later are in the program itself.
    read: NARROWS_ITSELF ? [...read, pathOf(ROOT)] : [...read],
    write: [...write],
    net: everyAddress ? [...net, ...openRanges(denyNet)] : [...net],
    env: env === undefined ? false : [...env],
    run: run === undefined ? false : [...run],
    sys: sys === undefined ? false : [...sys] as (keyof Deno.SysPermissionDescriptor)[],
    ffi: false,
    import: false,
  };
}

/** It has the sandbox that it serves around it, and no more to give up than the programs there. */
async function runRelay(folder: string): Promise<never> {
  const module = await import(entryUrl("network_relay").href) as {
    runRelay(folder: string): Promise<void>;
  };
  await module.runRelay(folder);
  return await new Promise(() => {});
}

async function runProbe(): Promise<never> {
  const module = await import(entryUrl("probe_kernel").href) as { probeKernel(): void };
  module.probeKernel();
  Deno.exit(0);
}

if (import.meta.main) await runAsChild();
