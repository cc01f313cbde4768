import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import type { ChannelStatus } from "../channel/channel_status.ts";
import { createOutbox } from "../delivery/outbox.ts";
import { openJournal } from "../journal/open.ts";
import type { GatewayOperationName, OperationRequest, OperationResult } from "./operations.ts";
import { runOperation } from "./testing/gateway_parts.ts";

function status(runtimeName: string, state: ChannelStatus["state"] = "running"): ChannelStatus {
  return {
    runtimeName,
    channel: runtimeName.split(".")[0]!,
    displayName: runtimeName,
    state,
    since: 1,
    restarts: 0,
    deliveries: { waiting: 0, retrying: 0, sent: 0, unknown: 0, dead: 0 },
  };
}

/** A service that has an outbox, two channels, and chats of its own where `chats`. */
function setUp({ chats = false } = {}) {
  const journal = openJournal({ path: ":memory:", now: () => 1_700_000_000_500 });
  const woken: string[] = [];
  const isEnabled = (name: string) => chats && name === "websocket";
  const wake = (runtimeName: string, chatId: string) => void woken.push(`${runtimeName} ${chatId}`);
  const parts = {
    journal,
    outbox: createOutbox({ journal, isEnabled, wake }),
    wake,
    isEnabled,
    scrub: (text: string) => text.replaceAll("hunter2-hunter2", "[secret]"),
    randomId: () => "1",
    channels: {
      status: () => [status("irc"), status("irc.work", "off")],
      answerMissed: () => Promise.reject(new Error("nobody asks")),
      verify: () => Promise.reject(new Error("nobody asks")),
    },
  };
  return {
    journal,
    woken,
    parts,
    ask: <Name extends GatewayOperationName>(
      request: OperationRequest<Name>,
    ): Promise<OperationResult<Name>> => runOperation<Name>(request, parts),
    [Symbol.asyncDispose]: () => journal.close(),
  };
}

Deno.test("outbox.list has what is asked for, page by page, over many that are not", async () => {
  await using world = setUp();
  const { journal, ask } = world;
  await Promise.all(Array.from({ length: 1_000 }, (_, n) =>
    journal.enqueue({
      id: `m${n}`,
      channel: n % 400 === 0 ? "irc.b" : "irc",
      chatId: "#a",
      content: `${n}`,
    })));
  const textsOf = ({ messages }: OperationResult<"outbox.list">) =>
    messages.map(({ text }) => text);
  const first = await ask({ op: "outbox.list", limit: 2, channel: "irc.b" });
  assertEquals([textsOf(first), first.after], [["0", "400"], 401]);
  const rest = await ask({ op: "outbox.list", limit: 2, channel: "irc.b", after: first.after });
  assertEquals([textsOf(rest), rest.after], [["800"], undefined]);
  assertEquals(textsOf(await ask({ op: "outbox.list" })).length, 50);
  const all = await ask({ op: "outbox.list", limit: 1_000 });
  assertEquals([textsOf(all).length, all.after], [1_000, undefined]);
  assertEquals(textsOf(await ask({ op: "outbox.list", state: ["dead", "unknown"] })), []);
});

Deno.test("outbox.list leaves out what was sent, unless it is asked for", async () => {
  await using world = setUp();
  const { journal, ask } = world;
  await journal.enqueue({
    id: "a",
    channel: "irc",
    chatId: "#a",
    content: "hi",
    turnId: undefined,
  });
  await journal.deliveries.claim("irc", "#a");
  await journal.deliveries.settle(1, { state: "sent" });
  assertEquals(await ask({ op: "outbox.list" }), { messages: [] });
  const sent: OperationResult<"outbox.get"> = {
    id: 1,
    channel: "irc",
    chat_id: "#a",
    text: "hi",
    files: [],
    state: "sent",
    partial: false,
    attempts: 1,
    created_at: 1_700_000_000,
    expires_at: 1_700_086_400,
  };
  for (const state of ["sent", "all"] as const) {
    const { messages: [row] } = await ask({ op: "outbox.list", state: [state] });
    assertEquals(row, sent);
  }
  assertEquals(await ask({ op: "outbox.get", id: 1 }), sent);
});

