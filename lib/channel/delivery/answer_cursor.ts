/**
 * The answer of one turn on its way to a chat: reads the turn's events in their order, puts whole
 * messages into the outbox in the commit that moves it on, and sends streams piece by piece (cases C26
 * to C29).
 *
 * What it holds in memory can be read again from the journal: `ChannelTurn.seq` and the place in a
 * stream say from where.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { AgentEvent, StoredEvent } from "../../agent/events.ts";
import type { Clock } from "../../agent/clock.ts";
import type { OutboxMessage } from "../../journal/types.ts";
import type { Log } from "../../log.ts";
import type { Attachment } from "./attachment.ts";
import { type Outcome, retryWaitMs } from "./attempt.ts";
import type { AddedMessage, ChannelTurn, DeliveryStore, Move } from "./delivery_store.ts";
import type { Pause, Speaker } from "./lane.ts";
import type { OpenAnswer, Outlet } from "./outlet.ts";
import type { Persister } from "./persist.ts";
import { Segment } from "./segment.ts";
import { SideNotes } from "./side_notes.ts";
import { approvalWords, outcomeWords } from "./words.ts";

/** Characters of streams that wait to be sent before no more is read. */
const MAX_WAITING_CHARS = 256 * 1024;

/** Segments and messages that wait before no more is read. */
const MAX_STEPS = 64;

/** Milliseconds after a write that failed, or a runtime that has ended under a call. */
const AGAIN_MS = 1_000;

/** What is to be done in the order of events. */
type Step =
  | { kind: "segment"; segment: Segment }
  | { kind: "rows"; seq: number; add?: AddedMessage; withdraw?: string }
  | { kind: "end"; seq: number; event: Extract<AgentEvent, { type: "turn_end" }> };

/** Steps that need no call, as one write. */
interface Done {
  move: Move & Required<Pick<Move, "add" | "withdraw">>;
  end?: Extract<Step, { kind: "end" }>;
  count: number;
}

/** What a cursor works with. */
export interface AnswerCursorDeps {
  turn: ChannelTurn;
  outlet: Outlet;
  store: Pick<DeliveryStore, "move">;
  persister: Persister;
  clock: Pick<Clock, "now">;
  log: Log;
  /** Everything is handed over, or nobody wants it any more. */
  onOver: () => void;
  /** It can take more events. */
  onRoom: () => void;
}

/** See the module. */
export class AnswerCursor implements Speaker, OpenAnswer {
  readonly turnId: string;
  readonly #deps: AnswerCursorDeps;
  readonly #turn: ChannelTurn;
  readonly #notes: SideNotes;
  #steps: Step[] = [];
  /** Newest event that was read. */
  #seen: number;
  /** A write or a call that the rest waits for. */
  #isBusy = false;
  #speaksSoon = false;
  #isOver = false;
  #isFinished = false;
  #error: string | undefined;

  constructor(deps: AnswerCursorDeps) {
    this.#deps = deps;
    this.#turn = deps.turn;
    this.turnId = deps.turn.turnId;
    this.#seen = deps.turn.seq;
    this.#notes = new SideNotes(deps.turn);
    deps.outlet.answers.add(this);
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  get isStreaming(): boolean {
    return this.#stream !== undefined;
  }

  /** Whether it takes more events now. What is to become one message is taken whole. */
  get hasRoom(): boolean {
    if (this.#isOver) return true;
    const waiting = this.#steps.reduce(
      (sum, step) =>
        step.kind === "segment" && step.segment.mode === "stream"
          ? sum + step.segment.rest.length
          : sum,
      0,
    );
    return this.#steps.length < MAX_STEPS && waiting < MAX_WAITING_CHARS;
  }

  /** Takes an event of the turn. `isLive`: it happens now, and was not read again after a restart. */
  feed({ seq, event }: StoredEvent, isLive: boolean): void {
    if (this.#isOver || seq <= this.#seen) return;
    this.#seen = seq;
    switch (event.type) {
      case "text_delta":
        this.#segmentOf(event.streamId, seq).add(event.text);
        break;
      case "segment_end": {
        const segment = this.#find(event.streamId);
        // A stream without text has nothing to close.
        if (segment === undefined) break;
        segment.ended = { seq, resuming: event.resuming, isLive };
        break;
      }
      case "approval_requested": {
        const { approval } = event;
        const message = this.#message(`approval:${approval.id}`, approvalWords(approval), {
          type: "approval",
          id: approval.id,
          digest: approval.digest,
          expiresAt: approval.expiresAt,
        });
        const add = { message, expiresAt: approval.expiresAt };
        this.#steps.push({ kind: "rows", seq, add });
        break;
      }
      case "approval_resolved":
        this.#steps.push({ kind: "rows", seq, withdraw: `approval:${event.approvalId}` });
        break;
      case "error":
        this.#error = event.error.message;
        break;
      case "turn_end":
        this.#steps.push({ kind: "end", seq, event });
        break;
      default:
        if (isLive) this.#note(seq, event);
    }
    this.#goOn();
  }

