/**
 * The slash command of a bot, as Discord has it.
 *
 * @module
 */

import type { APIApplicationCommand } from "discord.js";
import type { DiscordApi } from "../rest/discord_api.ts";

/** CHAT_INPUT, and an option that is a text. */
const CHAT_INPUT = 1;
const STRING = 3;

const MAX_QUESTION_CHARS = 6_000;

/** How the command is to be. */
export interface CommandOptions {
  applicationId: string;
  /** Empty: there is to be none. */
  name: string;
  /** As it was called before; those go. */
  formerNames: readonly string[];
  description: string;
  optionDescription: string;
  /** Empty: on all servers and in direct messages. */
  servers: readonly string[];
}

/**
 * Has Discord have it; writes nothing where it does already, as writing is limited to 200 a day. Rejects
 * with the first problem, behind all servers.
 */
export async function registerCommand(
  api: Pick<DiscordApi, "commands" | "setCommand" | "deleteCommand">,
  options: CommandOptions,
): Promise<void> {
  const { applicationId, name, formerNames, servers } = options;
  const wanted = commandOf(options);
  const problems: unknown[] = [];
  for (const guildId of servers.length === 0 ? [undefined] : servers) {
    try {
      const known = await api.commands(applicationId, guildId);
      for (const former of known) {
        if (former.name === name || !formerNames.includes(former.name)) continue;
        await api.deleteCommand(applicationId, former.id, guildId);
      }
      const isThere = known.some((one) => isSame(one, wanted));
      if (name !== "" && !isThere) await api.setCommand(applicationId, wanted, guildId);
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) throw problems[0];
}

function commandOf({ name, description, optionDescription }: CommandOptions) {
  return {
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
}

function isSame(
  command: APIApplicationCommand,
  { name, type, description, options: [option] }: ReturnType<typeof commandOf>,
): boolean {
  return command.name === name && command.type === type && command.description === description &&
    isSameOption(command.options, option!);
}

function isSameOption(
  options: readonly unknown[] | undefined,
  wanted: Readonly<Record<string, unknown>>,
): boolean {
  const [option, ...more] = options ?? [];
  return more.length === 0 && typeof option === "object" && option !== null &&
    Object.entries(wanted).every(([key, value]) => (option as typeof wanted)[key] === value);
}
