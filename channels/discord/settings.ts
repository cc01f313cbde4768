/**
 * The section of a bot, checked.
 *
 * @module
 */

import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, refuseErrors } from "../../lib/channel/setup/findings.ts";
import { isSnowflake } from "./rest/discord_api.ts";

export interface DiscordSettings {
  token: string;
  /** Without the version. */
  apiUrl: string;
  respond: "mention" | "all";
  threads: boolean;
  ackReaction: string;
  slashCommand: string;
  slashServers: readonly string[];
  language: string;
}

type Section = Readonly<Record<string, unknown>>;

/** What is wrong in a section, without asking Discord. */
export function problemsOf(section: Section): SetupFinding[] {
  const problems: SetupFinding[] = [];
  const wrong = (field: string, expected: string) => {
    const shown = field === "token" ? "wrong" : JSON.stringify(section[field])?.slice(0, 80);
    problems.push(error(field, `${field} is ${shown}: expected ${expected}`));
  };
  // What a person copies beside it would be sent as a header that is none.
  if (/\s/.test(tokenOf(section))) wrong("token", "the token alone, without blanks");
  if (!/^(?:[^\s/?#]{0,20}|\w{2,32}:\d{17,20})$/u.test(text(section.ackReaction))) {
    wrong("ackReaction", "an emoji, or name:id of one of a server");
  }
  const command = text(section.slashCommand);
  if (!/^[-_\p{L}\p{N}]{0,32}$/u.test(command) || command !== command.toLowerCase()) {
    wrong("slashCommand", "1 to 32 small letters, digits, - and _");
  }
  const servers = section.slashServers ?? [];
  if (!Array.isArray(servers) || !servers.every(isSnowflake)) {
    wrong("slashServers", "ids of servers, each of 17 to 20 digits");
  }
  return problems;
}

/** The settings. Throws `config_invalid`, naming the field. */
export function discordSettings(section: Section): DiscordSettings {
  refuseErrors(problemsOf(section));
  return {
    token: tokenOf(section),
    apiUrl: text(section.apiUrl),
    respond: section.respond === "all" ? "all" : "mention",
    threads: section.threads === "on",
    ackReaction: text(section.ackReaction),
    slashCommand: text(section.slashCommand),
    slashServers: section.slashServers as string[] ?? [],
    language: text(section.language),
  };
}

function tokenOf({ token }: Section): string {
  return text(token).trim().replace(/^Bot\s+/, "");
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