  /** The link that streams were sent over is gone: what is left of them becomes messages. */
  detached(): void {
    for (const step of this.#steps) {
      if (step.kind !== "segment" || step.segment.mode !== "stream") continue;
      if (step.segment.attachment === this.#deps.outlet.attachment) continue;
      step.segment.mode = step.segment.isBegun ? "cut" : "whole";
    }
    this.#notes.drop();
    if (this.#isFinished) this.#over();
    else this.#goOn();
  }

  next(attachment: Attachment): (() => Promise<Pause | undefined>) | undefined {
    if (this.#isBusy || this.#isOver) return undefined;
    const stream = this.#stream;
    const noteSeq = this.#notes.nextSeq;
    const headSeq = this.#headSeq;
    if (noteSeq !== undefined && (headSeq === undefined || noteSeq <= headSeq)) {
      return () => this.#show(attachment);
    }
    if (stream?.attachment !== attachment || stream.piece === undefined) return undefined;
    return () => this.#sendPiece(stream, stream.piece!, attachment);
  }

  /** Leaves everything as it is on record. */
  stop(): void {
    this.#isOver = true;
    this.#deps.outlet.answers.delete(this);
    this.#deps.outlet.silence(this.#turn.chatId, this);
  }

  /** The stream that is next, if the next step is one. */
  get #stream(): Segment | undefined {
    const head = this.#steps[0];
    return head?.kind === "segment" && head.segment.mode === "stream" ? head.segment : undefined;
  }

  /** The event before the next step. */
  get #headSeq(): number | undefined {
    const head = this.#steps[0];
    if (head === undefined) return undefined;
    return head.kind === "segment" ? head.segment.fromSeq : head.seq - 1;
  }

  #find(streamId: string): Segment | undefined {
    const step = this.#steps.findLast((step) =>
      step.kind === "segment" && step.segment.streamId === streamId &&
      step.segment.ended === undefined
    );
    return step?.kind === "segment" ? step.segment : undefined;
  }

  #segmentOf(streamId: string, seq: number): Segment {
    const found = this.#find(streamId);
    if (found !== undefined) return found;
    const { stream, streaming } = this.#turn;
    const { attachment } = this.#deps.outlet;
    const segment = stream?.streamId === streamId && this.#turn.seq < seq && this.#isFirst
      ? new Segment({ ...stream, fromSeq: seq - 1, mode: "cut" })
      : streaming && attachment?.takesStreams === true
      ? new Segment({ streamId, fromSeq: seq - 1, mode: "stream", attachment })
      : new Segment({ streamId, fromSeq: seq - 1, mode: "whole" });
    this.#isFirst = false;
    this.#steps.push({ kind: "segment", segment });
    return segment;
  }

  /** No segment was read yet: a stream that an earlier process has begun is the first. */
  #isFirst = true;

  #note(seq: number, event: AgentEvent): void {
    const { attachment } = this.#deps.outlet;
    if (attachment === undefined) return;
    const { sendProgress, sendToolHints } = attachment.flags;
    switch (event.type) {
      case "tool_call":
        if (sendToolHints) this.#notes.progress(seq, event.hint, true);
        break;
      case "notice":
        if (sendProgress) this.#notes.progress(seq, event.text, false);
        break;
      case "reasoning_delta":
        if (attachment.showsReasoning) this.#notes.reasoning(seq, event.streamId, event.text);
        break;
      case "reasoning_end":
        this.#notes.reasoningEnd(seq, event.streamId);
    }
  }

  /** Does what needs no call, and asks for the lane for the rest. */
  #goOn(): void {
    if (this.#isBusy || this.#isOver) return;
    const done = this.#takeDone();
    if (done !== undefined) return void this.#write(done);
    if (this.#stream?.piece !== undefined || !this.#notes.isEmpty) this.#speakSoon();
  }

  /** What was committed together is read by then, and goes out in one call. */
  #speakSoon(): void {
    if (this.#speaksSoon) return;
    this.#speaksSoon = true;
    setImmediate(() => {
      this.#speaksSoon = false;
      if (!this.#isOver) this.#deps.outlet.speak(this.#turn.chatId, this);
    });
  }

  /** The steps from the first that need no call, as one write. */
  #takeDone(): Done | undefined {
    const add: AddedMessage[] = [];
    const withdraw: string[] = [];
    let seq: number | undefined;
    let end: Extract<Step, { kind: "end" }> | undefined;
    let count = 0;
    let hasStream = false;
    for (const step of this.#steps) {
      if (step.kind === "segment") {
        const { ended, mode } = step.segment;
        if (ended === undefined || mode === "stream") break;
        add.push(...this.#leftOf(step.segment, ended));
        hasStream ||= mode !== "whole";
        seq = ended.seq;
      } else if (step.kind === "rows") {
        if (step.add !== undefined) add.push(step.add);
        if (step.withdraw !== undefined) withdraw.push(step.withdraw);
        seq = step.seq;
      } else {
        const words = outcomeWords(step.event.status, this.#error);
        if (words !== undefined) {
          add.push({ message: this.#message(`outcome:${this.turnId}`, words) });
        }
        seq = step.seq;
        end = step;
      }
      count++;
    }
    if (count === 0) return undefined;
    const stream = hasStream ? { stream: null } : {};
    return { move: { seq, ...stream, add, withdraw, done: end !== undefined }, end, count };
  }

  /** What becomes of a segment that has ended and is no stream (any more). */
  #leftOf(segment: Segment, ended: NonNullable<Segment["ended"]>): AddedMessage[] {
    const { mode, fromSeq, rest, uncertain, error } = segment;
    const content = rest.slice(uncertain);
    if (mode === "whole" && ended.resuming) {
      // The turn goes on: what it has said so far is what it does.
      const { attachment } = this.#deps.outlet;
      const isShown = ended.isLive && attachment?.flags.sendProgress === true;
      if (isShown) this.#notes.progress(ended.seq, content, false);
      return [];
    }
    const added: AddedMessage[] = [];
    if (uncertain > 0) added.push(this.#pieceOf(segment, rest.slice(0, uncertain)));
    if (content.trim() !== "") {
      const message = this.#message(`answer:${this.turnId}:${fromSeq}`, content);
      added.push(mode === "dead" ? { message, state: "dead", error } : { message });
    }
    return added;
  }

  /** Text of which nobody knows whether it has arrived. */
  #pieceOf(
    { fromSeq, acked }: Segment,
    text: string,
    error = "The service stopped while it was being sent",
  ): AddedMessage {
    const message = this.#message(`piece:${this.turnId}:${fromSeq}:${acked}`, text);
    return { message, state: "unknown", error, isPiece: true };
  }

  async #write(
    { move, end, count }: Done,
  ): Promise<void> {
    const { store, persister, outlet } = this.#deps;
    const { chatId, rowid } = this.#turn;
    this.#isBusy = true;
    const isPlain = move.add.length === 0;
    // What adds nothing may be done again after a power failure, and changes nothing then.
    const moved = isPlain && end === undefined && move.withdraw.length === 0
      ? true
      : await persister.write(() => store.move(rowid, move, isPlain ? "normal" : "full"));
    this.#isBusy = false;
    if (this.#isOver || moved === undefined) return;
    if (!moved) return this.#over();
    this.#steps.splice(0, count);
    if (move.add.length > 0) {
      outlet.wake(chatId);
      // What it did before is of no interest behind what it has said.
      this.#notes.pass();
    }
    if (end !== undefined) return this.#finish(end);
    this.#deps.onRoom();
    this.#goOn();
  }

  #finish({ seq, event }: Extract<Step, { kind: "end" }>): void {
    const { outlet } = this.#deps;
    this.#isFinished = true;
    this.#notes.pass();
    if (outlet.attachment?.isLive !== true) return this.#over();
    this.#notes.turnEnd(seq, event.status);
    outlet.speak(this.#turn.chatId, this);
  }

  #over(): void {
    this.stop();
    this.#deps.onOver();
  }

  async #show(attachment: Attachment): Promise<undefined> {
    const note = this.#notes.take();
    this.#isBusy = true;
    if (note !== undefined && attachment.isLive) {
      const outcome = await attachment.call((link) => note.show(link));
      if (outcome.kind !== "done") {
        this.#deps.log.debug("Something beside an answer was not shown", {
          channel: this.#turn.runtimeName,
          reason: outcome.error,
        });
      }
    }
    this.#isBusy = false;
    if (this.#isFinished && this.#notes.isEmpty) this.#over();
    else this.#goOn();
  }

  async #sendPiece(
    segment: Segment,
    { text, isLast }: NonNullable<Segment["piece"]>,
    attachment: Attachment,
  ): Promise<Pause | undefined> {
    this.#isBusy = true;
    try {
      return await this.#trySendPiece(segment, { text, isLast }, attachment);
    } finally {
      this.#isBusy = false;
      this.#goOn();
    }
  }

  async #trySendPiece(
    segment: Segment,
    { text, isLast }: NonNullable<Segment["piece"]>,
    attachment: Attachment,
  ): Promise<Pause | undefined> {
    const { store, persister } = this.#deps;
    const { rowid, chatId, metadata } = this.#turn;
    const { streamId, fromSeq, acked } = segment;
    const place = (sending: number): Move => ({
      seq: fromSeq,
      stream: { streamId, acked: segment.acked, sending },
    });
    if (text !== "") {
      const moved = await persister.write(() => store.move(rowid, place(acked + text.length)));
      if (this.#isOver || moved === undefined) return undefined;
      if (!moved) return void this.#over();
    }
    segment.isBegun ||= attachment.isLive;
    const outcome: Outcome = attachment.isLive
      ? await attachment.call((link) =>
        link.sendDelta({
          chatId,
          delta: text,
          metadata,
          streamId,
          streamEnd: isLast,
          resuming: isLast && segment.ended!.resuming,
        })
      )
      : { kind: "failed", error: "The channel has ended" };
    if (this.#isOver) return undefined;
    if (outcome.kind === "done") {
      segment.failures = 0;
      segment.advance(text.length);
      if (isLast) {
        this.#steps.shift();
        void persister.write(() =>
          store.move(rowid, { seq: segment.ended!.seq, stream: null }, "normal")
        );
      } else if (segment.piece === undefined) {
        // With more to say, the next call notes it.
        void persister.write(() => store.move(rowid, place(segment.acked), "normal"));
      }
      this.#deps.onRoom();
      return undefined;
    }
    if (outcome.kind === "uncertain") {
      segment.mode = "cut";
      if (text.trim() !== "") {
        const add = [this.#pieceOf(segment, text, outcome.error)];
        segment.advance(text.length);
        await persister.write(() => store.move(rowid, { ...place(segment.acked), add }));
      } else {
        segment.advance(text.length);
      }
      return undefined;
    }
    // It did not arrive, also as far as the next process is concerned.
    if (text !== "") void persister.write(() => store.move(rowid, place(acked), "normal"));
    return this.#pauseAfter(segment, outcome, attachment);
  }

  #pauseAfter(
    segment: Segment,
    outcome: Exclude<Outcome, { kind: "done" | "uncertain" }>,
    attachment: Attachment,
  ): Pause | undefined {
    if (outcome.kind === "later") return { ms: outcome.retryAfterMs, isRetry: true };
    if (outcome.kind === "failed" && !attachment.isLive) return { ms: AGAIN_MS, isRetry: true };
    segment.failures++;
    if (outcome.kind === "failed" && segment.failures < attachment.maxAttempts) {
      return { ms: retryWaitMs(segment.failures), isRetry: true };
    }
    this.#deps.log.warning("A stream cannot be delivered: service outbox", {
      channel: this.#turn.runtimeName,
      turn: this.turnId,
      reason: outcome.error,
    });
    segment.mode = "dead";
    segment.error = outcome.error;
    return undefined;
  }

  #message(id: string, content: string, event?: OutboxMessage["event"]): OutboxMessage {
    const { runtimeName: channel, chatId, metadata } = this.#turn;
    const { turnId } = this;
    return { id, turnId, channel, chatId, content, metadata, ...event !== undefined && { event } };
  }
}
