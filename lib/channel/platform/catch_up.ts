/**
 * Messages that were missed, out of the platform's own history: behind a start, behind a connection that
 * was lost, behind whatever the platform says that it has left out.
 *
 * Invariants:
 * - A chat is behind until its history is on the disk; how far it was looked at does not move until then.
 * - A chat whose history fails holds up no other, and is read again.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { LoginRefusedError, PermanentDeliveryError } from "../delivery_error.ts";
import { backoffMs } from "./backoff.ts";
import { pauseOf, reasonOf } from "./failed_call.ts";
import { sleep } from "./sleep.ts";

/** A part of a history. */
export interface HistoryPage<Event> {
  events: readonly Event[];
  /** By which the next part is asked for; absent: this is the last. */
  next?: string;
}

/** A part of a chat's history. */
export interface ChatPage<Chat, Event> extends HistoryPage<Event> {
  /** Others in which something may have been missed: threads that begin in it. */
  chats?: readonly Chat[];
}

/** What a platform has to say. `Chat` holds since when something may have been missed in it. */
export interface CatchUpDeps<Chat, Event> {
  /** Chats in which something may have been missed, the most urgent first. */
  chats(): readonly Chat[] | Promise<readonly Chat[]>;
  /** A part of what was written in a chat since; `next` of the part before. */
  page(chat: Chat, next: string | undefined): Promise<ChatPage<Chat, Event>>;
  /** By which an event that stands in two parts is known, and by which events are put in order. */
  keyOf(event: Event): { id: string; at: number };
  /** Resolves when the events, the oldest first, and how far the chat was looked at are on the disk. */
  take(chat: Chat, events: readonly Event[]): Promise<unknown>;
  /** The platform lets nobody read the chat. */
  refused?(chat: Chat): void;
  /** All that was written before the chats were listed is on the disk. */
  done?(): Promise<unknown>;
  clock: Pick<Clock, "after">;
  log: Pick<Log, "info" | "warning">;
}

/** Events of one chat; what is more is left out. A page counts as so many at least. */
const MAX_EVENTS = 1_000;
const LEAST_OF_PAGE = 20;

/** How long live events wait for what was missed before them, milliseconds. */
const HOLD_MS = 120_000;

/** Tries of one call, and pauses that the platform asks for. */
const MAX_TRIES = 4;
const MAX_PAUSES = 20;

/** Before what could not be read is read again: 15, 30 … 300 s, some two hours in all. */
const AGAIN = { firstMs: 15_000, maxMs: 300_000 };
const MAX_ROUNDS = 24;

/** Rejects as `page` does. `isCut`: there is more than is read. */
export async function readHistory<Page extends HistoryPage<unknown>>(
  page: (next: string | undefined) => Promise<Page>,
): Promise<{ pages: Page[]; isCut: boolean }> {
  const pages: Page[] = [];
  let next: string | undefined;
  for (let read = 0; read < MAX_EVENTS;) {
    const found = await page(next);
    pages.push(found);
    next = found.next;
    if (next === undefined) break;
    read += Math.max(LEAST_OF_PAGE, found.events.length);
  }
  return { pages, isCut: next !== undefined };
}

export class CatchUp<Chat extends { id: string }, Event> {
  readonly #deps: CatchUpDeps<Chat, Event>;
  readonly #closing = new AbortController();
  readonly #behind = new Map<string, Chat>();
  /** How often it was to be read, and how often it was by then when the chats were listed last. */
  #asked = 0;
  #listed = 0;
  #reading: Promise<void> | undefined;
  /** Until when live events wait. */
  #held: Promise<void> = Promise.resolve();
  #failures = 0;
  #cancelAgain: (() => void) | undefined;

  constructor(deps: CatchUpDeps<Chat, Event>) {
    this.#deps = deps;
  }

