/** `service status`: whether the service of the home runs, and how it is. */

import { type Command, EXIT, type ExitCode, type Globals } from "../command.ts";
import type { Owner } from "../lifecycle/owner.ts";
import type { Output } from "../output.ts";

/** As systemctl(1) has it. */
const NOT_RUNNING: ExitCode = 3;

const command: Command = {
  description:
    "Shows whether the service of this home runs, since when, where it listens, what it " +
    "works on, how its channels are, and which health checks fail. Exits with 0 when it runs and " +
    "answers, and with 3 when it does not.",
  examples: ["service status", "service status --json"],
  options: [],
  async run({ globals, out }) {
    const [{ homePaths }, { findOwner }] = await Promise.all([
      import("../home_paths.ts"),
      import("../lifecycle/owner.ts"),
    ]);
    const paths = homePaths(globals);
    const owner = await findOwner(paths);
    if (owner.state !== "running") return printOther(out, owner, paths.home, globals);
    const [{ describe, printDescribed }, { VERSION }] = await Promise.all([
      import("../lifecycle/describe.ts"),
      import("../version.ts"),
    ]);
    try {
      const described = await describe(owner, paths);
      if (globals.json) out.json(described);
      else printDescribed(out, described, { nowMs: Date.now(), ownVersion: VERSION });
    } finally {
      owner.client.close();
    }
    return EXIT.done;
  },
};

/** It does not run, or does not answer. */
function printOther(
  out: Output,
  owner: Exclude<Owner, { state: "running" }>,
  home: string,
  { json }: Globals,
): ExitCode {
  if (owner.state === "command") owner.client.close();
  const pid = owner.state === "none" ? undefined : owner.pid;
  if (json) {
    out.json({
      state: owner.state === "none" ? "stopped" : owner.state,
      running: false,
      home,
      pid,
    });
    return NOT_RUNNING;
  }
  for (const line of wordsOf(owner, home)) out.line(line);
  return NOT_RUNNING;
}

function wordsOf(owner: Exclude<Owner, { state: "running" }>, home: string): string[] {
  const process = owner.state === "none" || owner.pid === undefined ? "" : ` (pid ${owner.pid})`;
  switch (owner.state) {
    case "none": {
      const { last } = owner;
      const crashed = last !== undefined && last.stoppedAt === undefined
        ? [`The last one (pid ${last.pid}) ended without stopping in order`]
        : [];
      return [`No service runs in ${home}. Start it with: service start`, ...crashed];
    }
    case "command":
      return [`No service runs in ${home}. A command${process} uses it at the moment`];
    case "starting":
      return [
        `Another process${process} has just taken ${home}: a service starts, or a command runs`,
      ];
    case "stopping":
      return [`The service${process} is stopping`];
    case "silent":
      return [
        `The service${process} runs, but doesn't answer. See its log with: service logs`,
        "To end it: service stop --force",
      ];
  }
}

export default command;
