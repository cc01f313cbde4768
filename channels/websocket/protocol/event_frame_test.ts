import { assertEquals } from "@std/assert";
import type { AgentEvent } from "../../../lib/contract/events.ts";
import { type ServerFrame, serverFrame } from "../../../lib/contract/wire/frames.ts";
import { eventFrame, type FrameContext } from "./event_frame.ts";

const usage = { inputTokens: 10, outputTokens: 20, reasoningTokens: 5, cachedTokens: 3 };
const ALL: FrameContext = {
  chatId: "x",
  seqFrom: 7,
  streaming: true,
  showReasoning: true,
  sendProgress: true,
  sendToolHints: true,
  signMedia: (path) => (path.startsWith("/media/") ? `/m?of=${path.slice(7)}` : undefined),
};
const HERE = { chat_id: "x", seq: 9, seq_from: 7, turn_id: "t" };

/** Every event, the frame of it where everything is shown, and without which option it is not. */
const CASES: [AgentEvent, Record<string, unknown> | undefined, (keyof FrameContext)?][] = [
  [{ type: "turn_start", model: "m/x" }, { event: "turn_start", ...HERE, model: "m/x" }],
  [
    { type: "text_delta", streamId: "s", text: "hé" },
    { event: "delta", ...HERE, stream_id: "s", text: "hé" },
    "streaming",
  ],
  [
    { type: "segment_end", streamId: "s", resuming: true },
    { event: "stream_end", ...HERE, stream_id: "s", resuming: true },
    "streaming",
  ],
  [
    { type: "reasoning_delta", streamId: "r", text: "hm" },
    { event: "reasoning_delta", ...HERE, stream_id: "r", text: "hm" },
    "showReasoning",
  ],
  [
    { type: "reasoning_end", streamId: "r" },
    { event: "reasoning_end", ...HERE, stream_id: "r" },
    "showReasoning",
  ],
  [
    { type: "tool_call", callId: "c", tool: "read_file", args: { path: "a" }, hint: "read_file a" },
    {
      event: "progress",
      ...HERE,
      text: "read_file a",
      tool_hint: true,
      tool: "read_file",
      call_id: "c",
    },
    "sendToolHints",
  ],
  [
    { type: "tool_progress", callId: "c", tool: "exec", text: "50 %" },
    { event: "progress", ...HERE, text: "50 %", tool_hint: false, tool: "exec", call_id: "c" },
    "sendProgress",
  ],
  [
    { type: "tool_result", callId: "c", tool: "exec", status: "ok", output: "secret", tookMs: 7 },
    { event: "tool_result", ...HERE, call_id: "c", tool: "exec", status: "ok", took_ms: 7 },
    "sendToolHints",
  ],
  [
    {
      type: "approval_requested",
      callId: "c",
      tool: "exec",
      approval: {
        id: "apr_1",
        digest: "d".repeat(64),
        capability: "exec",
        tool: "exec",
        target: "ls",
        details: "more",
        isWhole: true,
        session: "websocket:x",
        channel: "websocket",
        actor: "websocket:c",
        createdAt: 1_999,
        expiresAt: 121_000,
      },
    },
    {
      event: "approval_requested",
      ...HERE,
      approval: {
        id: "apr_1",
        digest: "d".repeat(64),
        capability: "exec",
        tool: "exec",
        target: "ls",
        details: "more",
        whole: true,
        created_at: 1,
        expires_at: 121,
      },
    },
  ],
  [
    { type: "approval_resolved", callId: "c", approvalId: "apr_1", outcome: "void" },
    { event: "approval_resolved", ...HERE, approval_id: "apr_1", outcome: "void" },
  ],
  [
    { type: "files", files: [{ name: "a", path: "/media/a" }], replyTo: "m1" },
    {
      event: "message",
      ...HERE,
      text: "",
      media: ["/media/a"],
      media_urls: ["/m?of=a"],
      reply_to: "m1",
    },
    "streaming",
  ],
  [{ type: "usage", model: "m", usage }, undefined],
  [
    { type: "notice", text: "trying again" },
    { event: "progress", ...HERE, text: "trying again", tool_hint: false },
    "sendProgress",
  ],
  [{ type: "summary", text: "what was" }, undefined],
  [
    { type: "error", error: { code: "context_overflow", message: "too long" } },
    { event: "error", detail: "too long", code: "context_length_exceeded", ...HERE },
  ],
  [
    { type: "error", error: { code: "internal", message: "at /home/x.ts", logId: "log-1" } },
    {
      event: "error",
      detail: "The turn failed; the service's log has the cause under log-1",
      code: "turn_failed",
      ...HERE,
    },
  ],
  [
    {
      type: "turn_end",
      status: "timed_out",
      finishReason: "stop",
      usage,
      models: [{ model: "a/b" }],
      tookMs: 9,
    },
    {
      event: "turn_end",
      ...HERE,
      status: "timed_out",
      usage: { input_tokens: 10, output_tokens: 20, reasoning_tokens: 5, cached_tokens: 3 },
      models: [{
        model: "a/b",
        input_tokens: 10,
        output_tokens: 20,
        reasoning_tokens: 5,
        cached_tokens: 3,
      }],
      took_ms: 9,
    },
  ],
];

