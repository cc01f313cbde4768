import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { ChannelStatus } from "../../channel/channel_status.ts";
import { ServiceError } from "../../base/errors.ts";
import { ManualClock } from "../../http/testing/manual_clock.ts";
import { openJournal } from "../../journal/open.ts";
import type { OutboxRow } from "../../contract/journal.ts";
import { createChannelOperations } from "./channel_operations.ts";
import { createOutbox } from "../../delivery/outbox.ts";

const DELIVERIES = { waiting: 0, retrying: 0, sent: 0, unknown: 0, dead: 0 };

function status(runtimeName: string, state: ChannelStatus["state"] = "running"): ChannelStatus {
  return {
    runtimeName,
    channel: runtimeName.split(".")[0]!,
    displayName: runtimeName,
    state,
    since: 1,
    restarts: 0,
    deliveries: DELIVERIES,
  };
}

function world(statuses = [status("irc"), status("irc.work", "off")]) {
  const clock = new ManualClock();
  const journal = openJournal({ path: ":memory:", now: () => 1_000 });
  const woken: string[] = [];
  const isEnabled = (name: string) => name === "websocket";
  const operations = createChannelOperations({
    statuses: () => statuses,
    outbox: createOutbox({
      journal,
      isEnabled,
      wake: (name, chat) => woken.push(`${name} ${chat}`),
    }),
    journal,
    isEnabled,
    scrub: (text) => text.replaceAll("hunter2-hunter2", "[secret]"),
    randomId: () => "1",
    clock,
  });
  const signal = new AbortController().signal;
  const send = (params: object) =>
    operations.channel_send(
      { runtimeName: "irc", chatId: "#room", text: "hi", waitMs: 10_000, ...params },
      signal,
    )[Symbol.asyncIterator]();
  return { clock, journal, woken, operations, signal, send };
}

async function next(rows: AsyncIterator<OutboxRow>): Promise<OutboxRow | undefined> {
  const { value, done } = await rows.next();
  return done ? undefined : value;
}

/** The next row, with time going on as long as there is none. */
async function later(rows: AsyncIterator<OutboxRow>, clock: ManualClock) {
  const waiting = next(rows);
  let settled = false;
  waiting.then(() => settled = true, () => settled = true);
  while (!settled) {
    clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return await waiting;
}

Deno.test("channels tells of every instance", async () => {
  const { operations, signal, journal } = world();
  const all = await Array.fromAsync(operations.channels({}, signal));
  assertEquals(all.map(({ runtimeName }) => runtimeName), ["irc", "irc.work"]);
  await journal.close();
});

Deno.test("channel_send tells what becomes of a message, to its end", async () => {
  const { clock, journal, woken, send } = world();
  const rows = send({ text: "my hunter2-hunter2" });
  const first = await next(rows);
  assertEquals([first!.state, first!.content, first!.id], ["pending", "my [secret]", "test:1"]);
  assertEquals(woken, ["irc #room"]);
  await journal.deliveries.claim("irc", "#room");
  assertEquals((await later(rows, clock))!.state, "sending");
  await journal.deliveries.settle(first!.rowid, {
    state: "pending",
    error: "not connected",
    notBefore: 1_000,
    counts: true,
  });
  assertEquals((await later(rows, clock))!.error, "not connected");
  await journal.deliveries.claim("irc", "#room");
  await journal.deliveries.settle(first!.rowid, { state: "sent" });
  const states = [];
  for (let row = await later(rows, clock); row !== undefined; row = await later(rows, clock)) {
    states.push(row.state);
  }
  assertEquals(states.at(-1), "sent");
  assertEquals(clock.timers, 0);
  await journal.close();
});

Deno.test("channel_send ends when its time is over, and says it in a chat of this service at once", async () => {
  const { clock, journal, send } = world();
  const rows = send({ waitMs: 1_000 });
  assertEquals((await next(rows))!.state, "pending");
  assertEquals(await later(rows, clock), undefined);
  assertEquals(clock.elapsed() >= 1_000, true);
  await journal.close();
  const chat = world();
  const said = await Array.fromAsync({
    [Symbol.asyncIterator]: () => chat.send({ runtimeName: "websocket", chatId: "abc" }),
  });
  assertEquals(said.map(({ state }) => state), ["sent"]);
  await chat.journal.close();
});

Deno.test("channel_send refuses what is off, unknown, or no message", async () => {
  const { journal, send } = world();
  const refused = async (params: object): Promise<[string, unknown]> => {
    const { code, details, message } = await assertRejects(() => next(send(params)), ServiceError);
    if (code === "not_found") assertStringIncludes(message, "there are irc, irc.work, websocket");
    return [code, details.param];
  };
  assertEquals(await refused({ runtimeName: "irc.work" }), ["not_enabled", undefined]);
  assertEquals(await refused({ runtimeName: "ircc" }), ["not_found", "runtimeName"]);
  for (const chatId of ["", "*", " ", "a\nb", "x".repeat(257)]) {
    assertEquals(await refused({ chatId }), ["invalid_request", "chatId"]);
  }
  for (const text of ["", "  ", "x".repeat(70_000)]) {
    assertEquals(await refused({ text }), ["invalid_request", "text"]);
  }
  assertEquals(await refused({ waitMs: -1 }), ["invalid_request", "waitMs"]);
  assertEquals(journal.outbox(0, 10), []);
  await journal.close();
});
