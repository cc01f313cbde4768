import { type AgentEvent, type ModelUsage, NO_USAGE, type Usage } from "../contract/events.ts";
import type { Message, OutFile, ToolCall } from "../contract/messages.ts";

/** What the model is told, and the reader shown, of a call whose end is on no record. */
export const INTERRUPTED_OUTPUT =
  "interrupted: the service stopped while this tool ran; it is unknown whether it took effect";

/** How a call ended, as a tool message has it. */
interface CallOutcome {
  output: string;
  failed: boolean;
  tookMs?: number;
}

/** A stream that had a delta and no end. */
interface OpenStream {
  type: "text_delta" | "reasoning_delta";
  streamId: string;
}

/** What of an unfinished turn is still open, derived from its events and messages in their order. */
export interface TurnState {
  streams: Map<string, OpenStream>;
  /** Tools of the calls whose result event is missing, by call id. */
  calls: Map<string, string>;
  /** Calls whose approvals wait, by the approval's id. */
  approvals: Map<string, string>;
  /** Calls of an assistant message that no tool message has answered yet, by call id. */
  unanswered: Map<string, { tool: string; outcome?: CallOutcome }>;
  /** Text since the last message that holds it. */
  text: string;
  /** Calls that are in no message yet, by call id. */
  unsaid: Map<string, { call: ToolCall; outcome?: CallOutcome }>;
  /** What goes out with its answer. */
  files: OutFile[];
  /** Its answer is on record, and nothing but its end is missing. */
  answered: boolean;
  /** A tool ran, or may have. */
  ranTool: boolean;
  /** Sum over its model calls. */
  usage: Usage;
  /** The same by the model that answered. */
  usageOf: Map<string, Usage>;
  /** That it was begun with; undefined until then. */
  model: string | undefined;
}

/** The state of a turn that has said nothing. */
export function newTurnState(): TurnState {
  return {
    streams: new Map(),
    calls: new Map(),
    approvals: new Map(),
    unanswered: new Map(),
    text: "",
    unsaid: new Map(),
    files: [],
    answered: false,
    ranTool: false,
    usage: { ...NO_USAGE },
    usageOf: new Map(),
    model: undefined,
  };
}

/** Takes an event in. */
export function noteEvent(state: TurnState, event: AgentEvent): void {
  switch (event.type) {
    case "text_delta":
      state.text += event.text;
      noteDelta(state, event.type, event.streamId);
      break;
    case "reasoning_delta":
      noteDelta(state, event.type, event.streamId);
      break;
    case "segment_end":
      state.streams.delete(keyOf("text_delta", event.streamId));
      break;
    case "reasoning_end":
      state.streams.delete(keyOf("reasoning_delta", event.streamId));
      break;
    case "tool_call": {
      const { callId, tool, args } = event;
      state.calls.set(callId, tool);
      if (!state.unanswered.has(callId)) {
        state.unsaid.set(callId, { call: { callId, tool, args } });
      }
      break;
    }
    case "files":
      state.files.push(...event.files);
      break;
    case "approval_requested":
      state.approvals.set(event.approval.id, event.callId);
      break;
    case "approval_resolved":
      state.approvals.delete(event.approvalId);
      break;
    case "tool_result": {
      state.calls.delete(event.callId);
      if (event.status !== "refused") state.ranTool = true;
      const call = state.unanswered.get(event.callId) ?? state.unsaid.get(event.callId);
      const { output, status, tookMs } = event;
      if (call) {
        call.outcome = { output, failed: status !== "ok", ...tookMs !== undefined && { tookMs } };
      }
      break;
    }
    case "usage": {
      const ofModel = state.usageOf.get(event.model) ?? { ...NO_USAGE };
      state.usageOf.set(event.model, ofModel);
      for (const key of Object.keys(state.usage) as (keyof Usage)[]) {
        state.usage[key] += event.usage[key];
        ofModel[key] += event.usage[key];
      }
      break;
    }
    case "turn_start":
      state.model = event.model;
      break;
    default:
      break;
  }
}

/** Takes a message in. */
export function noteMessage(state: TurnState, message: Message): void {
  if (message.role === "assistant") {
    state.text = "";
    for (const { callId, tool } of message.calls) {
      state.unanswered.set(callId, { tool, outcome: state.unsaid.get(callId)?.outcome });
    }
    state.unsaid.clear();
    state.answered = message.calls.length === 0;
  } else if (message.role === "tool") {
    for (const { callId } of message.results) state.unanswered.delete(callId);
  }
}

/** What its models were used for, that it was begun with first; nothing for a turn that asked none. */
export function modelsOf({ model, usageOf }: Pick<TurnState, "model" | "usageOf">): ModelUsage[] {
  if (model === undefined) return [];
  const names = new Set([model, ...usageOf.keys()]);
  if (names.size === 1) return [{ model }];
  return [...names].map((name) => ({ model: name, usage: usageOf.get(name) ?? NO_USAGE }));
}

/** An end for each open stream and approval, and a result for each open call. `goesOn`: the turn will say more. */
export function closingEvents(state: TurnState, { goesOn }: { goesOn: boolean }): AgentEvent[] {
  const events: AgentEvent[] = [];
  for (const { type, streamId } of state.streams.values()) {
    events.push(
      type === "text_delta"
        ? { type: "segment_end", streamId, resuming: goesOn, ...!goesOn && { cut: true as const } }
        : { type: "reasoning_end", streamId },
    );
  }
  for (const [approvalId, callId] of state.approvals) {
    events.push({ type: "approval_resolved", callId, approvalId, outcome: "void" });
  }
  for (const [callId, tool] of state.calls) {
    events.push({
      type: "tool_result",
      callId,
      tool,
      status: "interrupted",
      output: INTERRUPTED_OUTPUT,
    });
  }
  return events;
}

/**
 * The messages that a turn lacks to be whole: the results of a step that has none, and the text and
 * calls that are in no message yet. When the turn goes on, text alone gets none, because the model
 * is going to say it again.
 */
export function closingMessages(state: TurnState, { goesOn }: { goesOn: boolean }): Message[] {
  const messages: Message[] = [];
  if (state.unanswered.size > 0) {
    messages.push(toolMessage([...state.unanswered], ({ tool }) => tool));
  }
  if (state.unsaid.size > 0 || (!goesOn && state.text.trim() !== "")) {
    const calls = [...state.unsaid.values()].map(({ call }) => call);
    messages.push({ role: "assistant", text: state.text, calls });
  }
  if (state.unsaid.size > 0) messages.push(toolMessage([...state.unsaid], ({ call }) => call.tool));
  return messages;
}

function toolMessage<Call extends { outcome?: CallOutcome }>(
  calls: readonly [callId: string, call: Call][],
  toolOf: (call: Call) => string,
): Message {
  return {
    role: "tool",
    results: calls.map(([callId, call]) => {
      const outcome = call.outcome ?? { output: INTERRUPTED_OUTPUT, failed: true };
      return { callId, tool: toolOf(call), ...outcome };
    }),
  };
}

function noteDelta(state: TurnState, type: OpenStream["type"], streamId: string): void {
  const key = keyOf(type, streamId);
  if (!state.streams.has(key)) state.streams.set(key, { type, streamId });
}

function keyOf(type: OpenStream["type"], streamId: string): string {
  return `${type} ${streamId}`;
}
