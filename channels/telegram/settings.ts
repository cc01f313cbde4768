/**
 * The section of the channel, and what is wrong with it.
 *
 * @module
 */

import type { SectionOf } from "../../lib/channel/base_channel.ts";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { error } from "../../lib/channel/setup/findings.ts";
import type manifest from "./manifest.ts";

/** The section, as the manifest describes it. */
export type TelegramConfig = SectionOf<typeof manifest>;

type Rule = readonly [field: string, form: RegExp, message: string];

const RULES: readonly Rule[] = [
  // It stands in addresses.
  [
    "token",
    /^\d{1,20}:[\w-]{20,100}$/,
    "token is none that @BotFather gives: expected a number, a colon and letters, such as 123456789:AAF…",
  ],
];

const WEBHOOK_RULES: readonly Rule[] = [
  [
    "webhookUrl",
    /./,
    "webhookUrl is not set: expected an address such as https://bot.example.com/telegram",
  ],
  ["webhookHost", /./, "webhookHost is not set: expected the address to listen at, as 127.0.0.1"],
  [
    "webhookSecret",
    /^[\w-]{16,256}$/,
    "webhookSecret is too short or has other characters: expected 16 to 256 of A-Z, a-z, 0-9, _ and -",
  ],
];

/** What is wrong and needs no look at Telegram; no value of a secret stands in it. */
export function problemsOf(values: Readonly<Record<string, unknown>>): SetupFinding[] {
  const rules = values.mode === "webhook" ? [...RULES, ...WEBHOOK_RULES] : RULES;
  return rules.filter(([field, form]) => !form.test(String(values[field]).trim()))
    .map(([field, , message]) => error(field, message));
}
