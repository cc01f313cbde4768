import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../errors.ts";
import { createOutbox } from "./outbox.ts";

const MESSAGE = { id: "m", turnId: "t", channel: "telegram", chatId: "1", content: "hi" };

Deno.test("enqueue() puts the message on record and says whether its channel runs", async () => {
  const enabled = new Set(["telegram"]);
  const ids: string[] = [];
  const outbox = createOutbox({
    journal: { enqueue: ({ id }) => Promise.resolve(!ids.includes(id) && ids.push(id) > 0) },
    isEnabled: (channel) => enabled.has(channel),
  });
  assertEquals(await outbox.enqueue(MESSAGE), { repeated: false, channelEnabled: true });
  assertEquals(await outbox.enqueue(MESSAGE), { repeated: true, channelEnabled: true });
  enabled.clear();
  const next = { ...MESSAGE, id: "n" };
  assertEquals(await outbox.enqueue(next), { repeated: false, channelEnabled: false });
  assertEquals(ids, ["m", "n"]);
});

Deno.test("enqueue() judges the channel once the message is on record", async () => {
  let running = true;
  const outbox = createOutbox({
    journal: {
      enqueue: () => {
        running = false;
        return Promise.resolve(true);
      },
    },
    isEnabled: () => running,
  });
  assertEquals((await outbox.enqueue(MESSAGE)).channelEnabled, false);
});

Deno.test("enqueue() rejects with what the journal rejects with", async () => {
  const full = new ServiceError("overloaded", "10,000 messages wait");
  const outbox = createOutbox({
    journal: { enqueue: () => Promise.reject(full) },
    isEnabled: () => true,
  });
  assertEquals(await assertRejects(() => outbox.enqueue(MESSAGE), ServiceError), full);
});
