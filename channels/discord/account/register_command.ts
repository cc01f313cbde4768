/**
 * The slash command of a bot, as Discord has it.
 *
 * @module
 */

import type { DiscordApi } from "../rest/discord_api.ts";

/** CHAT_INPUT, and an option that is a text. */
const CHAT_INPUT = 1;
const STRING = 3;

const MAX_QUESTION_CHARS = 6_000;

/** How the command is to be. */
export interface CommandOptions {
  applicationId: string;
  name: string;
  description: string;
  optionDescription: string;
  /** Empty: on all servers and in direct messages. */
  servers: readonly string[];
}

/** Has Discord have it; writes nothing where it does already, as writing is limited to 200 a day. */
export async function registerCommand(
  api: Pick<DiscordApi, "commands" | "setCommand">,
  { applicationId, name, description, optionDescription, servers }: CommandOptions,
): Promise<void> {
  const wanted = {
    name,
    type: CHAT_INPUT,
    description: description.slice(0, 100),
    options: [{
      type: STRING,
      name: "text",
      description: optionDescription.slice(0, 100),
      required: true,
      max_length: MAX_QUESTION_CHARS,
    }],
  };
  for (const guildId of servers.length === 0 ? [undefined] : servers) {
    const known = await api.commands(applicationId, guildId);
    const same = known.some((command) =>
      command.name === wanted.name && command.type === wanted.type &&
      command.description === wanted.description &&
      isSameOption(command.options, wanted.options[0]!)
    );
    if (!same) await api.setCommand(applicationId, wanted, guildId);
  }
}

function isSameOption(
  options: readonly unknown[] | undefined,
  wanted: Readonly<Record<string, unknown>>,
): boolean {
  const [option, ...more] = options ?? [];
  return more.length === 0 && typeof option === "object" && option !== null &&
    Object.entries(wanted).every(([key, value]) => (option as typeof wanted)[key] === value);
}
