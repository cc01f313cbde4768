/**
 * Starts the process of a channel.
 *
 * @module
 */

import type { Executor } from "../../executor/executor.ts";
import type { LockedPackages } from "../../packages/locked_packages.ts";
import type { ChannelWorker } from "../../channel_worker/open_channel_worker.ts";
import type { WorkerBoot } from "../../channel_worker/protocol.ts";
import { type Permission, valuesByKind } from "../../base/permission.ts";
import { machineEnv, machineFiles } from "../../executor/machine_files.ts";
import { encodeFrame } from "../../rpc/frames.ts";
import { endOf, tellLastWords } from "../../executor/spawn_process.ts";
import { withinMoments } from "../../base/process_tree.ts";

/** How a worker is started. */
export interface StartOptions {
  boot: WorkerBoot;
  table: readonly Permission[];
  executor: Pick<Executor, "spawn">;
  /** Where its packages are; undefined where the program holds them. */
  packages: LockedPackages | undefined;
  /** Folder of its own for what Deno derives from its sources. */
  cacheDir: string;
  env: (name: string) => string | undefined;
  /** Takes secrets out of what it said last. */
  scrub: (text: string) => string;
}

/** Characters of why a worker has ended. */
const MAX_REASON_CHARS = 1_000;

/** Starts one, with the permissions of the table and no others. Rejects when it cannot be. */
export async function startWorker(
  { boot, table, executor, packages, cacheDir, env, scrub }: StartOptions,
): Promise<ChannelWorker & { gone: Promise<void> }> {
  const { net, read, write, env: named } = valuesByKind(table);
  const child = await executor.spawn({
    name: "channel",
    permissions: { read, write, net, denyNet: [], env: named },
    view: {
      readOnly: await machineFiles(env, read),
      readWrite: write,
      network: true,
      cacheDir,
    },
    packages,
    env: machineEnv(env, named),
  });
  const begin = child.stdin.getWriter();
  // Failing means that it has gone, which its end tells better.
  for (const bytes of encodeFrame(boot)) begin.write(bytes).catch(() => {});
  begin.releaseLock();

  const output = new TransformStream<Uint8Array, Uint8Array>();
  // Whoever says nothing more, or is heard no more, is of no use.
  const said = child.stdout.pipeTo(output.writable, { preventClose: true })
    .catch(() => {}).finally(() => child.kill());
  const ended = Promise.withResolvers<string>();
  let closed = false;

  async function finish(): Promise<void> {
    const { reason } = await endOf(child, tellLastWords);
    await withinMoments(said);
    if (!closed) ended.resolve(scrub(reason).slice(0, MAX_REASON_CHARS));
    // The reason goes ahead of the end of what it said.
    setTimeout(() => output.writable.close().catch(() => {}), 0);
  }

  return {
    streams: { readable: output.readable, writable: child.stdin },
    ended: ended.promise,
    gone: finish(),
    close() {
      closed = true;
      child.kill();
    },
  };
}