  /** Whether something of a chat, or of any, may be missing. */
  isBehind(chatId?: string): boolean {
    return this.#asked > this.#listed ||
      (chatId === undefined ? this.#behind.size > 0 : this.#behind.has(chatId));
  }

  /**
   * Events were missed, or may have been. Resolves when live ones are to wait no more: all that can be read
   * was, or that takes too long. Never rejects.
   */
  read(): Promise<void> {
    this.#asked += 1;
    this.#failures = 0;
    const late = Promise.withResolvers<void>();
    const cancel = this.#deps.clock.after(HOLD_MS, late.resolve);
    return this.#held = Promise.race([this.#start(), late.promise]).finally(cancel);
  }

  /** Stores what happens now behind what was missed before, until it is on the disk or this is closed. */
  async keep(store: () => Promise<unknown>): Promise<void> {
    const { clock, log } = this.#deps;
    const { signal } = this.#closing;
    await this.#held;
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        await store();
        return;
      } catch (error) {
        if (signal.aborted) return;
        const waitMs = backoffMs(failures);
        const facts = { reason: reasonOf(error), waitMs };
        log.warning("Messages could not be stored, and are tried again", facts);
        await sleep(waitMs, clock, signal);
      }
    }
  }

  /** The same, after a while: an event could not be stored. */
  readLater(): void {
    this.#asked += 1;
    this.#again();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#cancelAgain?.();
    await this.#reading;
  }

  async #start(): Promise<void> {
    this.#cancelAgain?.();
    this.#cancelAgain = undefined;
    if (this.#closing.signal.aborted) return;
    await (this.#reading ??= this.#run());
  }

  async #run(): Promise<void> {
    let isAgain = false;
    while (this.isBehind() && !isAgain && !this.#closing.signal.aborted) {
      const asked = this.#asked;
      try {
        await this.#round();
        this.#failures = 0;
      } catch (error) {
        if (this.#closing.signal.aborted) break;
        this.#failures += 1;
        this.#deps.log.warning("Messages that were missed could not be read", {
          channels: [...this.#behind.keys()].slice(0, 5).join(", "),
          reason: reasonOf(error),
        });
        // It may have looked already at where something is missing now.
        isAgain = this.#asked === asked;
        if (isAgain && this.#behind.size === 0) this.#asked += 1;
      }
    }
    this.#reading = undefined;
    if (isAgain) this.#again();
  }

  /** Tries to read what is missing. Rejects as the first that failed. */
  async #round(): Promise<void> {
    const { chats, done } = this.#deps;
    const asked = this.#asked;
    if (asked > this.#listed) {
      for (const chat of await this.#call(MAX_TRIES, () => chats())) this.#add(chat);
      this.#listed = asked;
    }
    const failures: unknown[] = [];
    for (const chat of this.#behind.values()) {
      // A platform that is away is not waited for by each of them, nor each time.
      await this.#readChat(chat, failures.length + this.#failures === 0 ? MAX_TRIES : 1)
        .catch((error) => failures.push(error));
      this.#closing.signal.throwIfAborted();
    }
    if (failures.length > 0) throw failures[0];
    await done?.();
  }

  async #readChat(chat: Chat, tries: number): Promise<void> {
    const { page, keyOf, take, refused, log } = this.#deps;
    const history = await readHistory((next) => this.#call(tries, () => page(chat, next)))
      .catch((error) => {
        if (!(error instanceof PermanentDeliveryError)) throw error;
        log.warning("A channel cannot be read, and is left alone", {
          channel: chat.id,
          reason: reasonOf(error),
        });
        refused?.(chat);
      });
    if (history !== undefined) {
      const all = history.pages.flatMap(({ events }) => events);
      const byId = new Map(all.map((event) => [keyOf(event).id, event]));
      const events = [...byId.values()].sort((one, other) => keyOf(one).at - keyOf(other).at);
      const facts = { channel: chat.id, fetched: events.length };
      if (history.isCut) {
        log.warning("More was written than is fetched; the rest of it is left alone", facts);
      } else if (events.length > 0) log.info("Messages that were missed were read", facts);
      await take(chat, events);
      for (const found of history.pages.flatMap(({ chats = [] }) => chats)) this.#add(found);
    }
    this.#behind.delete(chat.id);
  }

  /** What is behind already is so since earlier. */
  #add(chat: Chat): void {
    if (!this.#behind.has(chat.id)) this.#behind.set(chat.id, chat);
  }

  /** Rejects with what another try does not mend now. */
  async #call<T>(tries: number, ask: () => T | Promise<T>): Promise<T> {
    const { log, clock } = this.#deps;
    const { signal } = this.#closing;
    for (let failures = 0, pauses = 0;;) {
      try {
        return await ask();
      } catch (error) {
        signal.throwIfAborted();
        const pauseMs = pauseOf(error);
        const isLast = pauseMs > 0 ? (pauses += 1) > MAX_PAUSES : (failures += 1) >= tries;
        const isFinal = error instanceof PermanentDeliveryError ||
          error instanceof LoginRefusedError;
        if (isLast || isFinal) throw error;
        const waitMs = pauseMs || backoffMs(failures);
        log.warning("Messages could not be fetched, and are tried again", {
          reason: reasonOf(error),
          waitMs,
        });
        await sleep(waitMs, clock, signal);
        signal.throwIfAborted();
      }
    }
  }

  #again(): void {
    const isOver = this.#closing.signal.aborted || this.#failures > MAX_ROUNDS;
    if (isOver || this.#cancelAgain !== undefined) return;
    const waitMs = backoffMs(this.#failures, AGAIN);
    this.#cancelAgain = this.#deps.clock.after(waitMs, () => void this.#start());
  }
}
