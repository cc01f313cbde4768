import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import type { StoredEvent } from "../../../lib/contract/events.ts";
import type { ServerFrame } from "../../../lib/contract/wire/frames.ts";
import { anyChat, anyOptions } from "../testing/agent_events.ts";
import { ChatFrames, type FrameSource } from "./chat_frames.ts";
import type { ShownOptions } from "./event_frame.ts";

const sourceOf = (options: ShownOptions): FrameSource => ({
  ...options,
  signMedia: () => undefined,
  made: new WeakMap(),
});

function framesOf(events: readonly StoredEvent[], source: FrameSource, afterSeq = 0) {
  const frames = new ChatFrames(source, "x", afterSeq);
  return events.map((event) => frames.push(event)?.frame).filter((frame) => frame !== undefined);
}

const numbers = (frame: ServerFrame) => {
  assert("seq" in frame && frame.seq !== undefined);
  return { from: frame.seq_from ?? frame.seq, to: frame.seq };
};

Deno.test("ChatFrames covers every number once, in order, whatever is shown (W3)", () => {
  fc.assert(fc.property(anyChat, anyOptions, (events, options) => {
    let next = 1;
    for (const frame of framesOf(events, sourceOf(options))) {
      const { from, to } = numbers(frame);
      assertEquals(from, next);
      assert(to >= from);
      next = to + 1;
    }
    // The last event of a chat is one that is shown.
    assertEquals(next, events.length + 1);
  }));
});

Deno.test("ChatFrames resumed behind each frame goes on as if it had never stopped (W3)", () => {
  fc.assert(fc.property(anyChat, anyOptions, (events, options) => {
    const whole = framesOf(events, sourceOf(options));
    whole.forEach((frame, at) => {
      // Another reader, with objects of its own as they are read from the journal.
      const again = structuredClone(events);
      const rest = framesOf(again, sourceOf(options), numbers(frame).to);
      assertEquals([...whole.slice(0, at + 1), ...rest], whole);
    });
  }));
});

Deno.test("ChatFrames says the same answers with streaming and without", () => {
  fc.assert(fc.property(anyChat, anyOptions, (events, options) => {
    const texts = (streaming: boolean) => {
      const said = new Map<string, string>();
      const done: string[] = [];
      for (const frame of framesOf(events, sourceOf({ ...options, streaming }))) {
        if (frame.event === "delta") {
          said.set(frame.stream_id, (said.get(frame.stream_id) ?? "") + frame.text);
        } else if (frame.event === "stream_end") {
          if (!frame.resuming) done.push(said.get(frame.stream_id) ?? "");
          said.delete(frame.stream_id);
        } else if (frame.event === "message" && frame.turn_id !== undefined) done.push(frame.text);
      }
      return done.filter((text) => text.trim() !== "");
    };
    assertEquals(texts(true), texts(false));
  }));
});

Deno.test("ChatFrames makes a frame once for all that follow live, and anew for who covers less", () => {
  const source = sourceOf({
    streaming: true,
    showReasoning: false,
    sendProgress: true,
    sendToolHints: true,
  });
  const hidden: StoredEvent = {
    seq: 1,
    turnId: "t",
    event: { type: "reasoning_delta", streamId: "r", text: "?" },
  };
  const shown: StoredEvent = {
    seq: 2,
    turnId: "t",
    event: { type: "text_delta", streamId: "s", text: "!" },
  };
  const readers = Array.from({ length: 500 }, () => new ChatFrames(source, "x", 0));
  readers.forEach((reader) => assertEquals(reader.push(hidden), undefined));
  const out = readers.map((reader) => reader.push(shown));
  out.forEach((one) => assertStrictEquals(one, out[0]));
  assertStrictEquals(out[0]!.bytes, out[499]!.bytes);
  const late = new ChatFrames(source, "x", 1).push(shown);
  assert(late !== undefined && late !== out[0]);
  assertEquals([numbers(out[0]!.frame), numbers(late.frame)], [{ from: 1, to: 2 }, {
    from: 2,
    to: 2,
  }]);
});
