/**
 * How an {@linkcode Automation} is written. The shape alone;
 * {@linkcode checkAutomation} makes the checks that concern several fields or the time.
 *
 * @module
 */

import { z } from "zod";
import { isChannelName, isChatId } from "../base/chat_address.ts";
import { CHAT_CHANNEL, chatOfSession } from "../contract/chat_session.ts";
import { CRON_FORM, MAX_CRON_CHARS } from "./cron_series.ts";

/** Shortest and longest period of `every`, seconds: nothing more often than each minute. */
const MIN_EVERY_S = 60;
const MAX_EVERY_S = 366 * 24 * 60 * 60;

/** Each message says what is expected; the field and its value are put before it. */
const integer = (min: number, max: number) => {
  const error = `an integer from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};
const text = (max: number, what: string) => {
  const error = `${what} of 1 to ${max} characters`;
  return z.string({ error }).max(max, { error }).refine(isText, { error });
};
const choice = <const T extends readonly [string, ...string[]]>(choices: T) =>
  z.enum(choices, { error: `one of ${choices.join(", ")}` });

const AT_FORM = "an instant with its offset, such as 2026-03-01T08:30:00Z";

/** When an automation is due: exactly one of at, every and cron; a zone with cron. */
const scheduleSchema = z.strictObject({
  at: z.iso.datetime({ offset: true, error: AT_FORM }).max(40, { error: AT_FORM }).optional()
    .describe("An instant (ISO 8601 with Z or an offset); it runs once"),
  every: integer(MIN_EVERY_S, MAX_EVERY_S).optional()
    .describe("Period in seconds, counted from the automation's creation"),
  cron: z.string({ error: CRON_FORM }).max(MAX_CRON_CHARS, { error: CRON_FORM }).optional()
    .describe("Five fields: minute hour day month weekday, in local time"),
  timeZone: z.string({ error: "a zone of the IANA database, such as Europe/Berlin" }).optional()
    .describe("Zone of the IANA database for cron"),
}, { error: "an object with one of at, every, or cron and timeZone" });

/** Where the answer goes. */
const deliverySchema = z.strictObject({
  when: choice(["always", "change", "error"]).default("always")
    .describe("Each answer, one that differs from the last, or failures alone"),
  channel: z.string({ error: "a channel's name, such as telegram" })
    .refine(isChannelName, { error: "a channel's name, such as telegram" }),
  chatId: z.string({ error: "a chat's id" }).refine(isChatId, { error: "a chat's id" }),
}, { error: "an object with channel and chatId" }).refine(
  ({ channel, chatId }) =>
    channel !== CHAT_CHANNEL || chatOfSession(`${CHAT_CHANNEL}:${chatId}`) !== undefined,
  { path: ["chatId"], error: "a chat of this service, 1 to 64 of A-Z a-z 0-9 _ : -" },
);

/** An automation as it is written. */
export const automationSchema = z.strictObject({
  name: text(100, "a name").refine((name) => !/\p{C}/u.test(name), {
    error: "a name of 1 to 100 characters, all of them visible",
  }).describe("For people"),
  message: text(100_000, "a message").describe("What the agent is told at each run"),
  schedule: scheduleSchema,
  missed: choice(["skip", "once", "all"]).default("once").describe(
    "Slots that passed while nothing ran: none, the newest, or the newest 100",
  ),
  tokenBudget: integer(1_000, 100_000_000).default(200_000).describe("Tokens that a run may use"),
  maxSteps: integer(1, 1_000).default(50).describe("Model calls that a run may make"),
  delivery: deliverySchema.optional().describe("Without it, answers stay in the history"),
  retries: integer(0, 10).default(0).describe("Further attempts after a run that failed"),
  overlap: choice(["skip", "queue"]).default("skip").describe(
    "A slot that comes while an earlier run goes on",
  ),
  enabled: z.boolean({ error: "true or false" }).default(true),
}, { error: "an object with name, message and schedule" });

/** SQLite and a wire keep it as it is, and a person sees something. */
function isText(value: string): boolean {
  return value.trim() !== "" && value.isWellFormed() && !value.includes("\0");
}
