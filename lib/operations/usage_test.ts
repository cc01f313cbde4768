import { assertEquals, assertRejects } from "@std/assert";
import { configSchema } from "../config/schema.ts";
import { ServiceError } from "../base/errors.ts";
import { runOperation } from "./testing/gateway_parts.ts";

const TODAY = Date.UTC(2026, 1, 1, 12);
const row = (day: string, channel: string, model: string, input: number, cached = 0) => ({
  day: Date.parse(day),
  channel,
  model,
  turns: 1,
  usage: { inputTokens: input, outputTokens: 1_000_000, reasoningTokens: 3, cachedTokens: cached },
});

function show(given: object = {}, prices: object = {}) {
  const asked: string[] = [];
  const answer = runOperation({ op: "usage.show", ...given }, {
    journal: {
      usage(from: number, to: number) {
        asked.push(...[from, to].map((ms) => new Date(ms).toISOString().slice(0, 10)));
        return [
          row("2026-01-30", "api", "a/big", 2_000_000, 1_000_000),
          row("2026-01-30", "cli", "b/small", 5),
          row("2026-02-01", "cli", "offline", 9),
        ];
      },
    } as never,
    prices: () => configSchema.parse({ prices }).prices,
    now: () => TODAY,
  });
  return { answer, asked };
}

Deno.test("usage.show adds up by day, model or channel, of the last 30 days unless others are asked for", async () => {
  const { answer, asked } = show();
  const { rows, total, ...head } = await answer;
  assertEquals(asked, ["2026-01-03", "2026-02-01"]);
  assertEquals(head, {
    from: "2026-01-03",
    to: "2026-02-01",
    by: "day",
    unpriced: ["a/big", "b/small"],
  });
  assertEquals(rows.map(({ name, turns, input_tokens: tokens }) => [name, turns, tokens]), [
    ["2026-01-30", 2, 2_000_005],
    ["2026-02-01", 1, 9],
  ]);
  assertEquals(total.turns, 3);
  for (
    const [by, names] of [["model", ["a/big", "offline", "b/small"]], ["channel", ["api", "cli"]]]
  ) assertEquals((await show({ by }).answer).rows.map(({ name }) => name), names);
  const some = show({ from: "2026-01-05", to: "2026-01-06" });
  await some.answer;
  assertEquals(some.asked, ["2026-01-05", "2026-01-06"]);
});

Deno.test("usage.show has a cost where every model has a price, and nowhere else", async () => {
  const big = { "a/big": { input: 1, output: 10 } };
  const costs = async (prices: object) => {
    const { rows, total } = await show({ by: "model" }, prices).answer;
    return [...rows, total].map(({ cost }) => cost);
  };
  assertEquals(await costs({}), [undefined, 0, undefined, undefined]);
  assertEquals(await costs(big), [12, 0, undefined, undefined]);
  const all = {
    "a/big": { ...big["a/big"], cachedInput: 0.5 },
    "b/small": { input: 0, output: 0 },
  };
  assertEquals(await costs(all), [11.5, 0, 0, 11.5]);
});

Deno.test("usage.show names what is wrong with the days", async () => {
  for (
    const [given, param] of [
      [{ from: "2026-02-30" }, "from"],
      [{ to: "yesterday" }, "to"],
      [{ from: "2026-02-02" }, "from"],
      [{ by: "week" }, "by"],
    ] as const
  ) {
    const { details } = await assertRejects(() => show(given).answer, ServiceError);
    assertEquals(details.param, param);
  }
});

Deno.test("usage.sessions has tokens and cost of the sessions that a caller sees, and leaves out others", async () => {
  const owner = "ab".repeat(16);
  const own = `websocket:${owner}.a`;
  const used = row("2026-01-30", "", "a/big", 2_000_000);
  const answer = await runOperation(
    { op: "usage.sessions", key: [own, "cli:a", "cli:none"] },
    {
      journal: {
        session: (key: string) => key === "cli:none" ? undefined : { key, id: 7 },
        usageOf: () => [used, { ...used, model: "offline" }],
      } as never,
      prices: () => configSchema.parse({ prices: { "a/big": { input: 1, output: 0 } } }).prices,
    },
    undefined,
    { owner },
  );
  assertEquals(answer.sessions, [{
    key: own,
    input_tokens: 4_000_000,
    cached_tokens: 0,
    output_tokens: 2_000_000,
    reasoning_tokens: 6,
    cost: 2,
  }]);
});
