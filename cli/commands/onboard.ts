/**
 * `service onboard`: a first configuration.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { type Command, EXIT, type ExitCode } from "../command.ts";
import { processConfirm } from "../confirm.ts";
import type { ChannelDefaults } from "../onboard/add_channels.ts";
import { createDialogue, DialogueEndedError } from "../onboard/dialogue.ts";

const command: Command = {
  description:
    "Creates a first configuration: the model, the workspace folder and settings of channels. It " +
    "offers API keys from the environment, as references, and model servers on this machine. With " +
    "--yes it takes the first it finds. An existing configuration is kept and only completed, unless " +
    "you choose otherwise or pass --force.",
  examples: ["service onboard", "service onboard --yes", "service onboard --yes --force"],
  options: [
    { name: "yes", summary: "Ask nothing and take the first match" },
    { name: "force", summary: "Replace an existing configuration; a copy is kept" },
  ],
  async run({ options, globals, out }): Promise<ExitCode> {
    const terminal = processConfirm(out);
    if (options["yes"] !== true && !terminal.isTerminal) {
      throw new ServiceError(
        "usage",
        "service onboard asks questions, and there is no terminal to ask at: add --yes",
        { param: "yes" },
      );
    }
    const [{ homePaths }, { onboard }, { printOnboarded }] = await Promise.all([
      import("../home_paths.ts"),
      import("../onboard/onboard.ts"),
      import("../onboard/print.ts"),
    ]);
    try {
      const done = await onboard({
        paths: homePaths(globals),
        env: (name) => Deno.env.get(name),
        fetch,
        channels: await channelDefaults(),
        force: options["force"] === true,
        dialogue: options["yes"] === true ? undefined : createDialogue(out, terminal),
      });
      printOnboarded(out, done, globals.json);
      return EXIT.done;
    } catch (error) {
      if (!(error instanceof DialogueEndedError)) throw error;
      out.note("Nothing was written");
      return EXIT.interrupted;
    }
  },
};

/** What can be set of each channel; one that is broken is left out, and `service doctor` names it. */
async function channelDefaults(): Promise<ChannelDefaults> {
  const [{ CHANNELS }, { openRegistry }, { defaultSections }] = await Promise.all([
    import("../../channels/mod.ts"),
    import("../../lib/registry/open_registry.ts"),
    import("../../lib/registry/channel_defaults.ts"),
  ]);
  return defaultSections(await openRegistry(CHANNELS));
}

export default command;
