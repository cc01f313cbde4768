/** `service logs`: the log of the service. */

import { ServiceError } from "../../lib/base/errors.ts";
import { parseNumber, parseTime } from "../typed_values.ts";
import { type Command, EXIT } from "../command.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { jsonLine } from "../output.ts";

const DEFAULT_LINES = 100;

const command: Command = {
  description:
    "Prints the log of a service in the background, logs/service.log in the home, or the file of " +
    "log.file. Without that setting, a service in a terminal or under systemd logs there instead.",
  examples: [
    "service logs",
    "service logs -f",
    "service logs -n 20 --since 1h",
    "service logs --json",
  ],
  options: [
    { name: "follow", alias: "f", summary: "Keep printing new lines, until Ctrl-C" },
    {
      name: "lines",
      alias: "n",
      value: "COUNT",
      summary: `Last lines to print (${DEFAULT_LINES})`,
    },
    {
      name: "since",
      value: "TIME",
      summary: "Only lines since then: 30s, 15m, 2h or 7d ago, or a date such as 2030-01-31T12:00Z",
    },
  ],
  async run({ options, globals, out }) {
    const since = parseTime("since", options["since"], Date.now());
    const count = parseNumber("lines", options["lines"], 0, 1_000_000) ??
      (since === undefined ? DEFAULT_LINES : 1_000_000);
    const [{ homePaths }, { followLines, isSince, lastLines, toJson }] = await Promise.all([
      import("../home_paths.ts"),
      import("../lifecycle/log_lines.ts"),
    ]);
    const file = await findLogFile(homePaths(globals));
    const print = (line: Parameters<typeof toJson>[0]) =>
      out.stream(globals.json ? jsonLine(toJson(line)) + "\n" : `${line.text}\n`);
    try {
      const { lines, end } = await lastLines(file, { count, since });
      for (const line of lines) await print(line);
      if (options["follow"] !== true) return EXIT.done;
      for await (const line of followLines(file, end)) if (isSince(line, since)) await print(line);
    } catch (cause) {
      if (!(cause instanceof Deno.errors.PermissionDenied)) throw cause;
      const message = `Can't read the log ${file}: ${cause.message}`;
      throw new ServiceError("invalid_request", message, {}, { cause });
    }
    return EXIT.done;
  },
};

/** The file that the service logs to, or did. Throws `not_found`, saying where else it logs. */
async function findLogFile(paths: HomePaths): Promise<string> {
  const [{ findOwner }, { keeperOf, logPlace }, { serviceLog }] = await Promise.all([
    import("../lifecycle/owner.ts"),
    import("../lifecycle/keeper.ts"),
    import("../../lib/config/paths.ts"),
  ]);
  const owner = await findOwner(paths);
  if (owner.state === "running" || owner.state === "command") owner.client.close();
  if (owner.state === "running" || owner.state === "stopping" || owner.state === "silent") {
    const keeper = await keeperOf(owner.pid, owner.record);
    if (keeper.log !== undefined) return keeper.log;
    const where = keeper.kind === "systemd"
      ? `See it with: ${logPlace(keeper)}`
      : `Its log goes to ${logPlace(keeper)}`;
    throw new ServiceError(
      "not_found",
      `The service (pid ${owner.pid}) doesn't run in the background. ${where}`,
    );
  }
  const last = owner.state === "none" ? owner.last : undefined;
  const file = last?.logFile ?? serviceLog(paths);
  if (await Deno.stat(file).then(() => false, isMissing)) {
    throw new ServiceError(
      "not_found",
      `No log in ${paths.home} yet. Start the service in the background with: service start`,
    );
  }
  return file;
}

function isMissing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound;
}

export default command;
