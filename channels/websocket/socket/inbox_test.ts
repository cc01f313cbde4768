import { assertEquals } from "@std/assert";
import { Inbox, MAX_IN_HAND, MAX_IN_HAND_BYTES } from "./inbox.ts";

function make() {
  const calls: string[] = [];
  const inbox = new Inbox({
    pause: () => calls.push("pause"),
    resume: () => calls.push("resume"),
    fail: (error) => calls.push(`fail ${(error as Error).message}`),
  });
  return { calls, inbox };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("Inbox keeps what comes before there is a listener, and reads no further", () => {
  const { calls, inbox } = make();
  inbox.add({ text: "a" }, 1);
  inbox.add({ text: "b" }, 1);
  assertEquals(calls, ["pause"]);
  const heard: unknown[] = [];
  inbox.listen((message) => void heard.push(message));
  assertEquals(heard, [{ text: "a" }, { text: "b" }]);
  assertEquals(calls, ["pause", "resume"]);
  assertEquals(inbox.bytes, 0);
});

Deno.test("Inbox has so many messages worked on, pauses, and goes on in order when some are done", async () => {
  const { calls, inbox } = make();
  const heard: string[] = [];
  const works: (() => void)[] = [];
  inbox.listen((message) => {
    heard.push((message as { text: string }).text);
    return new Promise<void>((resolve) => works.push(resolve));
  });
  const names = Array.from({ length: MAX_IN_HAND + 3 }, (_, at) => `${at}`);
  for (const text of names) inbox.add({ text }, 2);
  assertEquals(heard, names.slice(0, MAX_IN_HAND));
  assertEquals([calls, inbox.bytes], [["pause"], 2 * names.length]);
  works.shift()!();
  await settled();
  assertEquals([heard.length, calls], [MAX_IN_HAND + 1, ["pause"]]);
  while (works.length > 0) {
    works.shift()!();
    await settled();
  }
  assertEquals([heard, calls, inbox.bytes], [names, ["pause", "resume"], 0]);
});

Deno.test("Inbox pauses for one message that is large", async () => {
  const { calls, inbox } = make();
  const work = Promise.withResolvers<void>();
  inbox.listen(() => work.promise);
  inbox.add({ text: "" }, MAX_IN_HAND_BYTES);
  assertEquals([calls, inbox.isPaused], [["pause"], true]);
  work.resolve();
  await settled();
  assertEquals([calls, inbox.isPaused, inbox.bytes], [["pause", "resume"], false, 0]);
});

Deno.test("Inbox tells of a listener that throws or rejects, and delivers nothing after its end", async () => {
  const { calls, inbox } = make();
  inbox.listen((message) => {
    if ("text" in message) throw new Error("thrown");
    return Promise.reject(new Error("rejected"));
  });
  inbox.add({ text: "" }, 1);
  inbox.add({ binary: new Uint8Array() }, 1);
  await settled();
  assertEquals(calls, ["fail thrown", "fail rejected"]);
  inbox.end();
  inbox.add({ text: "" }, 1);
  assertEquals([calls.length, inbox.bytes], [2, 0]);
});
