/** `service stop`: stops the service of the home. */

import { type Command, EXIT } from "../command.ts";
import { parseNumber } from "../typed_values.ts";
import { plural } from "../plural.ts";

const command: Command = {
  description:
    "Stops the service of this home, however it was started. Running turns may finish for " +
    "agent.drainTimeoutS seconds; then they are interrupted. Does nothing if no service is running.",
  examples: ["service stop", "service stop --timeout 120", "service stop --force"],
  options: [
    {
      name: "timeout",
      value: "SECONDS",
      summary: "How long to wait (agent.drainTimeoutS and 20 more)",
    },
    { name: "force", summary: "Interrupt running turns at once" },
  ],
  async run({ options, globals, out }) {
    const [{ homePaths }, { stopService }] = await Promise.all([
      import("../home_paths.ts"),
      import("../lifecycle/stop.ts"),
    ]);
    const paths = homePaths(globals);
    const timeoutS = parseNumber("timeout", options["timeout"], 0, 86_400);
    const force = options["force"] === true;
    const stopped = await stopService(paths, { timeoutS, force }, out);
    if (globals.json) out.json(stopped);
    else if (!stopped.wasRunning) out.note(`No service runs in ${paths.home}`);
    else out.note(endOf(stopped, force));
    return EXIT.done;
  },
};

/** What its end has interrupted. */
export function endOf({ interrupted }: { interrupted?: number }, force = false): string {
  if (interrupted === undefined) {
    return force
      ? "Stopped at once. Running turns were interrupted"
      : "Stopped. It is unknown whether turns were interrupted";
  }
  if (interrupted === 0) return "Stopped";
  return `Stopped. Interrupted ${plural(interrupted, "turn")}`;
}

export default command;
