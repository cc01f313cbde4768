/**
 * Deliveries over what is on record: a crash at any instant leaves every message either to be sent, or
 * known to have been, or `unknown`.
 *
 * @module
 */

import { type Clock, systemClock } from "../base/clock.ts";
import type { Journal } from "../contract/journal.ts";
import type { Log } from "../base/log.ts";
import { AnswerCursor } from "./answer_cursor.ts";
import { Attachment } from "./attachment.ts";
import type { Deliveries } from "../channel/deliveries.ts";
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
export function createDeliveries(
  {
    journal,
    log,
    clock = systemClock,
    placeFiles = filesAsTheyAre,
    callTimeoutMs = CALL_TIMEOUT_MS,
  }: DeliveriesDeps,
): Deliveries {
  const store = journal.deliveries;
  const persister = new Persister({ clock, log });
  const outlets = new Map<string, Outlet>();
  const readers = new Map<number, SessionReader>();
  const cursors = new Map<string, AnswerCursor>();
  let isStopped = false;
  let cancelTidying = () => {};

  function outletOf(runtimeName: string): Outlet {
    let outlet = outlets.get(runtimeName);
    if (outlet === undefined) {
      outlet = new Outlet({ runtimeName, store, persister, placeFiles, clock, log });
      outlets.set(runtimeName, outlet);
    }
    return outlet;
  }

  function readerOf(sessionId: number): SessionReader {
    let reader = readers.get(sessionId);
    if (reader === undefined) {
      reader = new SessionReader({
        sessionId,
        follow: (id, options) => journal.follow(id, options),
        onEnd(takers) {
          readers.delete(sessionId);
          for (const { turnId } of takers) {
            cursors.get(turnId)?.stop();
            cursors.delete(turnId);
          }
        },
        onError: (error) =>
          log.error("Cannot read the answers of a session; it is tried again", {
            reason: String(error),
          }),
        clock,
      });
      readers.set(sessionId, reader);
    }
    return reader;
  }

  function open(turn: ChannelTurn, isLive: boolean): void {
    const { turnId, sessionId, runtimeName, seq } = turn;
    if (cursors.has(turnId)) return;
    const cursor = new AnswerCursor({
      turn,
      outlet: outletOf(runtimeName),
      store,
      persister,
      log,
      onOver() {
        cursors.delete(turnId);
        const reader = readers.get(sessionId);
        reader?.remove(turnId);
        reader?.wake();
        if (reader?.isEmpty) readers.delete(sessionId);
      },
      onRoom: () => readers.get(sessionId)?.wake(),
    });
    cursors.set(turnId, cursor);
    readerOf(sessionId).add(cursor, seq, isLive);
  }

  function goOnWithAll(): void {
    for (let after = 0;;) {
      const turns = store.turns(after, PAGE);
      for (const turn of turns) open(turn, false);
      if (turns.length < PAGE) return;
      after = turns.at(-1)!.rowid;
    }
  }

  function tidyLater(): void {
    cancelTidying = clock.after(TIDY_EVERY_MS, () => {
      void persister.write(() => store.tidy()).then(() => {
        if (!isStopped) tidyLater();
      });
    });
  }

  goOnWithAll();
  tidyLater();
  return {
    attach(link, spec) {
      if (isStopped) return () => Promise.resolve();
      const outlet = outletOf(link.runtimeName);
      const attachment = new Attachment(link, spec, { clock, timeoutMs: callTimeoutMs });
      outlet.attach(attachment);
      return () => outlet.detach(attachment);
    },
    follow(turnId) {
      if (isStopped) return;
      const turn = store.turn(turnId);
      if (turn !== undefined) open(turn, true);
    },
    wake(runtimeName, chatId) {
      outlets.get(runtimeName)?.wake(chatId);
    },
    counts(runtimeName) {
      const outlet = outlets.get(runtimeName);
      const { waiting, unknown, dead } = store.counts(runtimeName);
      let streams = 0;
      for (const answer of outlet?.answers ?? []) if (answer.isStreaming) streams++;
      return {
        waiting: waiting + streams,
        retrying: outlet?.retrying ?? 0,
        sent: outlet?.sent ?? 0,
        unknown,
        dead,
      };
    },
    async stop(graceMs) {
      isStopped = true;
      cancelTidying();
      for (const reader of readers.values()) reader.stop();
      readers.clear();
      const idle = Promise.all(Array.from(outlets.values(), (outlet) => outlet.stop()));
      const late = Promise.withResolvers<void>();
      const cancel = clock.after(graceMs, late.resolve);
      await Promise.race([idle, late.promise]);
      cancel();
      // What is still being sent is `unknown` at the next start.
      for (const cursor of cursors.values()) cursor.stop();
      cursors.clear();
      await persister.stop();
    },
  };
}
