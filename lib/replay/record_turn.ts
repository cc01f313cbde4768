import { ServiceError } from "../base/errors.ts";
import { withoutNote } from "../agent/loop_guard.ts";
import { ASKED_AGAIN, LEFT_OUT, SUMMARIZING } from "../agent/notices.ts";
import { stepsNamed, toolsNamed } from "../agent/own_results.ts";
import type { AgentEvent } from "../contract/events.ts";
import type { Journal, Session, Turn } from "../contract/journal.ts";
import type { Message } from "../contract/messages.ts";
import { INTERRUPTED_OUTPUT } from "../journal/turn_state.ts";
import { callsIn, comparable } from "./compare.ts";
import {
  MAX_RECORDING_CHARS,
  type RecordedAction,
  type RecordedSaid,
  RECORDING_VERSION,
  tooLarge,
  type TurnRecording,
} from "./recording.ts";

const ABOUT =
  "A turn of service, to be run again with: service sessions replay FILE. It holds the " +
  "texts of a chat and what tools returned: read it before you share it.";

/** Codes of what a model throws; any other failure is the loop's own. */
const OF_MODELS: ReadonlySet<string> = new Set([
  "provider_error",
  "provider_rate_limited",
  "provider_unreachable",
]);

type Of<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;
type Said = RecordedSaid[];

/**
 * A turn of a session, by default its last, as a recording. Throws `not_found` when there is no such turn,
 * `conflict` with the reason for one that can't be replayed, and `too_large`.
 */
export async function recordTurn(
  journal: Pick<Journal, "nthTurn" | "contextBefore" | "follow">,
  session: Session,
  number = Math.max(1, session.turns),
): Promise<TurnRecording> {
  const turn = journal.nthTurn(session.id, number);
  if (turn === undefined) {
    throw new ServiceError(
      "not_found",
      `There is no turn ${number} in ${session.key}: its turns are counted from 1, and it has ` +
        `${session.turns}`,
      { param: "turn" },
    );
  }
  const refuse = (why: string) => {
    throw new ServiceError(
      "conflict",
      `Turn ${number} of ${session.key} can't be replayed: ${why}`,
      { param: "turn" },
    );
  };
  const events = await eventsOf(journal, turn);
  const why = obstacle(turn, events);
  if (why !== undefined) refuse(why);
  const start = events[0] as Of<"turn_start">;
  const last = events.at(-1) as Of<"turn_end">;
  const end = endOf(events, last);
  const answers = answersOf(events, last);
  const maxSteps = turn.error?.code === "max_steps" ? answers.length : stepsOf(events);
  const recording: TurnRecording = {
    version: RECORDING_VERSION,
    about: ABOUT,
    settings: {
      model: start.model,
      ...maxSteps !== undefined && { maxSteps },
      ...turn.automation && { tokenBudget: turn.automation.tokenBudget },
      tools: toolsOf(events),
    },
    context: journal.contextBefore(turn).map(({ message }) => withoutReplay(message)),
    input: turn.input,
    answers,
    actions: events.flatMap(toAction),
    ...end && { end },
    events: comparable(events),
  };
  if (JSON.stringify(recording).length > MAX_RECORDING_CHARS) throw tooLarge();
  return recording;
}

/** All of it, or what there is after a crash. */
async function eventsOf(
  journal: Pick<Journal, "follow">,
  { id, sessionId, afterSeq }: Turn,
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  let chars = 0;
  for await (const { turnId, event } of journal.follow(sessionId, { afterSeq, live: false })) {
    if (turnId !== id) continue;
    events.push(event);
    if ("text" in event) chars += event.text.length;
    else if (event.type === "tool_result") chars += event.output.length;
    if (chars > MAX_RECORDING_CHARS) throw tooLarge();
    if (event.type === "turn_end") break;
  }
  return events;
}

/** Why a turn can't be replayed; undefined: it can. */
function obstacle(turn: Turn, events: readonly AgentEvent[]): string | undefined {
  const { endedAt, startedAt, attempts, crashes, error } = turn;
  const last = events.at(-1);
  if (endedAt === undefined) return "it hasn't ended";
  if (attempts > 1 || crashes > 0) {
    return "the service stopped during it and ran it again, from where it was";
  }
  if (events.length === 0) {
    return "no events of it are on record here. Of a fork, replay the session that it was forked from";
  }
  if (events[0]!.type !== "turn_start" || last?.type !== "turn_end") {
    return "some of its events are no longer on record";
  }
  if (startedAt !== undefined && last.tookMs === undefined) {
    return "an older version of the service recorded it, and noted too little";
  }
  if (error?.code === "context_overflow" || events.some(isAboutRoom)) {
    return "its context was shortened while it ran. When that happens depends on the system prompt and " +
      "the descriptions of tools, which aren't on record";
  }
  if (last.status === "interrupted" && isCutByCrash(events)) {
    return "the service stopped unexpectedly while a tool ran";
  }
  if (error?.code === "token_budget" && events.some(isUncounted)) {
    return "its provider counted no tokens, and their estimate depends on the system prompt, which isn't on record";
  }
}

function isAboutRoom(event: AgentEvent): boolean {
  return event.type === "summary" ||
    event.type === "notice" && [SUMMARIZING, LEFT_OUT].includes(event.text);
}

/** Index of the result of the first call that the end of the turn kept from running; -1 for none. */
function cutAt(events: readonly AgentEvent[]): number {
  return events.findIndex((event) =>
    event.type === "tool_result" && event.status === "interrupted" && event.tookMs === undefined
  );
}

/** Whether a tool ran when the process died; one whose call alone is on record needn't have. */
function isCutByCrash(events: readonly AgentEvent[]): boolean {
  const at = cutAt(events);
  const cut = events[at];
  return cut?.type === "tool_result" && cut.output === INTERRUPTED_OUTPUT &&
    events[at - 1]?.type !== "tool_call";
}

