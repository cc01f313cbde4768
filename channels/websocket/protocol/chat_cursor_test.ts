import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { AgentEvent, StoredEvent } from "../../../lib/contract/events.ts";
import type { ServerFrame } from "../../../lib/contract/wire/frames.ts";
import { anyChat, anyOptions } from "../testing/agent_events.ts";
import { FakeChats } from "../testing/fake_chats.ts";
import { FakeConnection } from "../testing/fake_connection.ts";
import { ChatCursor } from "./chat_cursor.ts";
import type { FrameSource } from "./chat_frames.ts";
import type { ShownOptions } from "./event_frame.ts";
import { rounds } from "../../../tests/support/rounds.ts";

const ALL = { streaming: true, showReasoning: true, sendProgress: true, sendToolHints: true };
const sourceOf = (options: ShownOptions): FrameSource => ({
  ...options,
  signMedia: () => undefined,
  made: new WeakMap(),
});

const chatOf = (events: readonly StoredEvent[]) => {
  const chats = new FakeChats();
  chats.append("x", events.map(({ event, turnId }) => ({ ...event, turnId })));
  return chats;
};

/** All frames behind a number, of a chat in which nothing more happens. */
async function replay(chats: FakeChats, source: FrameSource, afterSeq: number) {
  const connection = new FakeConnection();
  const { seq } = chats.head({ chatId: "x" });
  const cursor = new ChatCursor({ chats, connection, source }, { chatId: "x" });
  const run = cursor.run(afterSeq);
  while (lastSeq(connection.frames, afterSeq) < seq) {
    await connection.until(connection.frames.length + 1);
  }
  cursor.stop();
  await run;
  return connection.frames;
}

function lastSeq(frames: readonly ServerFrame[], other: number): number {
  const last = frames.at(-1);
  return last !== undefined && "seq" in last ? last.seq ?? other : other;
}

Deno.test("ChatCursor cut off at every frame and resumed shows what it would have shown (W3)", async () => {
  await fc.assert(
    fc.asyncProperty(anyChat, anyOptions, async (events, options) => {
      const chats = chatOf(events);
      const whole = await replay(chats, sourceOf(options), 0);
      for (let at = 0; at < whole.length; at++) {
        const rest = await replay(chats, sourceOf(options), lastSeq(whole.slice(0, at + 1), 0));
        assertEquals([...whole.slice(0, at + 1), ...rest], whole);
      }
    }),
    { numRuns: rounds(60) },
  );
});

Deno.test("ChatCursor without streaming finds the begin of a stretch far behind the client (W3)", async () => {
  const chats = new FakeChats();
  const delta: AgentEvent = { type: "text_delta", streamId: "s", text: "a" };
  chats.append("x", [
    { type: "turn_start", model: "m" },
    ...Array(1_500).fill(delta),
    { type: "session_updated", scope: "title", title: "T", turnId: "" },
    { type: "segment_end", streamId: "s", resuming: false },
    {
      type: "turn_end",
      status: "done",
      finishReason: "stop",
      usage: { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedTokens: 0 },
    },
  ]);
  const source = sourceOf({ ...ALL, streaming: false });
  const whole = await replay(chats, source, 0);
  assertEquals(whole.map(({ event }) => event), [
    "turn_start",
    "session_updated",
    "message",
    "turn_end",
  ]);
  assertEquals(await replay(chats, source, 1_502), whole.slice(2));
  const message = whole[2]!;
  assert(message.event === "message" && message.text === "a".repeat(1_500));
  assertEquals(chats.following, 0);
});

Deno.test("ChatCursor lets others have their turn while it replays what is not shown", async () => {
  const chats = new FakeChats();
  const hidden: AgentEvent = { type: "text_delta", streamId: "s", text: "a" };
  chats.append("x", [...Array(5_000).fill(hidden), { type: "message", text: "end", turnId: "" }]);
  let turns = 0;
  let isDone = false;
  const others = (async () => {
    for (; !isDone; turns++) await new Promise((resolve) => setTimeout(resolve, 0));
  })();
  const [frame] = await replay(chats, sourceOf({ ...ALL, streaming: false }), 0);
  assert(turns > 0);
  isDone = true;
  await others;
  assertEquals(frame, {
    event: "message",
    chat_id: "x",
    seq: 5_001,
    seq_from: 1,
    text: "end",
  });
});

Deno.test("ChatCursor waits for the client while it replays, and for nobody once it is live (W13)", async () => {
  const chats = new FakeChats();
  const notice: AgentEvent = { type: "notice", text: "n" };
  chats.append("x", Array(10).fill(notice));
  const connection = new FakeConnection();
  connection.drained = Promise.withResolvers();
  const cursor = new ChatCursor(
    { chats, connection, source: sourceOf(ALL) },
    { chatId: "x" },
  );
  const run = cursor.run(0);
  await connection.until(1);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(connection.frames.length, 1);
  // What comes meanwhile is part of the replay.
  chats.append("x", Array(5).fill(notice));
  connection.drained.resolve();
  connection.drained = undefined;
  await connection.until(15);
  connection.drained = Promise.withResolvers();
  chats.append("x", Array(300).fill(notice));
  await connection.until(315);
  assertEquals(
    connection.frames.map((frame) => "seq" in frame && frame.seq),
    Array.from({ length: 315 }, (_, at) => at + 1),
  );
  cursor.stop();
  assertEquals((await run).seq, 315);
});
