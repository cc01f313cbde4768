import { assertEquals } from "@std/assert";
import type { Durability } from "../contract/journal.ts";
import { Recorder } from "./recorder.ts";
import { fakeClock } from "./testing/fake_clock.ts";

/** A recorder, and what it writes: types and durability, a write each. */
function recording({ isFollowed }: { isFollowed: boolean }) {
  const written: [types: string, durability: Durability | undefined][] = [];
  const recorder = new Recorder({
    journal: {
      append(_, events, durability) {
        written.push([events.map(({ type }) => type).join(), durability]);
        return Promise.resolve(written.length);
      },
      addMessage: () => Promise.resolve(),
      isFollowed: () => isFollowed,
    },
    turn: { id: "t", sessionId: 1, durable: false },
    clock: fakeClock(),
    onFailure: () => {},
  });
  return { recorder, written };
}

const text = { type: "text_delta", streamId: "t", text: "x" } as const;
const thought = { type: "reasoning_delta", streamId: "r", text: "x" } as const;
const thoughtEnd = { type: "reasoning_end", streamId: "r" } as const;

Deno.test("say() writes the first piece of a followed stream at once, and paces the others", async () => {
  const { recorder, written } = recording({ isFollowed: true });
  for (const event of [thought, thought, thoughtEnd, text, text]) recorder.say(event);
  await recorder.settled();
  assertEquals(written, [
    ["reasoning_delta", undefined],
    ["reasoning_delta", "paced"],
    ["reasoning_end", undefined],
    ["text_delta", undefined],
    ["text_delta", "paced"],
  ]);
});

Deno.test("sayAll() writes what came together with one write, at once if any of it may not wait", async () => {
  const { recorder, written } = recording({ isFollowed: true });
  recorder.sayAll([text, text]);
  recorder.sayAll([text, text]);
  recorder.sayAll([]);
  recorder.sayAll([text, thought]);
  recorder.sayAll([thought, thoughtEnd]);
  await recorder.settled();
  assertEquals(written, [
    ["text_delta,text_delta", undefined],
    ["text_delta,text_delta", "paced"],
    ["text_delta,reasoning_delta", undefined],
    ["reasoning_delta,reasoning_end", undefined],
  ]);
});

Deno.test("sayAll() holds pieces that nobody follows, up to what may not be held", async () => {
  const { recorder, written } = recording({ isFollowed: false });
  recorder.sayAll([thought, thought]);
  assertEquals(written, []);
  recorder.sayAll([thought, thoughtEnd, text]);
  recorder.flush();
  await recorder.settled();
  assertEquals(written, [
    ["reasoning_delta,reasoning_end", undefined],
    ["text_delta", undefined],
  ]);
});
