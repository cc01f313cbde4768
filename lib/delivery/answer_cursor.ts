/**
 * The answer of one turn on its way to a chat: reads the turn's events in their order, puts whole
 * messages into the outbox in the commit that moves it on, and sends streams piece by piece.
 *
 * What it holds in memory can be read again from the journal: `ChannelTurn.seq` and the place in a
 * stream say from where.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { AgentEvent, StoredEvent } from "../contract/events.ts";
import type { Log } from "../base/log.ts";
import { AnswerSteps, type DoneSteps } from "./answer_steps.ts";
import type { Attachment } from "./attachment.ts";
import type { ChannelTurn, DeliveryStore } from "../contract/delivery_store.ts";
import type { Pause, Speaker } from "./lane.ts";
import type { OpenAnswer, Outlet } from "./outlet.ts";
import type { Persister } from "./persist.ts";
import type { Segment } from "./segment.ts";
import { SideNotes } from "./side_notes.ts";
import { StreamSender } from "./stream_sender.ts";

/** What a cursor works with. */
export interface AnswerCursorDeps {
  turn: ChannelTurn;
  outlet: Outlet;
  store: Pick<DeliveryStore, "move">;
  persister: Persister;
  log: Log;
  /** Everything is handed over, or nobody wants it any more. */
  onOver: () => void;
  /** It may take more events. */
  onRoom: () => void;
}

export class AnswerCursor implements Speaker, OpenAnswer {
  readonly turnId: string;
  readonly #deps: AnswerCursorDeps;
  readonly #notes: SideNotes;
  readonly #steps: AnswerSteps;
  readonly #sender: StreamSender;
  /** Newest event that was read. */
  #seen: number;
  /** A write or a call that the rest waits for. */
  #isBusy = false;
  #speaksSoon = false;
  #isFinished = false;
  #isOver = false;

  constructor(deps: AnswerCursorDeps) {
    const { turn, outlet } = deps;
    this.#deps = deps;
    this.turnId = turn.turnId;
    this.#seen = turn.seq;
    const attachment = () => outlet.attachment;
    const isWhole = () => !turn.streaming || attachment()?.takesStreams !== true;
    this.#notes = new SideNotes(turn, isWhole);
    this.#steps = new AnswerSteps({ turn, notes: this.#notes, attachment });
    this.#sender = new StreamSender(deps);
    outlet.answers.add(this);
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  get isStreaming(): boolean {
    return this.#steps.stream !== undefined;
  }

  get hasRoom(): boolean {
    return this.#isOver || this.#steps.hasRoom;
  }

  /** Takes an event of the turn. `isLive`: it happens now, and was not read again after a restart. */
  feed(stored: StoredEvent, isLive: boolean): void {
    if (this.#isOver || stored.seq <= this.#seen) return;
    this.#seen = stored.seq;
    this.#steps.add(stored, isLive);
    if (isLive) this.#note(stored.seq, stored.event);
    this.#goOn();
  }

  /** The link that streams were sent over is gone: what is left of them becomes messages. */
  detached(): void {
    this.#steps.detached();
    this.#notes.drop();
    if (this.#isFinished) this.#over();
    else this.#goOn();
  }

  next(attachment: Attachment): (() => Promise<Pause | undefined>) | undefined {
    if (this.#isBusy || this.#isOver) return undefined;
    const { stream, headSeq } = this.#steps;
    const noteSeq = this.#notes.nextSeq;
    if (noteSeq !== undefined && (headSeq === undefined || noteSeq <= headSeq)) {
      return () => this.#show(attachment);
    }
    const piece = stream?.attachment === attachment ? stream.piece : undefined;
    return piece && (() => this.#sendPiece(stream!, piece, attachment));
  }

  letGo(): void {
    this.#over();
  }

  /** Leaves everything as it is on record. */
  stop(): void {
    const { outlet, turn } = this.#deps;
    this.#isOver = true;
    outlet.answers.delete(this);
    outlet.silence(turn.chatId, this);
  }

  #note(seq: number, event: AgentEvent): void {
    const { attachment } = this.#deps.outlet;
    if (attachment === undefined) return;
    const { sendProgress, sendToolHints } = attachment.flags;
    switch (event.type) {
      case "tool_call":
        if (sendToolHints) this.#notes.progress(seq, event.hint, true);
        break;
      case "tool_progress":
        if (sendProgress && attachment.showsProgress) this.#notes.progress(seq, event.text, false);
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
    const done = this.#steps.done();
    if (done !== undefined) void this.#write(done);
    else if (this.#steps.stream?.piece !== undefined || !this.#notes.isEmpty) this.#speakSoon();
  }

  /** What was committed together is read by then, and goes out in one call. */
  #speakSoon(): void {
    if (this.#speaksSoon) return;
    this.#speaksSoon = true;
    setImmediate(() => {
      this.#speaksSoon = false;
      const { outlet, turn } = this.#deps;
      if (!this.#isOver) outlet.speak(turn.chatId, this);
    });
  }

  async #write({ move, end, count }: DoneSteps): Promise<void> {
    const { store, persister, outlet, turn, onRoom } = this.#deps;
    this.#isBusy = true;
    // What changes nothing but the place is read again after a crash, and changes nothing then.
    const isIdle = move.add.length + move.withdraw.length === 0 && end === undefined;
    const moved = isIdle ||
      await persister.write(() =>
        store.move(turn.rowid, move, move.add.length === 0 ? "normal" : "full")
      );
    this.#isBusy = false;
    if (this.#isOver || moved === undefined) return;
    if (!moved) return this.#over();
    this.#steps.drop(count);
    if (move.add.length > 0) {
      outlet.wake(turn.chatId);
      // What it did before is of no interest behind what it has said.
      this.#notes.pass();
    }
    if (end !== undefined) return this.#finish(end);
    onRoom();
    this.#goOn();
  }

  #finish({ seq, status }: NonNullable<DoneSteps["end"]>): void {
    const { outlet, turn } = this.#deps;
    this.#isFinished = true;
    this.#notes.pass();
    if (outlet.attachment?.isLive !== true) return this.#over();
    this.#notes.turnEnd(seq, status);
    outlet.speak(turn.chatId, this);
  }

  #over(): void {
    this.stop();
    this.#deps.onOver();
  }

  async #show(attachment: Attachment): Promise<undefined> {
    const note = this.#notes.take();
    this.#isBusy = true;
    if (note !== undefined && attachment.isLive) {
      const outcome = await attachment.call((link) => note.show(link), this.turnId);
      if (outcome.kind !== "done") {
        this.#deps.log.debug("Something beside an answer was not shown", {
          channel: this.#deps.turn.runtimeName,
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
    piece: NonNullable<Segment["piece"]>,
    attachment: Attachment,
  ): Promise<Pause | undefined> {
    this.#isBusy = true;
    const result = await this.#sender.send(segment, piece, attachment);
    this.#isBusy = false;
    if (this.#isOver) return undefined;
    if (result.kind === "gone") return void this.#over();
    if (result.kind === "sent") {
      if (result.isLast) {
        this.#steps.drop(1);
        this.#deps.outlet.noteSent();
      }
      this.#deps.onRoom();
    }
    this.#goOn();
    return result.kind === "again" ? result.pause : undefined;
  }
}
