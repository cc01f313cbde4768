import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { openJournal } from "../../journal/open.ts";
import { connectClient } from "../../local/client.ts";
import type { Operation, Operations } from "../../local/protocol.ts";
import { type OperationHandlers, serveGuest } from "../../local/server.ts";
import { createOutboxOperations } from "./outbox_operations.ts";

/** A client of a service that has an outbox and nothing else. */
async function setUp(deps: { sayWaiting?: () => Promise<unknown> } = {}) {
  const journal = openJournal({ path: ":memory:" });
  const woken: string[] = [];
  const handlers = createOutboxOperations({
    journal,
    wake: (runtimeName, chatId) => void woken.push(`${runtimeName} ${chatId}`),
    ...deps,
  }) as OperationHandlers;
  const there = new TransformStream<Uint8Array, Uint8Array>();
  const back = new TransformStream<Uint8Array, Uint8Array>();
  const served = serveGuest({ readable: there.readable, writable: back.writable }, {
    handlers,
    version: "1",
  });
  const client = await connectClient({ readable: back.readable, writable: there.writable });
  const ask = <Op extends Operation>(op: Op, params: Operations[Op]["params"]) =>
    Array.fromAsync(client.request(op, params));
  return {
    journal,
    woken,
    ask,
    async [Symbol.asyncDispose]() {
      client.close();
      await served;
      await journal.close();
    },
  };
}

Deno.test("outbox lists what is asked for, page by page, over many that are not", async () => {
  await using world = await setUp();
  const { journal, ask } = world;
  await Promise.all(Array.from({ length: 1_000 }, (_, n) =>
    journal.enqueue({
      id: `m${n}`,
      channel: n % 400 === 0 ? "irc.b" : "irc",
      chatId: "#a",
      content: `${n}`,
    })));
  const first = await ask("outbox", { limit: 2, channel: "irc.b" });
  assertEquals(first.map(({ content }) => content), ["0", "400"]);
  const rest = await ask("outbox", { limit: 2, channel: "irc.b", after: first.at(-1)!.rowid });
  assertEquals(rest.map(({ content }) => content), ["800"]);
  assertEquals((await ask("outbox", { limit: 1_000 })).length, 1_000);
  assertEquals(await ask("outbox", { limit: 9, states: ["dead", "unknown"] }), []);
});

Deno.test("outbox_resend and outbox_drop decide, and wake what was held up", async () => {
  await using world = await setUp();
  const { journal, ask, woken } = world;
  for (const id of ["a", "b"]) {
    await journal.enqueue({ id, channel: "irc", chatId: `#${id}`, content: id });
    await journal.deliveries.claim("irc", `#${id}`);
  }
  await assertRejects(
    () => ask("outbox_drop", { message: 1 }),
    ServiceError,
    "Cannot drop the message 1: it is being sent",
  );
  await journal.deliveries.settle(1, { state: "unknown", error: "no answer" });
  await journal.deliveries.settle(2, { state: "dead", error: "gone" });
  const undecided = await ask("outbox", { limit: 9, states: ["dead", "unknown"] });
  assertEquals(undecided.map(({ state, error }) => [state, error]), [
    ["unknown", "no answer"],
    ["dead", "gone"],
  ]);
  assertEquals((await ask("outbox_resend", { message: 1 }))[0]!.state, "pending");
  assertEquals((await ask("outbox_drop", { message: 2 }))[0]!.state, "expired");
  assertEquals(woken, ["irc #a", "irc #b"]);
  await journal.deliveries.claim("irc", "#a");
  await journal.deliveries.settle(1, { state: "sent" });
  await assertRejects(
    () => ask("outbox_resend", { message: 1 }),
    ServiceError,
    "Cannot resend the message 1: it was sent",
  );
  for (const op of ["outbox_resend", "outbox_drop"] as const) {
    await assertRejects(() => ask(op, { message: 99 }), ServiceError, "There is no message 99");
    await assertRejects(() => ask(op, { message: 0 }), ServiceError, "message: ");
  }
  await assertRejects(
    () => ask("outbox", { limit: 9, states: ["gone" as "dead"] }),
    ServiceError,
    "states.0: ",
  );
});

Deno.test("outbox_resend of a message for a chat of this service says it, where chats run", async () => {
  let said = 0;
  const sayWaiting = () => Promise.resolve(++said);
  await using world = await setUp({ sayWaiting });
  const { journal, ask, woken } = world;
  await journal.enqueue({ id: "a", channel: "websocket", chatId: "c1", content: "hi" });
  await ask("outbox_drop", { message: 1 });
  assertEquals((await ask("outbox_resend", { message: 1 }))[0]!.state, "pending");
  assertEquals([said, woken], [1, ["websocket c1"]]);
});
