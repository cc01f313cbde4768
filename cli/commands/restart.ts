/** `service restart`: stops the service and starts it again as it was started. */

import { ServiceError } from "../../lib/base/errors.ts";
import { type Command, EXIT, type ExitCode, type Globals } from "../command.ts";
import type { Keeper } from "../lifecycle/keeper.ts";
import type { Output } from "../output.ts";
import { gatewayArgs, START_TIMEOUT, startAndTell, timeoutOf } from "./start.ts";
import { endOf } from "./stop.ts";

const command: Command = {
  description:
    "Stops the service, as service stop does, and starts it again the way it was started: in the " +
    "background with the same arguments, or by its service manager. Starts it if none is running. " +
    "Leaves a service in a terminal, or one that only root may start, alone and prints how to restart it.",
  examples: ["service restart", "service restart --json"],
  options: [START_TIMEOUT],
  async run({ options, globals, out }) {
    const timeoutS = timeoutOf(options);
    const [{ homePaths }, { findOwner }, { keeperOf, startCommand }, { stopService }] =
      await Promise
        .all([
          import("../home_paths.ts"),
          import("../lifecycle/owner.ts"),
          import("../lifecycle/keeper.ts"),
          import("../lifecycle/stop.ts"),
        ]);
    const paths = homePaths(globals);
    const owner = await findOwner(paths);
    if (owner.state === "running" || owner.state === "command") owner.client.close();
    if (owner.state === "none") {
      const { last } = owner;
      out.note("No service runs. Starting it");
      const isBackground = last?.log !== undefined && globals.config === undefined;
      const args = isBackground ? last.args : gatewayArgs(globals);
      const cwd = isBackground ? last.cwd : Deno.cwd();
      return await startAndTell({ args, cwd, timeoutS }, globals, out);
    }
    const keeper = await keeperOf(owner.pid, owner.state === "command" ? undefined : owner.record);
    const startAgain = startCommand(keeper);
    const isElsewhere = keeper.kind !== "background" && startAgain === undefined;
    if (owner.state !== "command" && owner.record !== undefined && isElsewhere) {
      throw new ServiceError("conflict", `${whereItRuns(keeper, owner.pid)}. Nothing was stopped`);
    }
    const stopped = await stopService(paths, { force: false }, out);
    if (startAgain !== undefined) {
      if (stopped.wasRunning) out.note(endOf(stopped));
      return await startUnderManager(startAgain, { timeoutS }, globals, out);
    }
    const { args, cwd } = owner.state !== "command" && owner.record !== undefined
      ? owner.record
      : { args: gatewayArgs(globals), cwd: Deno.cwd() };
    if (stopped.wasRunning) out.note(endOf(stopped));
    return await startAndTell({ args, cwd, timeoutS }, globals, out);
  },
};

async function startUnderManager(
  command: readonly string[],
  { timeoutS }: { timeoutS: number },
  globals: Globals,
  out: Output,
): Promise<ExitCode> {
  const [{ homePaths }, { runAll, runCommand }, { printRunning, untilRunning }] = await Promise.all(
    [
      import("../home_paths.ts"),
      import("../service_manager/install_service.ts"),
      import("../lifecycle/until_running.ts"),
    ],
  );
  const paths = homePaths(globals);
  await runAll([command], runCommand);
  await printRunning(await untilRunning(paths, { timeoutS }), paths, globals, out);
  return EXIT.done;
}

/** And how it is restarted there. */
function whereItRuns(keeper: Keeper, pid: number | undefined): string {
  if (keeper.kind === "systemd") {
    return `The service (pid ${pid}) runs under systemd. ` +
      `Restart it with: sudo systemctl restart ${keeper.unit}`;
  }
  const where = keeper.kind === "foreground" && keeper.terminal !== undefined
    ? ` of ${keeper.terminal}`
    : "";
  return `The service (pid ${pid}) runs in the foreground${where}. ` +
    "Press Ctrl-C there and start it again, or move it to the background with: " +
    "service stop && service start";
}

export default command;
