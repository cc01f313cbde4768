import { assertEquals } from "@std/assert";
import { EventQueue } from "./event_queue.ts";

Deno.test("EventQueue deals with events one after the other, in their order", async () => {
  const seen: string[] = [];
  const queue = new EventQueue<number>({
    handle: async (event) => {
      seen.push(`begin ${event}`);
      await Promise.resolve();
      seen.push(`end ${event}`);
    },
    onFull: () => {},
  });
  queue.push(1);
  queue.push(2);
  await queue.room();
  queue.push(3);
  await queue.room();
  assertEquals(seen, ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]);
});

Deno.test("EventQueue says that it is full, and keeps what it has", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen: number[] = [];
  let full = 0;
  const queue = new EventQueue<number>({
    maxEvents: 3,
    handle: async (event) => {
      await promise;
      seen.push(event);
    },
    onFull: () => full += 1,
  });
  for (let event = 0; event < 10; event += 1) queue.push(event);
  assertEquals(full, 7);
  resolve();
  await queue.room();
  assertEquals(seen, [0, 1, 2]);
});

Deno.test("EventQueue drops what waits when it is closed, and takes no more", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen: number[] = [];
  const queue = new EventQueue<number>({
    handle: async (event) => {
      await promise;
      seen.push(event);
    },
    onFull: () => {},
  });
  queue.push(1);
  queue.push(2);
  await Promise.resolve();
  const closed = queue.close();
  resolve();
  await closed;
  queue.push(3);
  await queue.room();
  assertEquals(seen, [1]);
});

Deno.test("EventQueue leaves out what the event right behind it says as well, and is not full of it", async () => {
  const seen: string[] = [];
  const queue = new EventQueue<string>({
    maxEvents: 3,
    handle: (event) => Promise.resolve(void seen.push(event)),
    onFull: () => seen.push("full"),
    replaces: (event, last) => event.startsWith("bare") && last.startsWith("bare"),
  });
  queue.push("one");
  for (let at = 0; at < 10; at += 1) queue.push(`bare ${at}`);
  queue.push("two");
  await queue.room();
  assertEquals(seen, ["one", "bare 9", "two"]);
});
