/**
 * The section of the channel, and what is wrong with it.
 *
 * @module
 */

import type { PackageConfig } from "../../lib/channel/base_channel.ts";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { isReaction } from "./outbound/reactions.ts";

/** The section, as the manifest describes it. */
export interface TelegramConfig extends PackageConfig {
  token: string;
  apiUrl: string;
  mode: "polling" | "webhook";
  webhookUrl: string;
  webhookHost: string;
  webhookPort: number;
  webhookSecret: string;
  respond: "mention" | "all";
  /** Where an answer quotes the message that it answers. */
  quote: "groups" | "always" | "never";
  ackReaction: string;
  language: string;
}

const WITHOUT_URL = "webhookUrl is not set: expected an address such as " +
  "https://bot.example.com/telegram";
const WITHOUT_HOST = "webhookHost is not set: expected the address to listen at, such as 127.0.0.1";

/** What is wrong and needs no look at Telegram; no value of a secret stands in it. */
export function problemsOf(
  values: Readonly<Record<string, unknown>>,
): (SetupFinding & { level: "error"; field: string })[] {
  const found: [field: string, message: string | undefined][] = [
    ["token", tokenProblem(text(values.token))],
    ["ackReaction", reactionProblem(text(values.ackReaction))],
    ...values.mode === "webhook"
      ? [
        ["webhookUrl", text(values.webhookUrl) === "" ? WITHOUT_URL : undefined],
        ["webhookHost", text(values.webhookHost) === "" ? WITHOUT_HOST : undefined],
        ["webhookSecret", secretProblem(text(values.webhookSecret))],
      ] as [string, string | undefined][]
      : [],
  ];
  return found.flatMap(([field, message]) =>
    message === undefined ? [] : [{ level: "error", field, message }]
  );
}

/** It stands in addresses. */
function tokenProblem(token: string): string | undefined {
  if (/^\d{1,20}:[\w-]{20,100}$/.test(token)) return undefined;
  return "token is none that @BotFather gives: expected a number, a colon and letters, such as " +
    "123456789:AAF…";
}

function reactionProblem(reaction: string): string | undefined {
  if (reaction === "" || isReaction(reaction)) return undefined;
  return `ackReaction is ${JSON.stringify(reaction.slice(0, 40))}: expected one of Telegram's ` +
    "reactions, such as 👀, 👌 or 👍, or nothing";
}

function secretProblem(secret: string): string | undefined {
  if (/^[\w-]{16,256}$/.test(secret)) return undefined;
  return "webhookSecret is too short or has other characters: expected 16 to 256 of A-Z, a-z, " +
    "0-9, _ and -";
}

function text(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}
