/**
 * `service completions`: scripts that make a shell complete this program's words.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { type Command, EXIT } from "../command.ts";
import type { ShellCommand } from "../completions/shell_tables.ts";

/** Each shell's script, loaded when it is asked for. */
const SHELLS: Readonly<Record<string, () => Promise<(commands: ShellCommand[]) => string>>> = {
  bash: async () => (await import("../completions/bash.ts")).bashScript,
  zsh: async () => (await import("../completions/zsh.ts")).zshScript,
  fish: async () => (await import("../completions/fish.ts")).fishScript,
};

const completions: Command = {
  description: "Prints a completion script for your shell to load when it starts.",
  examples: [
    "source <(service completions bash)",
    "service completions zsh > ~/.zfunc/_service",
    "service completions fish > ~/.config/fish/completions/service.fish",
  ],
  subcommands: Object.keys(SHELLS).map((name) => ({
    name,
    summary: `Print the script for ${name}`,
  })),
  options: [],
  async run({ subcommand, out }) {
    if (subcommand === undefined) {
      const names = Object.keys(SHELLS).join(", ");
      throw new ServiceError("usage", `Which shell? service completions takes one of ${names}`);
    }
    const { COMMANDS } = await import("../commands.ts");
    const { loadShellCommands } = await import("../completions/shell_tables.ts");
    const script = await SHELLS[subcommand]!();
    out.write(script(await loadShellCommands(COMMANDS)));
    return EXIT.done;
  },
};

export default completions;
