/**
 * How a command reaches the service of its home: as a guest of the process that owns it, or by
 * owning it. The command does the same, and prints the same, either way.
 *
 * @module
 */

import type { OwnOptions } from "../lib/process/own_home.ts";
import type { OwnedHome } from "../lib/process/owned_home.ts";
import { realPathOf } from "../lib/base/real_path.ts";
import type { HomePaths } from "../lib/config/paths.ts";
import { ServiceError } from "../lib/base/errors.ts";
import { connectClient, type LocalClient } from "../lib/local/client.ts";
import { connectLocal, endpointAt } from "../lib/local/endpoint.ts";
import { EXIT, type Globals } from "./command.ts";
import { operateWith } from "./operator/operate_with.ts";
import { processOutput } from "./output.ts";
import { onStopSignals } from "./stop_signals.ts";
import { homePaths } from "./home_paths.ts";
import { VERSION } from "./version.ts";

/** How long a home may be neither free nor answering: its owner starts or leaves. */
const WAIT_MS = 35_000;

/** Options of {@linkcode OwnOptions} that follow from what every command is given. */
export function ownOptions(globals: Globals): OwnOptions {
  const out = processOutput();
  return {
    hinted: (line) => out.hinted(line),
    paths: homePaths(globals),
    version: VERSION,
    env: (name) => Deno.env.get(name),
    lastGood: globals.lastGood,
    logLevel: globals.verbose ? "debug" : undefined,
  };
}

/**
 * Gives `use` a connection to the service, starting it in this process if no other has the home; then
 * `operator` answers for this process's terminal.
 * Rejects with `home_busy` when the home's owner does not answer.
 */
export async function withService<T>(
  globals: Globals,
  use: (client: LocalClient, operator?: OwnedHome["operator"]) => Promise<T>,
  terminal: Pick<OwnOptions, "logTo" | "warn"> = {},
): Promise<T> {
  // The command tells its own failures; as a guest it would show none of the service's log.
  const options = {
    ...ownOptions(globals),
    api: false,
    warn: (text: string) => processOutput().note(`warning: ${text}`),
    ...terminal,
  };
  options.logLevel ??= "error";
  const giveUpAt = Date.now() + WAIT_MS;
  while (true) {
    // Asked first, as that takes a tenth of what it takes to own the home.
    const client = await connectLocal(endpointAt(options.paths.socket));
    if (client !== undefined) {
      try {
        await checkConfig(client, options.paths);
        return await use(client);
      } finally {
        client.close();
      }
    }
    const { ownHome } = await import("../lib/process/own_home.ts");
    const home = await ownHome(options);
    if (!("heldBy" in home)) return await useOwned(home, use);
    if (Date.now() > giveUpAt) {
      throw new ServiceError(
        "home_busy",
        `The process ${home.heldBy ?? "(unknown)"} owns ${options.paths.home} but does not answer`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** A configuration that was named applies to a service that starts, not to one that runs already. */
async function checkConfig(
  client: LocalClient,
  { home, configFile, configFrom }: HomePaths,
): Promise<void> {
  if (configFrom === "home") return;
  const { pid, config_file: running } = await operateWith(client)({ op: "service.status" });
  if (realPathOf(running) === realPathOf(configFile)) return;
  throw new ServiceError(
    "home_busy",
    `${configFrom} names ${configFile}, but the service that runs in ${home} (process ${pid}) ` +
      `was started with ${running}. Stop that service first, or leave ${configFrom} out`,
    { param: "config" },
  );
}

async function useOwned<T>(
  home: OwnedHome,
  use: (client: LocalClient, operator: OwnedHome["operator"]) => Promise<T>,
): Promise<T> {
  // A service that runs for one command ends in order when it is told to stop.
  let isStopping = false;
  using _signals = onStopSignals(["SIGTERM", "SIGHUP"], (signal) => {
    if (!isStopping) {
      isStopping = true;
      void home.leave({ graceMs: 0 }).finally(() => Deno.exit(EXIT.interrupted));
    } else if (signal !== "SIGHUP") Deno.exit(EXIT.interrupted);
  });
  const { drainTimeoutS } = home.loaded.config.agent;
  try {
    const client = await connectClient(home.authority.connectGuest());
    try {
      return await Promise.race([use(client, home.operator), home.authority.died]);
    } finally {
      client.close();
    }
  } finally {
    await home.leave({ graceMs: drainTimeoutS * 1_000, afterGuests: true }).finally(() =>
      home.flushLog()
    );
  }
}
