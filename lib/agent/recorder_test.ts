import { assertEquals } from "@std/assert";
import type { Durability } from "../contract/journal.ts";
import { Recorder } from "./recorder.ts";
import { fakeClock } from "./testing/fake_clock.ts";

Deno.test("say() writes the first piece of a followed stream at once, and paces the others", async () => {
  const written: [type: string, durability: Durability | undefined][] = [];
  const recorder = new Recorder({
    journal: {
      append(_, events, durability) {
        for (const { type } of events) written.push([type, durability]);
        return Promise.resolve(written.length);
      },
      addMessage: () => Promise.resolve(),
      isFollowed: () => true,
    },
    turn: { id: "t", sessionId: 1, durable: false },
    clock: fakeClock(),
    onFailure: () => {},
  });
  const say = (type: "text_delta" | "reasoning_delta", streamId: string) =>
    recorder.say({ type, streamId, text: "x" });
  say("reasoning_delta", "r");
  say("reasoning_delta", "r");
  recorder.say({ type: "reasoning_end", streamId: "r" });
  say("text_delta", "t");
  say("text_delta", "t");
  await recorder.settled();
  assertEquals(written, [
    ["reasoning_delta", undefined],
    ["reasoning_delta", "paced"],
    ["reasoning_end", undefined],
    ["text_delta", undefined],
    ["text_delta", "paced"],
  ]);
});
