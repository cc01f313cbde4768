/**
 * What a turn's events come to for its chat, step by step in their order. Nothing is written or sent
 * here.
 *
 * @module
 */

import type { AgentEvent, StoredEvent } from "../contract/events.ts";
import type { OutboxMessage } from "../contract/journal.ts";
import type { Attachment } from "./attachment.ts";
import type { AddedMessage, ChannelTurn, Move } from "../contract/delivery_store.ts";
import { Segment } from "./segment.ts";
import type { SideNotes } from "./side_notes.ts";
import { approvalWords, outcomeWords, resolvedWords } from "./words.ts";

/** Characters of streams that wait to be sent before no more is read. */
const MAX_WAITING_CHARS = 256 * 1024;

/** Segments and messages that wait before no more is read. */
const MAX_STEPS = 64;

/** What is on record of text that a crash has cut off. */
const CUT_OFF = "The service stopped while it was being sent";

type TurnEnd = Extract<AgentEvent, { type: "turn_end" }>;

type Step =
  | { kind: "segment"; segment: Segment }
  | { kind: "rows"; seq: number; add?: AddedMessage; withdraw?: string }
  | { kind: "end"; seq: number; event: TurnEnd };

/** Steps that need no call, as one write. */
export interface DoneSteps {
  move: Move & Required<Pick<Move, "add" | "withdraw">>;
  /** With the last of them. */
  end?: { seq: number; status: TurnEnd["status"] };
  count: number;
}

/** What steps are made with. */
export interface AnswerStepsDeps {
  turn: ChannelTurn;
  notes: SideNotes;
  /** The link of the moment. */
  attachment: () => Attachment | undefined;
}

export class AnswerSteps {
  readonly #turn: ChannelTurn;
  readonly #notes: SideNotes;
  readonly #attachment: () => Attachment | undefined;
  #steps: Step[] = [];
  /** No segment was read yet: a stream that an earlier process has begun is the first. */
  #isFirst = true;
  #error: string | undefined;

  constructor({ turn, notes, attachment }: AnswerStepsDeps) {
    this.#turn = turn;
    this.#notes = notes;
    this.#attachment = attachment;
  }

  /** The stream that is next, if the next step is one. */
  get stream(): Segment | undefined {
    const head = this.#steps[0];
    return head?.kind === "segment" && head.segment.mode === "stream" ? head.segment : undefined;
  }

  /** The event before the next step. */
  get headSeq(): number | undefined {
    const head = this.#steps[0];
    if (head === undefined) return undefined;
    return head.kind === "segment" ? head.segment.fromSeq : head.seq - 1;
  }

  /** Whether more is taken now. What is to become one message is taken whole. */
  get hasRoom(): boolean {
    let waiting = 0;
    for (const step of this.#steps) {
      if (step.kind === "segment" && step.segment.mode === "stream") {
        waiting += step.segment.rest.length;
      }
    }
    return this.#steps.length < MAX_STEPS && waiting < MAX_WAITING_CHARS;
  }

