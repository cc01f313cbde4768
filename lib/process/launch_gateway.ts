/**
 * How a home starts its gateway: in a process of its own where the service stays, else in a Worker.
 *
 * @module
 */

import { gatewayWorker } from "../authority/gateway_worker.ts";
import type { RunningGateway } from "../authority/run_gateway.ts";
import type { Log } from "../base/log.ts";
import type { Permission } from "../base/permission.ts";
import type { TriedSandboxes } from "../executor/tried_sandboxes.ts";
import { lockedPackages } from "../packages/locked_packages.ts";
import type { OwnOptions } from "./own_home.ts";

/** Starts gateways, one after the other. */
export interface GatewayLauncher {
  run(): RunningGateway | Promise<RunningGateway>;
  /** Whether one that dies is started again. */
  restarts: boolean;
  /** Ends what runs. */
  shutdown(): Promise<void>;
}

/** Makes it. The first is started at once: it loads its modules while this process opens what it has to. */
export async function launchGateway(
  { paths, env, entry, stays }: OwnOptions,
  { table, denoDir, sandboxes, log, logLine }: {
    table: readonly Permission[];
    denoDir: string | undefined;
    sandboxes: TriedSandboxes;
    log: Log;
    logLine: (line: string) => void;
  },
): Promise<GatewayLauncher> {
  if (!stays) {
    const worker = gatewayWorker(table, entry);
    return { run: () => worker, restarts: false, shutdown: worker.kill };
  }
  // Whoever has authority connects to nobody: what needs the network runs in other processes.
  Deno.permissions.revokeSync({ name: "net" });
  const { createGatewayExecutor, gatewayProcess } = await import("../authority/run_gateway.ts");
  const executor = createGatewayExecutor({
    cacheDir: `${paths.runDir}/child-cache`,
    sandboxes,
    log,
  });
  const start = () =>
    gatewayProcess({
      table,
      env,
      executor,
      packages: lockedPackages(denoDir),
      cacheDir: `${paths.runDir}/gateway-cache`,
      logLine,
      entry,
    });
  let early: Promise<RunningGateway> | undefined = start();
  early.catch(() => {});
  return {
    run() {
      const running = early ?? start();
      early = undefined;
      return running;
    },
    restarts: true,
    shutdown: () => executor.shutdown(),
  };
}
