/**
 * The section of a bot, checked.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
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

/** What is wrong with a field. */
export interface SettingsProblem {
  field: string;
  message: string;
}

type Section = Readonly<Record<string, unknown>>;

/** What is wrong in a section, without asking Discord. */
export function problemsOf(section: Section): SettingsProblem[] {
  const problems: SettingsProblem[] = [];
  const wrong = (field: string, expected: string) => {
    const shown = field === "token" ? "wrong" : JSON.stringify(section[field])?.slice(0, 80);
    problems.push({ field, message: `${field} is ${shown}: expected ${expected}` });
  };
  // What a person copies beside it would be sent as a header that is none.
  if (/\s/.test(tokenOf(section))) wrong("token", "the token alone, without blanks");
  const url = text(section.apiUrl);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    wrong("apiUrl", "a URL such as https://discord.com/api");
  } else if (/[?#]/.test(url)) wrong("apiUrl", "a URL without ? and #");
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
  const [problem] = problemsOf(section);
  if (problem !== undefined) {
    throw new ServiceError("config_invalid", `channels.discord: ${problem.message}`);
  }
  return {
    token: tokenOf(section),
    apiUrl: text(section.apiUrl).replace(/\/+$/, ""),
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