  /** `isLive`: it happens now, and was not read again after a restart. */
  add({ seq, event }: StoredEvent, isLive: boolean): void {
    switch (event.type) {
      case "text_delta":
        this.#segmentOf(event.streamId, seq).add(event.text);
        break;
      case "segment_end": {
        // A stream without text has nothing to close.
        const segment = this.#find(event.streamId);
        if (segment !== undefined) segment.ended = { seq, resuming: event.resuming, isLive };
        break;
      }
      case "files": {
        const message = answerMessage(this.#turn, `files:${this.#turn.turnId}:${seq}`, "");
        this.#steps.push({
          kind: "rows",
          seq,
          add: { message: { ...message, media: event.files } },
        });
        break;
      }
      case "approval_requested": {
        const { id, digest, expiresAt } = event.approval;
        const { brief = { text: event.approval.target, isWhole: false } } = event;
        const denyOnly = !brief.isWhole && { denyOnly: true as const };
        const asks = { type: "approval" as const, id, digest, expiresAt, ...denyOnly };
        const words = approvalWords(event.approval, brief);
        const message = answerMessage(this.#turn, `approval:${id}`, words, asks);
        this.#steps.push({ kind: "rows", seq, add: { message, expiresAt } });
        break;
      }
      case "approval_resolved": {
        const { approvalId: id, outcome } = event;
        const asked = `approval:${id}`;
        const words = resolvedWords(id, outcome);
        const tells = { type: "approval_resolved" as const, id, outcome };
        const message = answerMessage(this.#turn, `approval_resolved:${id}`, words, tells);
        // Of one that the chat was not shown, nobody there knows.
        this.#steps.push({ kind: "rows", seq, add: { message, after: asked }, withdraw: asked });
        break;
      }
      case "error":
        this.#error = event.error.message;
        break;
      case "turn_end":
        this.#steps.push({ kind: "end", seq, event });
    }
  }

  /** Streams that were sent over another link than that of the moment become messages. */
  detached(): void {
    const attachment = this.#attachment();
    for (const step of this.#steps) {
      if (step.kind !== "segment" || step.segment.mode !== "stream") continue;
      if (step.segment.attachment === attachment) continue;
      step.segment.mode = step.segment.isBegun ? "cut" : "whole";
    }
  }

  /** The steps from the first that need no call; undefined when there is none. */
  done(): DoneSteps | undefined {
    const move: DoneSteps["move"] = { add: [], withdraw: [] };
    const add: AddedMessage[] = [];
    const withdraw: string[] = [];
    let end: DoneSteps["end"];
    let count = 0;
    for (const step of this.#steps) {
      if (step.kind === "segment") {
        const { ended, mode } = step.segment;
        if (ended === undefined || mode === "stream") break;
        add.push(...this.#leftOf(step.segment, ended));
        if (mode !== "whole") move.stream = null;
        move.seq = ended.seq;
      } else if (step.kind === "rows") {
        if (step.add !== undefined) add.push(step.add);
        if (step.withdraw !== undefined) withdraw.push(step.withdraw);
        move.seq = step.seq;
      } else {
        const { turnId } = this.#turn;
        const words = outcomeWords(step.event.status, this.#error);
        if (words !== undefined) {
          add.push({ message: answerMessage(this.#turn, `outcome:${turnId}`, words) });
        }
        move.seq = step.seq;
        move.done = true;
        end = { seq: step.seq, status: step.event.status };
      }
      count++;
    }
    return count === 0 ? undefined : { move: { ...move, add, withdraw }, end, count };
  }

  /** The first steps are behind us. */
  drop(count: number): void {
    this.#steps.splice(0, count);
  }

  #find(streamId: string): Segment | undefined {
    for (const step of this.#steps.toReversed()) {
      if (step.kind !== "segment") continue;
      const { segment } = step;
      if (segment.streamId === streamId && segment.ended === undefined) return segment;
    }
    return undefined;
  }

  #segmentOf(streamId: string, seq: number): Segment {
    const found = this.#find(streamId);
    if (found !== undefined) return found;
    const { stream, streaming } = this.#turn;
    const attachment = this.#attachment();
    const place = { streamId, fromSeq: seq - 1 };
    const segment = this.#isFirst && stream?.streamId === streamId
      ? new Segment({ ...stream, ...place, mode: "cut" })
      : streaming && attachment?.takesStreams === true
      ? new Segment({ ...place, mode: "stream", attachment })
      : new Segment({ ...place, mode: "whole" });
    this.#isFirst = false;
    this.#steps.push({ kind: "segment", segment });
    return segment;
  }

  /** What becomes of a segment that has ended and is no stream (any more). */
  #leftOf(segment: Segment, ended: NonNullable<Segment["ended"]>): AddedMessage[] {
    const { mode, fromSeq, rest, uncertain, error } = segment;
    const content = rest.slice(uncertain);
    if (mode === "whole" && ended.resuming) {
      // The turn goes on: what it has said so far is what it does.
      const isShown = ended.isLive && this.#attachment()?.flags.sendProgress === true;
      if (isShown) this.#notes.progress(ended.seq, content, false);
      return [];
    }
    const added: AddedMessage[] = [];
    if (uncertain > 0) {
      added.push(pieceOf(this.#turn, segment, rest.slice(0, uncertain), CUT_OFF));
    }
    if (content.trim() !== "") {
      const id = `answer:${this.#turn.turnId}:${fromSeq}`;
      const message = answerMessage(this.#turn, id, content);
      added.push(mode === "dead" ? { message, state: "dead", error } : { message });
    }
    return added;
  }
}

/** Text of a stream of which nobody knows whether it has arrived. */
export function pieceOf(
  turn: ChannelTurn,
  { fromSeq, acked }: Segment,
  text: string,
  error: string,
): AddedMessage {
  const message = answerMessage(turn, `piece:${turn.turnId}:${fromSeq}:${acked}`, text);
  return { message, state: "unknown", error, isPiece: true };
}

function answerMessage(
  { runtimeName: channel, turnId, chatId, metadata }: ChannelTurn,
  id: string,
  content: string,
  event?: OutboxMessage["event"],
): OutboxMessage {
  return { id, turnId, channel, chatId, content, metadata, ...event !== undefined && { event } };
}
