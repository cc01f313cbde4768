/**
 * The cost of a turn over HTTP in a session with 5,000 earlier turns, beside one with 10.
 *
 * The earlier turns are written straight into the journal. What a model is given is bounded, so the
 * sessions are compared with the same context, ten messages that a summary stands before; and once
 * as they are, where the long one's context is as long as the agent's own bounds leave it.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/history.ts [--json]`
 *
 * @module
 */

import { NO_USAGE } from "../lib/contract/events.ts";
import { openJournal } from "../lib/journal/open.ts";
import type { Journal } from "../lib/contract/journal.ts";
import { addPastTurns } from "../tests/support/past_turns.ts";
import { startModel, startService } from "./processes.ts";
import { type Figure, median, report } from "./report.ts";

const SHORT = 10;
const LONG = 5_000;
const KEPT_MESSAGES = 10;
const TURNS = 100;

/** Has a last turn of the session leave a summary and ten messages in its context. */
async function compact(journal: Journal, session: string): Promise<void> {
  const id = `${session}-compact`;
  await journal.accept({
    id,
    sessionKey: `api:${session}`,
    channel: "api",
    actor: "api:anonymous",
    input: [{ type: "text", text: "Go on." }],
    durable: false,
  });
  await journal.start(id);
  const context = journal.context(journal.session(`api:${session}`)!.id);
  await journal.compact(id, "They spoke of the weather.", context.at(-KEPT_MESSAGES)!.id);
  await journal.end(id, {
    event: { type: "turn_end", status: "done", finishReason: "stop", usage: NO_USAGE },
    forget: false,
  });
}

async function prepare(database: string): Promise<void> {
  const journal = openJournal({ path: database });
  for (const kind of ["bounded", "whole"]) {
    for (const turns of [SHORT, LONG]) {
      await addPastTurns(journal, {
        sessionKey: `api:${kind}-${turns}`,
        turns,
        input: (n) => `What is the weather like on day ${n}?`,
        answer: () => Array.from({ length: 10 }, () => "hi"),
      });
      if (kind === "bounded") await compact(journal, `${kind}-${turns}`);
    }
  }
  await journal.close();
}

/** Milliseconds of a turn. */
async function turn(api: string, session: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${api}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      messages: [{ role: "user", content: "hi" }],
      session_id: session,
    }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return performance.now() - startedAt;
}

await using model = await startModel(10);
await using service = await startService(model.line, { prepare });
const figures: Figure[] = [];
for (const kind of ["bounded", "whole"]) {
  const times = new Map([SHORT, LONG].map((turns): [number, number[]] => [turns, []]));
  // The first turns compile, and compact the longer context.
  for (let n = 0; n < 30; n++) {
    for (const turns of times.keys()) await turn(service.url, `${kind}-${turns}`);
  }
  for (let n = 0; n < TURNS; n++) {
    for (const [turns, samples] of times) samples.push(await turn(service.url, `${kind}-${turns}`));
  }
  const short = median(times.get(SHORT)!);
  figures.push({
    name: `turn after ${LONG}, ${kind === "bounded" ? "the same context" : "its own context"}`,
    value: median(times.get(LONG)!),
    against: { name: `after ${SHORT}, ${short.toFixed(2)} ms`, value: short },
    unit: "ms",
    ...kind === "bounded" && { aim: { atMost: 1.2 } },
  });
}
const met = report("a turn in a long session", figures, { json: Deno.args.includes("--json") });
Deno.exitCode = met ? 0 : 1;