Deno.test("outbox.resend and outbox.drop decide, and wake what was held up", async () => {
  await using world = setUp();
  const { journal, ask, woken } = world;
  for (const id of ["a", "b"]) {
    await journal.enqueue({ id, channel: "irc", chatId: `#${id}`, content: id });
    await journal.deliveries.claim("irc", `#${id}`);
  }
  await assertRejects(
    () => ask({ op: "outbox.drop", id: 1 }),
    ServiceError,
    "Cannot drop the message 1: it is being sent",
  );
  await journal.deliveries.settle(1, { state: "unknown", error: "no answer" });
  await journal.deliveries.settle(2, { state: "dead", error: "gone" });
  const { messages } = await ask({ op: "outbox.list", state: ["dead", "unknown"] });
  assertEquals(messages.map(({ state, error }) => [state, error]), [
    ["unknown", "no answer"],
    ["dead", "gone"],
  ]);
  assertEquals((await ask({ op: "outbox.resend", id: 1 })).state, "pending");
  assertEquals((await ask({ op: "outbox.drop", id: 2 })).state, "expired");
  assertEquals(woken, ["irc #a", "irc #b"]);
  await journal.deliveries.claim("irc", "#a");
  await journal.deliveries.settle(1, { state: "sent" });
  await assertRejects(
    () => ask({ op: "outbox.resend", id: 1 }),
    ServiceError,
    "Cannot resend the message 1: it was sent",
  );
  for (const op of ["outbox.get", "outbox.resend", "outbox.drop"] as const) {
    await assertRejects(() => ask({ op, id: 99 }), ServiceError, "There is no message 99");
    await assertRejects(
      () => ask({ op, id: 0 }),
      ServiceError,
      "id must be a whole number of at least 1",
    );
  }
});

Deno.test("outbox.resend of a message for a chat of this service says it, where chats run", async () => {
  await using world = setUp({ chats: true });
  const { journal, ask, woken } = world;
  await journal.enqueue({ id: "a", channel: "websocket", chatId: "c1", content: "hi" });
  await ask({ op: "outbox.drop", id: 1 });
  assertEquals((await ask({ op: "outbox.resend", id: 1 })).state, "pending");
  assertEquals((await ask({ op: "outbox.get", id: 1 })).state, "sent");
  assertEquals(woken, ["websocket c1"]);
});

Deno.test("outbox.send queues a message without secrets, and says it in a chat of this service at once", async () => {
  await using world = setUp({ chats: true });
  const { ask, woken } = world;
  const send = (channel: string, chat_id: string, text: string) =>
    ask({ op: "outbox.send", channel, chat_id, text });
  const row = await send("irc", "#room", "my hunter2-hunter2");
  assertEquals([row.id, row.state, row.text], [1, "pending", "my [secret]"]);
  assertEquals(woken, ["irc #room"]);
  await using other = setUp({ chats: true });
  const said = await other.ask({
    op: "outbox.send",
    channel: "websocket",
    chat_id: "abc",
    text: "hi",
  });
  assertEquals(said.state, "sent");
});

Deno.test("outbox.send refuses what is off, unknown, or no message", async () => {
  await using world = setUp();
  const { ask, journal } = world;
  const refused = async (given: object) => {
    const { code, details, message } = await assertRejects(
      () => ask({ op: "outbox.send", channel: "irc", chat_id: "#room", text: "hi", ...given }),
      ServiceError,
    );
    if (code === "not_found") assertStringIncludes(message, "there are irc, irc.work, websocket");
    return [code, details.param];
  };
  assertEquals(await refused({ channel: "irc.work" }), ["not_enabled", undefined]);
  assertEquals(await refused({ channel: "websocket" }), ["not_enabled", undefined]);
  assertEquals(await refused({ channel: "ircc" }), ["not_found", "channel"]);
  for (const chat_id of ["", "*", " ", "a\nb", "x".repeat(257)]) {
    assertEquals(await refused({ chat_id }), ["invalid_request", "chat_id"]);
  }
  for (const text of ["", "  ", "x".repeat(70_000)]) {
    assertEquals(await refused({ text }), ["invalid_request", "text"]);
  }
  assertEquals(journal.outbox(0, 10), []);
  const nowhere = { ...world.parts, channels: undefined };
  const error = await assertRejects(
    () => runOperation({ op: "outbox.send", channel: "irc", chat_id: "#a", text: "hi" }, nowhere),
    ServiceError,
  );
  assertEquals(error.code, "not_enabled");
});
