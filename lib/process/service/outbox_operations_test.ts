import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { openJournal } from "../../journal/open.ts";
import type { Params } from "../../local/protocol.ts";
import { openGuest } from "../../local/testing/open_guest.ts";
import { createOutboxOperations } from "./outbox_operations.ts";

/** A client of a service that has an outbox and nothing else. */
async function setUp(deps: { sayWaiting?: () => Promise<unknown> } = {}) {
  const journal = openJournal({ path: ":memory:" });
  const woken: string[] = [];
  const handlers = createOutboxOperations({
    journal,
    wake: (runtimeName, chatId) => void woken.push(`${runtimeName} ${chatId}`),
    ...deps,
  });
  const guest = await openGuest(handlers);
  const { client } = guest;
  return {
    journal,
    woken,
    client,
    list: (params: Params<"outbox">) => Array.fromAsync(client.stream("outbox", params)),
    async [Symbol.asyncDispose]() {
      await guest[Symbol.asyncDispose]();
      await journal.close();
    },
  };
}

Deno.test("outbox lists what is asked for, page by page, over many that are not", async () => {
  await using world = await setUp();
  const { journal, list } = world;
  await Promise.all(Array.from({ length: 1_000 }, (_, n) =>
    journal.enqueue({
      id: `m${n}`,
      channel: n % 400 === 0 ? "irc.b" : "irc",
      chatId: "#a",
      content: `${n}`,
    })));
  const first = await list({ limit: 2, channel: "irc.b" });
  assertEquals(first.map(({ content }) => content), ["0", "400"]);
  const rest = await list({ limit: 2, channel: "irc.b", after: first.at(-1)!.rowid });
  assertEquals(rest.map(({ content }) => content), ["800"]);
  assertEquals((await list({ limit: 1_000 })).length, 1_000);
  assertEquals(await list({ limit: 9, states: ["dead", "unknown"] }), []);
});

Deno.test("outbox_resend and outbox_drop decide, and wake what was held up", async () => {
  await using world = await setUp();
  const { journal, client, list, woken } = world;
  for (const id of ["a", "b"]) {
    await journal.enqueue({ id, channel: "irc", chatId: `#${id}`, content: id });
    await journal.deliveries.claim("irc", `#${id}`);
  }
  await assertRejects(
    () => client.call("outbox_drop", { message: 1 }),
    ServiceError,
    "Cannot drop the message 1: it is being sent",
  );
  await journal.deliveries.settle(1, { state: "unknown", error: "no answer" });
  await journal.deliveries.settle(2, { state: "dead", error: "gone" });
  const undecided = await list({ limit: 9, states: ["dead", "unknown"] });
  assertEquals(undecided.map(({ state, error }) => [state, error]), [
    ["unknown", "no answer"],
    ["dead", "gone"],
  ]);
  assertEquals((await client.call("outbox_resend", { message: 1 })).state, "pending");
  assertEquals((await client.call("outbox_drop", { message: 2 })).state, "expired");
  assertEquals(woken, ["irc #a", "irc #b"]);
  await journal.deliveries.claim("irc", "#a");
  await journal.deliveries.settle(1, { state: "sent" });
  await assertRejects(
    () => client.call("outbox_resend", { message: 1 }),
    ServiceError,
    "Cannot resend the message 1: it was sent",
  );
  for (const op of ["outbox_resend", "outbox_drop"] as const) {
    await assertRejects(
      () => client.call(op, { message: 99 }),
      ServiceError,
      "There is no message 99",
    );
    await assertRejects(() => client.call(op, { message: 0 }), ServiceError, "message: ");
  }
  await assertRejects(
    () => list({ limit: 9, states: ["gone" as "dead"] }),
    ServiceError,
    "states.0: ",
  );
});

Deno.test("outbox_resend of a message for a chat of this service says it, where chats run", async () => {
  let said = 0;
  const sayWaiting = () => Promise.resolve(++said);
  await using world = await setUp({ sayWaiting });
  const { journal, client, woken } = world;
  await journal.enqueue({ id: "a", channel: "websocket", chatId: "c1", content: "hi" });
  await client.call("outbox_drop", { message: 1 });
  assertEquals((await client.call("outbox_resend", { message: 1 })).state, "pending");
  assertEquals([said, woken], [1, ["websocket c1"]]);
});
