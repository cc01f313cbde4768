/**
 * `service reload`: has a running service read its configuration again.
 *
 * @module
 */

import type { LocalClient } from "../../lib/local/client.ts";
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { operateWith } from "../operator/operate_with.ts";

/** What the command reaches outside of itself. */
export interface ReloadDeps {
  withRunningService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
}

/** Runs the command. */
export async function runReload(
  { globals, out }: Invocation,
  { withRunningService }: ReloadDeps,
): Promise<ExitCode> {
  const reloaded = await withRunningService(
    globals,
    (client) => operateWith(client)({ op: "settings.reload" }),
  );
  const { live, waiting, problem } = reloaded;
  if (globals.json) out.json(reloaded);
  else if (problem !== undefined) {
    out.note({ text: problem, style: "red" });
    out.note("The service goes on with the configuration that it had");
  } else {
    if (live.length > 0) out.note(`In force now: ${live.join(", ")}`);
    if (waiting.length > 0) {
      out.note(`After a restart: ${waiting.join(", ")}. Restart with: service restart`);
    }
    if (live.length + waiting.length === 0) out.note("Nothing has changed");
  }
  return problem === undefined ? EXIT.done : EXIT.config;
}

const reload: Command = {
  description:
    "Has the running service read its configuration again. What can change live does; for the rest " +
    "it names the keys that wait for a restart. A broken file changes nothing, and its problem is " +
    "printed. A running service also notices edits by itself, so this is for scripts and service " +
    "managers that want to know what came of it.",
  examples: ["service reload", "service reload --json"],
  options: [],
  run: (invocation) =>
    runReload(invocation, {
      withRunningService: async (globals, use) =>
        (await import("../operator/running_service.ts"))
          .withRunningService(globals, "there is none that could read its configuration", use),
    }),
};

export default reload;
