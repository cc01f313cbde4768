/**
 * What models were used for, and what that cost by the prices of the configuration.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import type { Config } from "../config/schema.ts";
import type { Journal, UsageRow } from "../contract/journal.ts";
import { gatewayOperation } from "./operation.ts";
import { seenSession } from "./sessions/find_session.ts";

/** What these work on. */
export interface UsageParts {
  journal: Pick<Journal, "usage" | "usageOf" | "session">;
  /** Asked each time. */
  prices(): Config["prices"];
  /** Milliseconds since 1970. */
  now(): number;
}

const DAY_MS = 86_400_000;

/** Days that are shown unless others are asked for. */
const DEFAULT_DAYS = 30;

/** The built-in model costs nothing. */
const FREE: Config["prices"] = { offline: { input: 0, output: 0 } };

const DATE = "a day such as 2026-01-31";
const date = z.iso.date(DATE).optional();

/** Sessions that are asked for at once. */
const MAX_SESSIONS = 50;
const KEYS = `keys of 1 to ${MAX_SESSIONS} sessions`;

const tokens = {
  input_tokens: z.int(),
  cached_tokens: z.int().describe("Part of input_tokens that a provider's cache had."),
  output_tokens: z.int(),
  reasoning_tokens: z.int().describe("Part of output_tokens."),
  cost: z.number().optional()
    .describe("By the configured prices; absent where a model that was used has none."),
};
const totals = {
  turns: z.int().describe("Turns that were begun with the model."),
  ...tokens,
};
const usageRow = z.object({ name: z.string().describe("The day, model or channel."), ...totals });

/** Operations on usage. */
export const USAGE = {
  "usage.show": gatewayOperation({
    summary: "Show tokens, turns and cost by day, model or channel",
    scope: "read",
    command: "usage",
    input: z.object({
      from: date.describe("First day, UTC (default: 29 days before the last)."),
      to: date.describe("Last day, UTC (default: today)."),
      by: z.enum(["day", "model", "channel"], "day, model or channel").default("day")
        .describe("What each row is about: day, model or channel (default day)."),
    }),
    output: z.object({
      from: z.string(),
      to: z.string(),
      by: z.enum(["day", "model", "channel"]),
      rows: z.array(usageRow).describe("Days in their order; models and channels by tokens."),
      total: z.object(totals),
      unpriced: z.array(z.string()).describe("Models that were used and have no price."),
    }).describe("Usage of turns that have ended, also in sessions that were deleted since."),
    route: { method: "GET", path: "/api/webui/usage" },
    run({ by, ...given }, { journal, prices, now }) {
      const to = given.to === undefined ? now() : Date.parse(given.to);
      const from = given.from === undefined
        ? to - (DEFAULT_DAYS - 1) * DAY_MS
        : Date.parse(given.from);
      if (dayOf(from) > dayOf(to)) {
        const message = `from must not be after to: ${dayOf(from)} is after ${dayOf(to)}`;
        throw new ServiceError("invalid_request", message, { param: "from" });
      }
      const used = journal.usage(from, to);
      const priced = { ...FREE, ...prices() };
      const groups = Map.groupBy(used, (row) => by === "day" ? dayOf(row.day) : row[by]);
      const rows = [...groups].map(([name, rows]) => ({ name, ...sumOf(rows, priced) }));
      const size = (row: typeof rows[number]) => row.input_tokens + row.output_tokens;
      if (by !== "day") rows.sort((a, b) => size(b) - size(a) || (a.name < b.name ? -1 : 1));
      return {
        from: dayOf(from),
        to: dayOf(to),
        by,
        rows,
        total: sumOf(used, priced),
        unpriced: [
          ...new Set(
            used.filter((row) => costOf(row, priced) === undefined)
              .map(({ model }) => model),
          ),
        ].sort(),
      };
    },
  }),
  "usage.sessions": gatewayOperation({
    summary: "Show tokens and cost of sessions",
    scope: "read",
    input: z.object({
      key: z.array(z.string("a session's key"), KEYS).min(1, KEYS).max(MAX_SESSIONS, KEYS)
        .describe("Of each session."),
    }),
    output: z.object({ sessions: z.array(z.object({ key: z.string(), ...tokens })) })
      .describe("Usage of turns that have ended, of those sessions that the caller sees."),
    route: { method: "GET", path: "/api/webui/usage/sessions" },
    run({ key: keys }, { journal, prices }, { sees }) {
      const priced = { ...FREE, ...prices() };
      const found = keys.map((key) => seenSession(journal, key, sees));
      return {
        sessions: found.flatMap((session) =>
          session === undefined
            ? []
            : [{ key: session.key, ...tokensOf(journal.usageOf(session.id), priced) }]
        ),
      };
    },
  }),
};

function sumOf(rows: readonly UsageRow[], prices: Config["prices"]) {
  return {
    turns: rows.reduce((sum, { turns }) => sum + turns, 0),
    ...tokensOf(rows, prices),
  };
}

type Used = Pick<UsageRow, "model" | "usage">;

function tokensOf(rows: readonly Used[], prices: Config["prices"]) {
  const sum = (of: (row: Used) => number) => rows.reduce((sum, row) => sum + of(row), 0);
  const costs = rows.map((row) => costOf(row, prices));
  return {
    input_tokens: sum(({ usage }) => usage.inputTokens),
    cached_tokens: sum(({ usage }) => usage.cachedTokens),
    output_tokens: sum(({ usage }) => usage.outputTokens),
    reasoning_tokens: sum(({ usage }) => usage.reasoningTokens),
    ...!costs.includes(undefined) && { cost: costs.reduce<number>((sum, cost) => sum + cost!, 0) },
  };
}

/** Undefined where the model's price isn't known; what took no tokens costs nothing. */
function costOf({ model, usage }: Used, prices: Config["prices"]): number | undefined {
  const { inputTokens, cachedTokens, outputTokens } = usage;
  if (inputTokens + outputTokens === 0) return 0;
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (price === undefined) return undefined;
  const { input, output, cachedInput = input } = price;
  return ((inputTokens - cachedTokens) * input + cachedTokens * cachedInput +
    outputTokens * output) /
    1_000_000;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
