/**
 * Deliveries over what is on record: a crash at any instant leaves every message either to be sent, or
 * known to have been, or `unknown`.
 *
 * @module
 */

import { type Clock, systemClock } from "../base/clock.ts";
import type { Journal } from "../contract/journal.ts";
import { settlesWithin } from "../contract/life.ts";
import type { Log } from "../base/log.ts";
import { AnswerCursor } from "./answer_cursor.ts";
import { Attachment } from "./attachment.ts";
import type { Deliveries, DeliveryCounts } from "../channel/deliveries.ts";
import type { ChannelTurn } from "../contract/delivery_store.ts";
import { filesAsTheyAre, type PlaceFiles } from "./file_place.ts";
import { Outlet } from "./outlet.ts";
import { Persister } from "./persist.ts";
import { SessionReader } from "./session_reader.ts";

/** How long a runtime may take to answer a call, milliseconds. */
const CALL_TIMEOUT_MS = 120_000;

/** Milliseconds between two looks at what has expired. */
const TIDY_EVERY_MS = 60_000;

/** Turns that are read at once at the start. */
const PAGE = 256;

/** What deliveries are made of. */
export interface DeliveriesDeps {
  /** After `recover`. */
  journal: Pick<Journal, "deliveries" | "follow">;
  log: Log;
  clock?: Clock;
  /** Where channels find files; default: where they are. */
  placeFiles?: PlaceFiles;
  /** Milliseconds; default 120,000. */
  callTimeoutMs?: number;
}

/** Makes them; answers that an earlier process has left go on at once. */
export function createDeliveries(deps: DeliveriesDeps): Deliveries {
  return new JournalDeliveries(deps);
}

class JournalDeliveries implements Deliveries {
  readonly #deps: Required<DeliveriesDeps>;
  readonly #store: DeliveriesDeps["journal"]["deliveries"];
  readonly #persister: Persister;
  readonly #outlets = new Map<string, Outlet>();
  readonly #readers = new Map<number, SessionReader>();
  readonly #cursors = new Map<string, AnswerCursor>();
  #isStopped = false;
  #cancelTidying = () => {};

  constructor(
    {
      clock = systemClock,
      placeFiles = filesAsTheyAre,
      callTimeoutMs = CALL_TIMEOUT_MS,
      ...deps
    }: DeliveriesDeps,
  ) {
    this.#deps = { ...deps, clock, placeFiles, callTimeoutMs };
    this.#store = deps.journal.deliveries;
    this.#persister = new Persister({ clock, log: deps.log });
    this.#goOnWithAll();
    this.#tidyLater();
  }

  attach(...[link, spec]: Parameters<Deliveries["attach"]>): () => Promise<void> {
    if (this.#isStopped) return () => Promise.resolve();
    const { clock, callTimeoutMs: timeoutMs } = this.#deps;
    const outlet = this.#outletOf(link.runtimeName);
    const attachment = new Attachment(link, spec, { clock, timeoutMs });
    outlet.attach(attachment);
    return () => outlet.detach(attachment);
  }

  follow(turnId: string): void {
    if (this.#isStopped) return;
    const turn = this.#store.turn(turnId);
    if (turn !== undefined) this.#open(turn, true);
  }

  wake(runtimeName: string, chatId?: string): void {
    this.#outlets.get(runtimeName)?.wake(chatId);
  }

  counts(runtimeName: string): DeliveryCounts {
    const outlet = this.#outlets.get(runtimeName);
    const { waiting, unknown, dead } = this.#store.counts(runtimeName);
    let streams = 0;
    for (const answer of outlet?.answers ?? []) if (answer.isStreaming) streams++;
    return {
      waiting: waiting + streams,
      retrying: outlet?.retrying ?? 0,
      sent: outlet?.sent ?? 0,
      unknown,
      dead,
    };
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    this.#cancelTidying();
    for (const reader of this.#readers.values()) reader.stop();
    this.#readers.clear();
    const idle = Promise.all(Array.from(this.#outlets.values(), (outlet) => outlet.stop()));
    await settlesWithin(this.#deps.clock, idle, graceMs);
    // What is still being sent is `unknown` at the next start.
    for (const cursor of this.#cursors.values()) cursor.stop();
    this.#cursors.clear();
    await this.#persister.stop();
  }

  #outletOf(runtimeName: string): Outlet {
    let outlet = this.#outlets.get(runtimeName);
    if (outlet === undefined) {
      const persister = this.#persister;
      outlet = new Outlet({ ...this.#deps, runtimeName, store: this.#store, persister });
      this.#outlets.set(runtimeName, outlet);
    }
    return outlet;
  }

  #readerOf(sessionId: number): SessionReader {
    let reader = this.#readers.get(sessionId);
    if (reader === undefined) {
      const { journal, clock, log } = this.#deps;
      reader = new SessionReader({
        sessionId,
        follow: (id, options) => journal.follow(id, options),
        onEnd: (consumers) => {
          this.#readers.delete(sessionId);
          for (const { turnId } of consumers) {
            this.#cursors.get(turnId)?.stop();
            this.#cursors.delete(turnId);
          }
        },
        onError: (error) =>
          log.error("Cannot read the answers of a session; it is tried again", {
            reason: String(error),
          }),
        clock,
      });
      this.#readers.set(sessionId, reader);
    }
    return reader;
  }

  #open(turn: ChannelTurn, isLive: boolean): void {
    const { turnId, sessionId, runtimeName, seq } = turn;
    if (this.#cursors.has(turnId)) return;
    const cursor = new AnswerCursor({
      turn,
      outlet: this.#outletOf(runtimeName),
      store: this.#store,
      persister: this.#persister,
      log: this.#deps.log,
      onOver: () => {
        this.#cursors.delete(turnId);
        const reader = this.#readers.get(sessionId);
        reader?.remove(turnId);
        reader?.wake();
        if (reader?.isEmpty) this.#readers.delete(sessionId);
      },
      onRoom: () => this.#readers.get(sessionId)?.wake(),
    });
    this.#cursors.set(turnId, cursor);
    this.#readerOf(sessionId).add(cursor, seq, isLive);
  }

  #goOnWithAll(): void {
    for (let after = 0;;) {
      const turns = this.#store.turns(after, PAGE);
      for (const turn of turns) this.#open(turn, false);
      if (turns.length < PAGE) return;
      after = turns.at(-1)!.rowid;
    }
  }

  #tidyLater(): void {
    this.#cancelTidying = this.#deps.clock.after(TIDY_EVERY_MS, async () => {
      await this.#persister.write(() => this.#store.tidy());
      if (!this.#isStopped) this.#tidyLater();
    });
  }
}
