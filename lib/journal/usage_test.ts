import { assertEquals } from "@std/assert";
import type { Usage } from "../contract/events.ts";
import type { Journal } from "../contract/journal.ts";
import { openJournal } from "./open.ts";
import { begin, crashCopy, ending, newTurn, withFolder } from "./testing/steps.ts";

const DAY_MS = 86_400_000;

function used(inputTokens: number, outputTokens = 0): Usage {
  return { inputTokens, outputTokens, reasoningTokens: 1, cachedTokens: 2 };
}

function rowsOf(journal: Journal, from = 0, to = 9 * DAY_MS) {
  return journal.usage(from, to).map(({ day, channel, model, turns, usage }) => [
    day / DAY_MS,
    channel,
    model,
    turns,
    usage.inputTokens,
    usage.outputTokens,
    usage.cachedTokens,
  ]);
}

Deno.test("usage() adds up turns that have ended, by day, channel and the model that answered", async () => {
  let now = DAY_MS;
  const journal = openJournal({ path: ":memory:", now: () => now });
  await begin(journal, "a");
  await journal.append("a", [
    { type: "usage", model: "test/model", usage: used(10, 5) },
    { type: "usage", model: "test/model", usage: used(20, 5) },
    { type: "usage", model: "test/other", usage: used(7) },
  ]);
  assertEquals(rowsOf(journal), []);
  now = 2 * DAY_MS - 1;
  await journal.end("a", ending());
  now = 2 * DAY_MS;
  for (const [id, channel] of [["b", "test"], ["c", "api"], ["d", "test"]] as const) {
    await begin(journal, id, { channel });
    await journal.append(id, [{ type: "usage", model: "test/model", usage: used(1) }]);
    await journal.end(id, ending("failed", true));
  }
  // It never asked a model.
  await journal.accept(newTurn("e"));
  await journal.end("e", ending("cancelled"));
  const rows = [
    [1, "test", "test/model", 1, 30, 10, 4],
    [1, "test", "test/other", 0, 7, 0, 2],
    [2, "api", "test/model", 1, 1, 0, 2],
    [2, "test", "test/model", 2, 2, 0, 4],
  ];
  assertEquals(rowsOf(journal), rows);
  assertEquals(rowsOf(journal, 2 * DAY_MS + 5, 2 * DAY_MS + 6), rows.slice(2));
  const { id } = journal.session("test:a")!;
  assertEquals(
    journal.usageOf(id).map(({ model, usage: { inputTokens, cachedTokens } }) => [
      model,
      inputTokens,
      cachedTokens,
    ]),
    [["test/model", 30, 4], ["test/other", 7, 2]],
  );
  assertEquals(journal.usageOf(id + 1_000), []);
  await journal.deleteSession("test:a");
  assertEquals(rowsOf(journal), rows);
  await journal.close();
});

Deno.test("usage() counts a turn once that a crash cut off", () =>
  withFolder(async (folder) => {
    const journal = openJournal({ path: `${folder}/a.db`, now: () => DAY_MS });
    await begin(journal, "a", { durable: true });
    await journal.append("a", [{ type: "usage", model: "test/model", usage: used(10) }], "full");
    crashCopy(`${folder}/a.db`, `${folder}/b.db`);
    await journal.close();
    const copy = openJournal({ path: `${folder}/b.db`, now: () => DAY_MS });
    await copy.recover();
    await copy.start("a");
    await copy.append("a", [
      { type: "turn_start", model: "test/model" },
      { type: "usage", model: "test/model", usage: used(5) },
    ]);
    await copy.end("a", ending());
    assertEquals(rowsOf(copy), [[1, "test", "test/model", 1, 15, 0, 4]]);
    await copy.close();
  }));