function isUncounted(event: AgentEvent): boolean {
  return event.type === "usage" && event.usage.inputTokens + event.usage.outputTokens === 0;
}

/** How the turn was ended from outside of its loop; undefined: it wasn't. */
function endOf(events: readonly AgentEvent[], { status }: Of<"turn_end">): TurnRecording["end"] {
  const error = events.find((event) => event.type === "error")?.error;
  if (status === "done" || error === undefined) return undefined;
  // A loop that is stuck is ended by its watchdog.
  if (status === "failed" && error.code !== "turn_timeout") return undefined;
  const at = cutAt(events);
  return { status, error, ...at >= 0 && { afterCalls: callsIn(events.slice(0, at)) } };
}

/** What the model must have said for these events to come of it. */
function answersOf(events: readonly AgentEvent[], { finishReason }: Of<"turn_end">): Said[] {
  const answers: Said[] = [];
  let answer: Said = [];
  let isBrokenOff = false;
  for (const event of events) {
    switch (event.type) {
      case "notice":
        if (event.text !== ASKED_AGAIN) answer.push({ type: "notice", text: event.text });
        break;
      case "text_delta":
        answer.push({ type: "text", text: event.text });
        break;
      case "reasoning_delta":
        answer.push({ type: "reasoning", text: event.text });
        break;
      case "reasoning_end":
        // Something ended it, but for what was open when the turn broke off: that is ended in its order.
        if (!isBrokenOff) answer.push({ type: "text", text: "" });
        break;
      case "segment_end":
        isBrokenOff = true;
        break;
      case "usage":
        answer.push({ type: "finish", model: event.model, reason: "stop", usage: event.usage });
        answers.push(answer);
        answer = [];
        isBrokenOff = false;
        break;
      case "tool_call": {
        const { type: _, ...call } = event;
        answers.at(-1)?.splice(-1, 0, { type: "call", call });
        break;
      }
      case "error":
        if (OF_MODELS.has(event.error.code)) answer.push(event);
        break;
    }
  }
  // That of any other answer changes nothing but when it is empty, and then the turn ends with it.
  const finish = answers.at(-1)?.at(-1);
  if (finish?.type === "finish") finish.reason = finishReason;
  if (answer.length > 0) answers.push(answer);
  return answers.map(joined);
}

/** Pieces of a text as one. */
function joined(answer: Said): Said {
  const found: Said = [];
  for (const said of answer) {
    const last = found.at(-1);
    if (
      (said.type === "text" || said.type === "reasoning") && last?.type === said.type &&
      last.text !== ""
    ) {
      found[found.length - 1] = { ...said, text: last.text + said.text };
    } else found.push(said);
  }
  // Where something else ends a stretch of reasoning, no empty text is needed.
  const ends = (said?: RecordedSaid) =>
    said !== undefined && /^(text|call|finish)$/.test(said.type);
  return found.filter((said, at) =>
    said.type !== "text" || said.text !== "" || !ends(found[at + 1])
  );
}

/** Nothing for what the loop or the model said. */
function toAction(event: AgentEvent): RecordedAction[] {
  switch (event.type) {
    case "tool_progress":
      return [{ type: "progress", callId: event.callId, text: event.text }];
    case "approval_requested": {
      const { type, callId, approval, brief } = event;
      return [{ type, callId, approval, brief: brief! }];
    }
    case "approval_resolved":
    case "files":
      return [event];
    case "tool_result": {
      const { callId, status, output, remedy, tookMs } = event;
      // The loop's own word, or the journal's.
      if (tookMs === undefined) return [];
      if (status === "interrupted") return [{ type: "broken", callId }];
      const result = { callId, status, output: withoutNote(output) };
      return [{ type: "result", ...result, ...remedy && { remedy } }];
    }
    case "turn_start":
    case "text_delta":
    case "segment_end":
    case "reasoning_delta":
    case "reasoning_end":
    case "tool_call":
    case "usage":
    case "notice":
    case "summary":
    case "error":
    case "session_updated":
    case "message":
    case "turn_end":
      return [];
  }
}

/** The bound of its model calls, where a call came to it. */
function stepsOf(events: readonly AgentEvent[]): number | undefined {
  for (const event of events) {
    const steps = event.type === "tool_result" ? stepsNamed(event.output) : undefined;
    if (steps !== undefined) return steps;
  }
}

/** The tools that the turn had, as far as its events say, and which of them ran beside others. */
function toolsOf(events: readonly AgentEvent[]): TurnRecording["settings"]["tools"] {
  const names = new Set<string>();
  const parallel = new Set<string>();
  let named: string[] | undefined;
  /** Calls of the present step that have no result, in their order. */
  const open = new Map<string, string>();
  for (const event of events) {
    if (event.type === "tool_call") {
      names.add(event.tool);
      open.set(event.callId, event.tool);
    } else if (event.type === "tool_result") {
      if (event.tookMs === undefined) named = toolsNamed(event.output) ?? named;
      open.delete(event.callId);
    } else if ("callId" in event) {
      const ids = [...open.keys()];
      const at = ids.indexOf(event.callId);
      // It did something before those that stand before it had ended.
      const beside = at > 0 ? ids.slice(0, at + 1) : [];
      for (const id of beside) parallel.add(open.get(id)!);
    }
  }
  // The names that its own words have are all of them, in their order.
  return (named ?? [...names]).map((name) => ({ name, parallel: parallel.has(name) }));
}

/** What its provider wants back is for no one else. */
function withoutReplay(message: Message): Message {
  if (message.role !== "assistant") return message;
  const { replay: _, ...rest } = message;
  return rest;
}
