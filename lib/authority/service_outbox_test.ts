import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import type { ToService } from "./bridge.ts";
import { ServiceOutbox } from "./service_outbox.ts";

const MESSAGE = { id: "m", turnId: "t", channel: "telegram", chatId: "1", content: "hi" };
const LONG = { timeoutMs: 60_000 };

function connected(): { outbox: ServiceOutbox; sent: ToService[] } {
  const outbox = new ServiceOutbox();
  const sent: ToService[] = [];
  outbox.connect((message) => sent.push(message));
  return { outbox, sent };
}

Deno.test("enqueue() gives each message the answer that is its own", async () => {
  const { outbox, sent } = connected();
  const first = outbox.enqueue(MESSAGE, LONG);
  const second = outbox.enqueue({ ...MESSAGE, id: "n" }, LONG);
  assertEquals(sent, [
    { type: "enqueue", id: 1, message: MESSAGE },
    { type: "enqueue", id: 2, message: { ...MESSAGE, id: "n" } },
  ]);
  const answer = { repeated: false, channelEnabled: true };
  outbox.receive({ type: "enqueued", id: 2, result: answer });
  assertEquals(await second, answer);
  outbox.receive({
    type: "enqueued",
    id: 1,
    result: { error: { code: "overloaded", message: "full" } },
  });
  const error = await assertRejects(() => first, ServiceError, "full");
  assertEquals(error.code, "overloaded");
  // One that nobody asked for, and one that was answered already.
  for (const id of [2, 77]) outbox.receive({ type: "enqueued", id, result: answer });
});

Deno.test("enqueue() waits no longer than it is told, and takes a late answer for nothing", async () => {
  const { outbox } = connected();
  const error = await assertRejects(() => outbox.enqueue(MESSAGE, { timeoutMs: 1 }), ServiceError);
  assertEquals(error.code, "executor_fault");
  assertStringIncludes(error.message, "not known whether the message was queued");
  outbox.receive({ type: "enqueued", id: 1, result: { repeated: false, channelEnabled: true } });
});

Deno.test("close() fails what waits, and everything that comes", async () => {
  const { outbox, sent } = connected();
  const waiting = [outbox.enqueue(MESSAGE, LONG), outbox.enqueue(MESSAGE, LONG)];
  outbox.close("the service stopped");
  for (const each of waiting) {
    const error = await assertRejects(
      () => each,
      ServiceError,
      "the service stopped, so it is not",
    );
    assertEquals(error.code, "executor_fault");
  }
  const later = await assertRejects(() => outbox.enqueue(MESSAGE, LONG), ServiceError);
  assertEquals([later.code, sent.length], ["draining", 2]);
});

Deno.test("enqueue() rejects before there is a service, and when the port cannot take it", async () => {
  const error = await assertRejects(() => new ServiceOutbox().enqueue(MESSAGE, LONG), ServiceError);
  assertEquals(error.code, "draining");
  const outbox = new ServiceOutbox();
  outbox.connect(() => {
    throw new DOMException("could not be cloned", "DataCloneError");
  });
  await assertRejects(() => outbox.enqueue(MESSAGE, LONG), DOMException);
});

Deno.test("enqueue() bounds how many wait", async () => {
  const { outbox, sent } = connected();
  const waiting = Array.from({ length: 256 }, () => outbox.enqueue(MESSAGE, LONG));
  const error = await assertRejects(() => outbox.enqueue(MESSAGE, LONG), ServiceError);
  assertEquals([error.code, sent.length], ["overloaded", 256]);
  const answer = { repeated: false, channelEnabled: false };
  for (let id = 1; id <= 256; id++) outbox.receive({ type: "enqueued", id, result: answer });
  assertEquals((await Promise.all(waiting)).length, 256);
  const next = outbox.enqueue(MESSAGE, LONG);
  outbox.receive({ type: "enqueued", id: 257, result: answer });
  assertEquals(await next, answer);
});
