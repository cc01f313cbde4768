/**
 * How a home starts its gateway: in a process of its own where the service stays, else in a Worker.
 *
 * The first is started before the configuration is read, with the permissions of the last start, since all
 * that it does until it is told what to be is to load its modules. Where the configuration gives others, it
 * is ended, and one with those takes its place.
 *
 * @module
 */

import { gatewayWorker } from "../authority/gateway_worker.ts";
import type { RunningGateway } from "../authority/run_gateway.ts";
import type { Log } from "../base/log.ts";
import type { Permission } from "../base/permission.ts";
import type { TriedSandboxes } from "../executor/tried_sandboxes.ts";
import { lockedPackages } from "../packages/locked_packages.ts";
import type { HomeLog } from "./open_log.ts";
import type { OwnOptions } from "./own_home.ts";

/** Starts gateways, one after the other. */
export interface GatewayLauncher {
  /** Says what gateways may touch, and where their log goes. The first one starts now, or runs already. */
  allow(table: readonly Permission[], log: HomeLog): Promise<void>;
  /** Resolves when the first one, with the permissions of the last start, is on its way, if there is one. */
  begun: Promise<unknown>;
  /** The first one, and then a new one each time. */
  run(): Promise<RunningGateway>;
  /** Whether one that dies is started again. */
  restarts: boolean;
  /** Ends what runs. */
  shutdown(): Promise<void>;
}

/** Starts a gateway. `logLine` takes the lines of its log. */
type Start = (
  table: readonly Permission[],
  logLine: (line: string) => void,
) => RunningGateway | Promise<RunningGateway>;

/** Makes it. */
export async function launchGateway(
  options: OwnOptions,
  machine: { denoDir: string | undefined; sandboxes: TriedSandboxes },
): Promise<GatewayLauncher> {
  const { paths, entry, stays = false } = options;
  // Where no gateway can write.
  const file = `${paths.keysDir}/${stays ? "gateway" : "command"}-permissions.json`;
  const opened = Promise.withResolvers<HomeLog>();
  /** Nothing that the first one says is lost, unless another takes its place. */
  const taken = Promise.withResolvers<HomeLog>();
  /** Workers; what ends processes knows its own. */
  const workers: RunningGateway[] = [];
  const processes = stays ? await openProcesses(options, machine, opened.promise) : undefined;
  const start: Start = processes?.start ?? ((table) => gatewayWorker(table, entry));
  const begin = async (...args: Parameters<Start>) => {
    const gateway = await start(...args);
    if (processes === undefined) workers.push(gateway);
    return gateway;
  };
  const last = await Deno.readTextFile(file).catch(() => undefined);
  let allowed: Parameters<Start>;
  let first: Promise<RunningGateway> | undefined;
  if (last !== undefined) {
    const logLine = (line: string) => void taken.promise.then((log) => log.logLine(line));
    first = Promise.resolve(last).then((text) => begin(JSON.parse(text), logLine));
  }
  const begun = first?.catch(() => {}) ?? Promise.resolve();
  return {
    begun,
    async allow(table, homeLog) {
      opened.resolve(homeLog);
      allowed = [table, homeLog.logLine];
      const text = JSON.stringify(table);
      if (text === last) return taken.resolve(homeLog);
      void first?.then(({ transport, kill }) => {
        transport.close();
        return kill();
      }, () => {});
      first = begin(...allowed);
      first.catch(() => {});
      // Without it the next start takes as long as this one.
      await Deno.writeTextFile(file, text, { mode: 0o600 }).catch(() => {});
    },
    run() {
      const running = first ?? begin(...allowed);
      first = undefined;
      return running;
    },
    restarts: stays,
    async shutdown() {
      if (processes !== undefined) return await processes.shutdown();
      await first?.catch(() => {});
      await Promise.all(workers.map((gateway) => gateway.kill()));
    },
  };
}

/** Starts gateways in processes of their own. */
async function openProcesses(
  { paths, env, entry }: OwnOptions,
  { denoDir, sandboxes }: { denoDir: string | undefined; sandboxes: TriedSandboxes },
  opened: Promise<HomeLog>,
): Promise<{ start: Start; shutdown(): Promise<void> }> {
  // Whoever has authority connects to nobody: what needs the network runs in other processes.
  Deno.permissions.revokeSync({ name: "net" });
  const { createGatewayExecutor, gatewayProcess } = await import("../authority/run_gateway.ts");
  const say = (level: keyof Log) => (...said: Parameters<Log["warning"]>) =>
    void opened.then(({ log }) => log[level](...said));
  const executor = createGatewayExecutor({
    cacheDir: `${paths.runDir}/child-cache`,
    sandboxes,
    log: { debug: say("debug"), info: say("info"), warning: say("warning"), error: say("error") },
  });
  const packages = lockedPackages(denoDir);
  const cacheDir = `${paths.runDir}/gateway-cache`;
  return {
    start: (table, logLine) =>
      gatewayProcess({ table, env, executor, packages, cacheDir, logLine, entry }),
    shutdown: () => executor.shutdown(),
  };
}
