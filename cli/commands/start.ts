/** `service start`: the gateway in the background. */

import { ServiceError } from "../../lib/base/errors.ts";
import { parseNumber } from "../typed_values.ts";
import { type Command, EXIT, type Globals } from "../command.ts";
import { OPEN, openApp } from "../open_browser.ts";
import type { Output } from "../output.ts";

/** How long a start may take: the first one fetches packages. */
const START_S = 120;

/** Of every command that starts it. */
export const START_TIMEOUT = {
  name: "timeout",
  value: "SECONDS",
  summary: `How long to wait until it answers (${START_S})`,
};

const command: Command = {
  description:
    "Starts the service in the background, as service gateway runs it in the foreground, " +
    "and waits until it answers. Its log goes to logs/service.log in the home. Does nothing if the " +
    "service is already running.",
  examples: ["service start --open", "service start --json", "service start --config ./other.json"],
  options: [OPEN, START_TIMEOUT],
  async run({ options, globals, out }) {
    const timeoutS = timeoutOf(options);
    const [{ homePaths }, { findOwner }] = await Promise.all([
      import("../home_paths.ts"),
      import("../lifecycle/owner.ts"),
    ]);
    const paths = homePaths(globals);
    const owner = await findOwner(paths);
    if (owner.state === "running") {
      owner.client.close();
      if (globals.json) out.json({ started: false, pid: owner.pid });
      else out.note(`The service runs already (pid ${owner.pid})`);
      if (options["open"] === true) openApp(owner.status.ws_url, out);
      return EXIT.done;
    }
    if (owner.state !== "none") {
      if (owner.state === "command") owner.client.close();
      throw new ServiceError(
        "home_busy",
        `The process ${owner.pid ?? "(unknown)"} has ${paths.home} at the moment. ` +
          "See what it is with: service status",
      );
    }
    return await startAndTell(
      { args: gatewayArgs(globals), cwd: Deno.cwd(), timeoutS, opens: options["open"] === true },
      globals,
      out,
    );
  },
};

/** Starts it and prints where it is. */
export async function startAndTell(
  asked: { args: readonly string[]; cwd: string; timeoutS: number; opens?: boolean },
  globals: Globals,
  out: Output,
): Promise<typeof EXIT[keyof typeof EXIT]> {
  const [{ homePaths }, { startService }, { printRunning }] = await Promise.all([
    import("../home_paths.ts"),
    import("../lifecycle/start.ts"),
    import("../lifecycle/until_running.ts"),
  ]);
  const paths = homePaths(globals);
  const started = await startService(paths, asked, out);
  if (typeof started === "number") return started;
  await printRunning(started, paths, globals, out);
  if (asked.opens) openApp(started.status.ws_url, out);
  return EXIT.done;
}

/** The command line of a gateway with the same options of every command. */
export function gatewayArgs({ config, lastGood, verbose }: Globals): string[] {
  return [
    "gateway",
    ...config === undefined ? [] : ["--config", config],
    ...lastGood ? ["--last-good"] : [],
    ...verbose ? ["--verbose"] : [],
  ];
}

/** See {@linkcode START_TIMEOUT}. */
export function timeoutOf(
  options: Record<string, string | boolean | string[] | undefined>,
): number {
  return parseNumber("timeout", options["timeout"], 1, 3_600) ?? START_S;
}

export default command;
