import type { AgentEvent } from "../contract/events.ts";
import type { Message } from "../contract/messages.ts";
import type { ChannelTurnRows } from "./channel_turns.ts";
import type { ErrorData } from "../base/errors.ts";
import { type EncodedEvent, encodeEvent } from "./event_rows.ts";
import type { EventLog } from "./events.ts";
import type { MessageLog } from "./messages.ts";
import type { OpenTurn, OpenTurns } from "./open_turns.ts";
import type { RequestKeys } from "./request_keys.ts";
import type { ResponseIndex } from "./responses.ts";
import type { SaidLog } from "./said.ts";
import { mediaHashes, type SessionFiles } from "./session_files.ts";
import type { SearchIndex } from "./search.ts";
import type { SessionRows } from "./sessions.ts";
import { closingEvents, closingMessages, modelsOf, noteEvent, noteMessage } from "./turn_state.ts";
import type { TurnRows } from "./turns.ts";
import type { UsageDays } from "./usage.ts";

/** The parts of a journal. */
export interface JournalParts {
  sessions: SessionRows;
  turns: TurnRows;
  events: EventLog;
  messages: MessageLog;
  said: SaidLog;
  openTurns: OpenTurns;
  requestKeys: RequestKeys;
  responses: ResponseIndex;
  files: SessionFiles;
  channelTurns: ChannelTurnRows;
  usage: UsageDays;
  /** Made when it is needed. */
  search: () => SearchIndex;
  now: () => number;
}

/** How a turn ends. */
export interface TurnEnd {
  event: Extract<AgentEvent, { type: "turn_end" }>;
  error?: ErrorData;
  forget: boolean;
}

/** The steps of a turn. Each is called inside a batch of the writer. */
export interface TurnWrites {
  start(open: OpenTurn): void;
  /** Returns the seq of the last event. */
  say(open: OpenTurn, events: readonly EncodedEvent[]): number;
  /** `body` is the message's JSON. */
  tell(open: OpenTurn, message: Message, body: string): void;
  compact(open: OpenTurn, summary: string, keepFrom: number): void;
  /** Closes what is open; for a turn that `goesOn`, or without messages for one that is forgotten. */
  close(open: OpenTurn, options: { goesOn: boolean; forget: boolean }): void;
  end(open: OpenTurn, end: TurnEnd): void;
}

/** The {@linkcode TurnWrites} over the parts of a journal. */
export function createTurnWrites(
  { sessions, turns, events, messages, said, files, openTurns, requestKeys, usage: usageDays, now }:
    JournalParts,
): TurnWrites {
  function enterInput(open: OpenTurn, { forget }: { forget: boolean }): number {
    const head = events.head(open.sessionId);
    open.afterSeq = head;
    if (open.automation !== undefined && !forget) {
      const { lastResult } = open.automation;
      if (lastResult === undefined) messages.startAnew(open.sessionId);
      else messages.startFrom(open, head, lastResult);
    }
    return open.firstMessage = messages.addInput(open, head);
  }

  function say(open: OpenTurn, encoded: readonly EncodedEvent[]): number {
    for (const one of encoded) {
      events.add(open, one);
      noteEvent(open.state, one.event);
      if (one.event.type !== "files") continue;
      for (const sha256 of mediaHashes(one.event.files)) files.add(open.sessionId, sha256);
    }
    return events.head(open.sessionId);
  }

  function tell(open: OpenTurn, message: Message, body: string): void {
    const { files } = open.state;
    const isAnswer = message.role === "assistant" && message.calls.length === 0;
    const whole = isAnswer && files.length > 0
      ? JSON.stringify({ ...message, media: files })
      : body;
    messages.add(open, events.head(open.sessionId), message, whole);
    noteMessage(open.state, message);
  }

  function close(open: OpenTurn, { goesOn, forget }: { goesOn: boolean; forget: boolean }): void {
    say(open, closingEvents(open.state, { goesOn }).map(encodeEvent));
    if (forget) return;
    for (const message of closingMessages(open.state, { goesOn })) {
      tell(open, message, JSON.stringify(message));
    }
  }

  return {
    say,
    tell,
    close,
    start(open) {
      const firstMessage = open.firstMessage ?? enterInput(open, { forget: false });
      open.attempts++;
      open.startedAt ??= now();
      const { startedAt, afterSeq } = open;
      turns.start(open.turn, { startedAt, afterSeq, firstMessage });
    },
    compact(open, summary, keepFrom) {
      say(open, [encodeEvent({ type: "summary", text: summary })]);
      messages.replaceBy(open, events.head(open.sessionId), summary, keepFrom);
    },
    end(open, { event: told, error, forget }) {
      if (open.firstMessage === undefined) enterInput(open, { forget });
      close(open, { goesOn: false, forget });
      const { startedAt } = open;
      const endedAt = now();
      const models = modelsOf(open.state);
      const event: AgentEvent = {
        ...told,
        ...models.length > 0 && { models },
        ...startedAt !== undefined && { tookMs: Math.max(0, endedAt - startedAt) },
      };
      const last: AgentEvent[] = error === undefined ? [event] : [{ type: "error", error }, event];
      say(open, last.map(encodeEvent));
      const { status, usage } = told;
      turns.end(open.turn, { status, usage, models, error, endedAt, forgotten: forget });
      usageDays.add(open.turn, models, { all: open.state.usage, endedAt });
      said.release(open.sessionId, events.head(open.sessionId));
      // Nothing was done, so the same request may be made again. What
      // was closed above counts: a call that was cut off may have taken effect.
      const neverStarted = open.attempts === 0;
      if (neverStarted || (status === "cancelled" && !open.state.ranTool)) {
        requestKeys.free(open.turn);
      }
      sessions.touch(open.sessionId);
      openTurns.delete(open.id);
    },
  };
}