Deno.test("eventFrame() gives each event of a turn its frame", () => {
  for (const [event, frame] of CASES) {
    const made = eventFrame({ seq: 9, turnId: "t", event }, ALL);
    assertEquals(made, frame as ServerFrame | undefined);
    if (made !== undefined) assertEquals(serverFrame.parse(made), made);
  }
});

Deno.test("eventFrame() leaves out what one option turns off, and nothing else (C29)", () => {
  for (const option of ["streaming", "showReasoning", "sendProgress", "sendToolHints"] as const) {
    for (const [event, frame, needs] of CASES) {
      const made = eventFrame({ seq: 9, turnId: "t", event }, { ...ALL, [option]: false });
      assertEquals(made, (needs === option ? undefined : frame) as ServerFrame | undefined);
    }
  }
});

Deno.test("eventFrame() gives the answer as one message when streaming is off, the rest as progress", () => {
  const endOf = (how: { resuming: boolean; cut?: true }) =>
    ({ seq: 9, turnId: "t", event: { type: "segment_end", streamId: "s", ...how } }) as const;
  const end = endOf({ resuming: false });
  const off = { ...ALL, streaming: false };
  assertEquals(eventFrame(end, { ...off, segment: { text: "whole", files: [] } }), {
    event: "message",
    ...HERE,
    text: "whole",
  });
  assertEquals(eventFrame(end, { ...off, segment: { text: "", files: [] } }), undefined);
  const files = [{ name: "a.png", path: "/media/a.png" }];
  assertEquals(eventFrame(end, { ...off, segment: { text: "see", files, replyTo: "m1" } }), {
    event: "message",
    ...HERE,
    text: "see",
    media: ["/media/a.png"],
    media_urls: ["/m?of=a.png"],
    reply_to: "m1",
  });
  for (const before of [endOf({ resuming: true }), endOf({ resuming: false, cut: true })]) {
    const context = { ...off, segment: { text: "so far", files: [] } };
    const progress = { event: "progress", ...HERE, text: "so far", tool_hint: false } as const;
    assertEquals(eventFrame(before, context), progress);
    assertEquals(eventFrame(before, { ...context, sendProgress: false }), undefined);
  }
});

Deno.test("eventFrame() shows what belongs to no turn, with links of the files that have one", () => {
  const place = { chat_id: "x", seq: 7 };
  const context = { ...ALL, seqFrom: 7 };
  const of = (event: AgentEvent) => eventFrame({ seq: 7, turnId: "", event }, context);
  assertEquals(of({ type: "session_updated", scope: "model", modelPreset: "fast", title: "T" }), {
    event: "session_updated",
    ...place,
    scope: "model",
    model_preset: "fast",
    title: "T",
  });
  assertEquals(of({ type: "session_updated", scope: "context", title: "" }), {
    event: "session_updated",
    ...place,
    scope: "context",
    model_preset: null,
    title: "",
  });
  assertEquals(of({ type: "message", text: "hi" }), { event: "message", ...place, text: "hi" });
  assertEquals(
    of({
      type: "message",
      text: "hi",
      media: [{ name: "a.png", path: "/media/a.png" }, { name: "b", path: "/etc/b" }],
      replyTo: "m1",
    }),
    {
      event: "message",
      ...place,
      text: "hi",
      media: ["/media/a.png", "/etc/b"],
      media_urls: ["/m?of=a.png"],
      reply_to: "m1",
    },
  );
});
