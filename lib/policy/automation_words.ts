/**
 * An automation in words: when, what, how much and to whom, for whoever approves it.
 *
 * @module
 */

import type { Automation, Schedule } from "../contract/automation.ts";

/** Its parts, each by what it is. Nothing in it was made visible yet. */
export function automationFacts(
  { schedule, delivery, missed, retries, overlap, maxSteps, tokenBudget }: Automation,
): string[] {
  return [
    `when: ${scheduleWords(schedule)}`,
    `answers: ${delivery === undefined ? "stay in its history" : deliveryWords(delivery)}`,
    `a run: at most ${tokenBudget} tokens and ${maxSteps} model calls, ${retries} retries`,
    `missed slots: ${missed}; overlapping ones: ${overlap}`,
  ];
}

/** When it runs. */
export function scheduleWords({ at, every, cron, timeZone }: Schedule): string {
  if (at !== undefined) return `once, at ${at}`;
  return every !== undefined ? `every ${every} s` : `cron ${cron} in ${timeZone}`;
}

/** Where answers go. */
export function deliveryWords(
  { when, channel, chatId }: NonNullable<Automation["delivery"]>,
): string {
  const which = { always: "each", change: "those that differ", error: "failures alone" }[when];
  return `${which} to ${channel}:${chatId}`;
}
