/**
 * Starts the gateway of a service that stays in a process of its own, as every file that this process has
 * open can be reached from a Worker (`node:net` takes over any descriptor).
 *
 * @module
 */

import { dirname, fromFileUrl } from "@std/path";
import { type Permission, valuesByKind } from "../base/permission.ts";
import { makePrivateDir } from "../base/private_dir.ts";
import { entryUrl } from "../base/entries.ts";
import { sourcePaths } from "../base/layout.ts";
import type { LockedPackages } from "../packages/locked_packages.ts";
import { createExecutor, type Executor, type ExecutorOptions } from "../executor/executor.ts";
import { machineEnv, machineFiles, TELEMETRY_VARIABLES } from "../executor/machine_files.ts";
import { endOf } from "../executor/spawn_process.ts";
import { withinMoments } from "../base/process_tree.ts";
import { streamTransport } from "../rpc/stream_transport.ts";
import type { Transport } from "../rpc/transport.ts";
import { MAX_GATEWAY_FRAME_BYTES } from "./gateway_transport.ts";

/** A gateway that was started. */
export interface RunningGateway {
  transport: Transport;
  /** Resolves with why it has ended, however that came; never rejects. */
  ended: Promise<string>;
  /** Ends it by force. Resolves when nothing is left. */
  kill(): Promise<void>;
}

/** What a process of a gateway is made of. */
export interface GatewayProcess {
  table: readonly Permission[];
  env: (name: string) => string | undefined;
  executor: Pick<Executor, "spawn">;
  /** Where its packages are; undefined where the program holds them. */
  packages: LockedPackages | undefined;
  /** Folder of its own for what Deno derives from the sources. */
  cacheDir: string;
  /** Takes the lines of its log; by default they go to our standard error. */
  logLine?: (line: string) => void;
  entry?: URL;
}

/** What starts gateways: as the service's own user, with the bounds of the service itself. */
export function createGatewayExecutor(
  options: Pick<ExecutorOptions, "cacheDir" | "log" | "sandboxes">,
): Executor {
  return createExecutor({
    ...options,
    staysRoot: true,
    unconfined: "Deno's permissions alone hold the gateway",
    maxOpenFiles: Infinity,
    maxHeapMiB: Infinity,
    maxDataBytes: Infinity,
  });
}

/** Starts it in a process of its own, which has exactly the permissions of the table. */
export async function gatewayProcess(
  { table, env, executor, packages, cacheDir, logLine, entry = entryUrl("gateway") }:
    GatewayProcess,
): Promise<RunningGateway> {
  const { net, read, write, env: named } = valuesByKind(table);
  const sockets = net.filter((value) => value.startsWith("unix:")).map((value) => value.slice(5));
  // A socket is made anew in its folder.
  const isFile = (path: string) => !sockets.includes(path);
  const folders = [...new Set([...sockets.map(dirname), ...write.filter(isFile)])];
  const sources = [...sourcePaths(["lib/", "channels/"], { shares: true }), fromFileUrl(entry)];
  const seen = [...sources, ...read].filter((path) => isFile(path) && !folders.includes(path));
  await makePrivateDir(cacheDir);
  const child = await executor.spawn({
    name: "gateway",
    entry,
    permissions: { net, read, write, env: named, denyNet: [] },
    view: {
      readOnly: await machineFiles(env, seen),
      readWrite: folders,
      network: true,
      cacheDir,
    },
    packages,
    env: machineEnv(env, [...named, ...TELEMETRY_VARIABLES]),
    stderrTo: logLine ?? "inherit",
  });
  const ended = endOf(child).then(({ reason }) => reason);
  return {
    transport: streamTransport(
      { readable: child.stdout, writable: child.stdin },
      { maxFrameBytes: MAX_GATEWAY_FRAME_BYTES },
    ),
    ended,
    async kill() {
      child.kill();
      await withinMoments(ended);
    },
  };
}
