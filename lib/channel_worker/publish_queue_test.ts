import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import { MAX_PUBLISHING } from "./protocol.ts";
import { MAX_PUBLISHING_PER_CHAT, PublishQueue } from "./publish_queue.ts";
import { rounds } from "../../tests/support/rounds.ts";

/** Lets everything that is ready go on. */
const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

Deno.test("PublishQueue.run() keeps order in a chat and its bounds, and loses nothing", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.nat()), { maxLength: 300 }),
      async (messages) => {
        const queue = new PublishQueue();
        const begun = new Map<string, number[]>();
        const open: (() => void)[] = [];
        const under = new Map<string, number>();
        const all = messages.map(([chat], at) =>
          queue.run({ chat, chars: 1 }, async () => {
            begun.set(chat, [...begun.get(chat) ?? [], at]);
            under.set(chat, (under.get(chat) ?? 0) + 1);
            assert(queue.underWay <= MAX_PUBLISHING);
            assert(under.get(chat)! <= MAX_PUBLISHING_PER_CHAT);
            await new Promise<void>((resolve) => open.push(resolve));
            under.set(chat, under.get(chat)! - 1);
          })
        );
        const order = messages.map(([, number]) => number);
        for (let at = 0; open.length > 0 || at === 0; at++) {
          await settle();
          open.splice((order[at % order.length] ?? 0) % (open.length || 1), 1)[0]?.();
        }
        await Promise.all(all);
        assertEquals(queue.underWay, 0);
        for (const chat of begun.keys()) {
          const sent = messages.flatMap(([name], at) => (name === chat ? [at] : []));
          assertEquals(begun.get(chat), sent);
        }
      },
    ),
    { numRuns: rounds(20) },
  );
});

Deno.test("PublishQueue.run() lets another chat pass one that has too much to do", async () => {
  const queue = new PublishQueue();
  const never = new Promise<void>(() => {});
  for (let at = 0; at < 1_000; at++) void queue.run({ chat: "flood", chars: 1 }, () => never);
  await queue.run({ chat: "calm", chars: 1 }, () => Promise.resolve());
  assertEquals(queue.underWay, MAX_PUBLISHING_PER_CHAT);
});

Deno.test("PublishQueue.run() says when a runtime that waits for nothing has too much", async () => {
  const queue = new PublishQueue();
  const never = new Promise<void>(() => {});
  const chars = 16 * 1024 * 1024 - 1_024;
  for (let at = 0; at < MAX_PUBLISHING_PER_CHAT + 4; at++) {
    void queue.run({ chat: "a", chars }, () => never);
  }
  await assertRejects(
    () => queue.run({ chat: "a", chars }, () => never),
    ServiceError,
    "wait for publish",
  );
});
