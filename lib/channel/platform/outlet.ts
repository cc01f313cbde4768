/**
 * The way out of a platform: messages, answers that grow, notes, approvals and signs of typing, by the few
 * calls of a driver.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { OutboundMessage, StreamDelta } from "../../contract/outbound_message.ts";
import { eventOf } from "../outbound_event.ts";
import { Answers } from "./answers.ts";
import { Approvals, type ClickDeps } from "./approvals.ts";
import type { Edit, PlatformDriver, PlatformReaction, Posting } from "./driver.ts";
import { EditedStreams } from "./edited_streams.ts";
import type { Memory } from "./memory.ts";
import type { PlatformWords } from "./platform_words.ts";
import { StatusNotes } from "./status_notes.ts";
import { Typing } from "./typing.ts";

/** What an outlet is made of. */
export interface OutletDeps<Ref, File> {
  driver: PlatformDriver<never, Ref, File>;
  /** As a delivery fails. `isRepeatable`: a second copy of the call does no harm. */
  faultOf: (error: unknown, isRepeatable: boolean) => unknown;
  memory: Memory;
  words: PlatformWords;
  clock: Clock;
}

/** Characters of a note. */
const MAX_NOTE_CHARS = 500;

export class Outlet<Ref, File> {
  readonly approvals: Approvals<Ref>;
  readonly typing: Typing;
  readonly notes: StatusNotes<Ref>;
  readonly #deps: OutletDeps<Ref, File>;
  readonly #answers: Answers<Ref, File>;
  readonly #streams: EditedStreams<Ref>;

  constructor(deps: OutletDeps<Ref, File>) {
    this.#deps = deps;
    const { driver, memory, words, clock, faultOf } = deps;
    const post = (posting: Posting<File>) => this.#post(posting);
    const edit = (ref: Ref, change: Edit) => this.#safely(() => driver.edit(ref, change));
    const split = (markdown: string) => driver.split(markdown);
    this.#answers = new Answers({
      ...{ driver, words, post, clock },
      faultOf: (error) => faultOf(error, true),
    });
    this.approvals = new Approvals({ answers: this.#answers, split, edit, memory, words, clock });
    const { typing } = driver;
    this.typing = new Typing({
      clock,
      everyMs: typing?.everyMs ?? Infinity,
      show: (chatId) => typing?.show(chatId) ?? Promise.resolve(),
      ...typing?.hide !== undefined && { hide: (chatId) => typing.hide!(chatId) },
    });
    this.notes = new StatusNotes<Ref>({
      post: (chatId, text) =>
        post({ ...messageOf(chatId, text), kind: "note", key: crypto.randomUUID() }),
      edit: (ref, text) => edit(ref, { text, kind: "note", isFinal: false }),
      remove: (ref, texts) => this.#safely(() => driver.removeNote(ref, texts)),
      ...driver.keepsNotes !== false && { memory },
      clock,
      everyMs: (chatId) => driver.editEveryMs(chatId, "note"),
    });
    this.#streams = new EditedStreams<Ref>({
      post: ({ chatId, metadata, key, isFirst }, text) =>
        post({ ...messageOf(chatId, text), metadata, key, isFirst }),
      edit: async (ref, text, isFinal) => {
        await edit(ref, { text, kind: "answer", isFinal });
      },
      split,
      everyMs: (chatId) => driver.editEveryMs(chatId, "answer"),
      knowsKeys: driver.knowsKeys === true,
      clock,
    });
  }

  /** Delivers a message; rejects as `BaseChannel.send` does. */
  async send(message: OutboundMessage): Promise<void> {
    const { driver } = this.#deps;
    const { chatId, content, media, metadata } = message;
    const event = eventOf(message);
    const turn = driver.turnOf?.(metadata) ?? "";
    const isNothing = content.trim() === "" && media.length === 0;
    switch (event?.type) {
      case undefined:
        if (isNothing || await driver.answerClick?.(message)) return;
        await this.#answers.send(message);
        // The end of a turn is told once, and may be lost.
        if (turn !== "") void this.notes.end(chatId, turn);
        return;
      case "goal_status":
        // It is to stay, and not to go with the turn.
        if (!isNothing) await this.#answers.send(message, { kind: "own" });
        return;
      case "progress":
        return await this.notes.show(chatId, this.#noteOf(content), turn);
      case "turn_end":
        this.typing.end(chatId);
        await driver.turnEnded?.(message).catch(() => {});
        return await this.notes.end(chatId, turn);
      case "approval":
        return await this.approvals.show(message, event, driver.hasButtons?.() === true);
      case "approval_resolved":
        return await this.approvals.resolve(message, event);
      default:
        // Thoughts are not shown, and what comes later is not known.
        return;
    }
  }

  /** Shows a piece of an answer; rejects as `BaseChannel.sendDelta` does. */
  async push(piece: StreamDelta): Promise<void> {
    await this.#streams.push(piece);
    const { chatId, metadata, streamEnd, resuming } = piece;
    const turn = this.#deps.driver.turnOf?.(metadata) ?? "";
    if (streamEnd && !resuming && turn !== "") void this.notes.end(chatId, turn);
  }

  /** Says something of the channel's own; `key`: the same for the same. Rejects as `send` does. */
  async tell(
    chatId: string,
    key: string,
    text: string,
    metadata: Posting["metadata"] = {},
  ): Promise<void> {
    for (const [at, part] of this.#deps.driver.split(text).entries()) {
      await this.#post({
        ...messageOf(chatId, part),
        ...{ kind: "own", metadata, key: `${key}.${at}`, isFirst: at === 0 },
      });
    }
  }

  /** A reaction that answers an approval; one that is too late gets a word. Never rejects. */
  async react(reaction: PlatformReaction, deps: ClickDeps): Promise<void> {
    const answered = await this.approvals.react(reaction, deps);
    if (answered === undefined || answered.outcome === "taken") return;
    const { outcome, approvalId, chatId } = answered;
    const key = `late:${approvalId}:${reaction.senderId}`;
    await this.tell(chatId, key, this.#deps.words(outcome)).catch((error) =>
      deps.log.warning("That a reaction did not count was not told", {
        reason: (error as Error).message,
      })
    );
  }

  /** What waits for its time to be shown waits no longer. */
  endWaits(): void {
    this.typing.close();
    this.#streams.close();
  }

  async #post(posting: Posting<File>): Promise<Ref> {
    const { driver, faultOf } = this.#deps;
    try {
      return await driver.post(posting);
    } catch (error) {
      throw faultOf(error, false);
    }
  }

  /** A call that may be repeated. */
  async #safely<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.#deps.faultOf(error, true);
    }
  }

  #noteOf(markdown: string): string {
    const { driver } = this.#deps;
    if (driver.noteOf !== undefined) return driver.noteOf(markdown);
    return driver.split(markdown.trim().slice(0, MAX_NOTE_CHARS).toWellFormed())[0] ?? "";
  }
}

function messageOf(chatId: string, text: string) {
  return { chatId, text, kind: "answer", metadata: {}, isFirst: true, files: [] } as const;
}
