/**
 * Everything that goes out under one runtime name: its lanes, a bounded number of which is at work.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Attachment } from "./attachment.ts";
import type { Outcome } from "./attempt.ts";
import type { DeliveryStore } from "../contract/delivery_store.ts";
import { Lane, type Speaker } from "./lane.ts";
import type { PlaceFiles } from "./file_place.ts";
import type { Persister } from "./persist.ts";

/** Chats of a runtime that are served at once. */
const MAX_BUSY = 32;

/** Chats that are looked up at once. */
const PAGE = 256;

/**
 * What the platform may put off in this time before nothing else is tried in it, milliseconds: while it is
 * away, ten thousand chats cost no more than these.
 */
const MAX_PUT_OFF = 32;
const PUT_OFF_MS = 2_000;

/** Milliseconds before it is asked again whether a runtime runs by now. */
const ASK_AGAIN_MS = 1_000;

/** What an outlet works with. */
export interface OutletDeps {
  runtimeName: string;
  store: DeliveryStore;
  persister: Persister;
  placeFiles: PlaceFiles;
  clock: Pick<Clock, "now" | "after">;
  log: Log;
}

/** A turn whose answer goes out here. */
export interface OpenAnswer {
  /** A stream of it is being sent. */
  readonly isStreaming: boolean;
  /** The link that streams were sent over is gone. */
  detached(): void;
}

export class Outlet {
  /** Turns whose answer is not handed over. */
  readonly answers = new Set<OpenAnswer>();
  readonly #deps: OutletDeps;
  readonly #lanes = new Map<string, Lane>();
  /** Those that want to be stepped; in their order. */
  readonly #ready = new Set<Lane>();
  #attachment: Attachment | undefined;
  #busy = 0;
  #retrying = 0;
  #sent = 0;
  #cancelAsking: (() => void) | undefined;
  /** Calls that were put off, with nothing else in between, and the end of their time. */
  #putOff = 0;
  #cancelPutOff: (() => void) | undefined;
  #isStopped = false;
  readonly #idle = Promise.withResolvers<void>();

  constructor(deps: OutletDeps) {
    this.#deps = deps;
  }

  get attachment(): Attachment | undefined {
    return this.#attachment;
  }

  get retrying(): number {
    return this.#retrying;
  }

  get sent(): number {
    return this.#sent;
  }

  /** A message or a whole stream has arrived. */
  noteSent(): void {
    this.#sent++;
  }

  /** Delivers over this one. Throws when there is another. */
  attach(attachment: Attachment): void {
    const { runtimeName } = this.#deps;
    if (this.#attachment !== undefined) {
      throw new Error(`Cannot deliver for ${JSON.stringify(runtimeName)} over two links at once`);
    }
    this.#attachment = attachment;
    this.#goOn();
    attachment.onOutcome = (outcome) => this.#note(outcome);
    this.#pump();
    this.#findChats(attachment).catch((error) => this.#deps.persister.report(error));
  }

  /** Resolves when nothing is being sent over the attachment any more. */
  async detach(attachment: Attachment): Promise<void> {
    if (this.#attachment === attachment) {
      this.#attachment = undefined;
      this.#goOn();
      // What is without a link costs no memory; it is found again.
      for (const lane of this.#lanes.values()) lane.stop();
      this.#lanes.clear();
      this.#ready.clear();
    }
    await attachment.detach();
    // Those too that another link serves by now.
    for (const answer of this.answers) answer.detached();
  }

  wake(chatId?: string): void {
    if (this.#attachment === undefined || this.#isStopped) return;
    if (chatId === undefined) this.#pump();
    else this.#lane(chatId).wake();
  }

  /** The turn has something for the chat; without a link it has to come again. */
  speak(chatId: string, speaker: Speaker): void {
    if (this.#attachment === undefined || this.#isStopped) return;
    this.#lane(chatId).speak(speaker);
  }

  silence(chatId: string, speaker: Speaker): void {
    this.#lanes.get(chatId)?.silence(speaker);
  }

  /** Ends every wait at once; resolves when no chat is at work any more. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelAsking?.();
    this.#goOn();
    this.#ready.clear();
    for (const lane of this.#lanes.values()) lane.stop();
    if (this.#busy === 0) this.#idle.resolve();
    return this.#idle.promise;
  }

  async #findChats(attachment: Attachment): Promise<void> {
    const { runtimeName, store, persister } = this.#deps;
    if (attachment.isIdempotent) {
      await persister.write(() => store.retryUnknown(runtimeName));
    }
    for (let after = "";;) {
      if (this.#attachment !== attachment || this.#isStopped) return;
      const chats = store.chats(runtimeName, after, PAGE);
      for (const chatId of chats) this.#lane(chatId).wake();
      if (chats.length < PAGE) return;
      after = chats.at(-1)!;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #lane(chatId: string): Lane {
    const known = this.#lanes.get(chatId);
    if (known !== undefined) return known;
    const { runtimeName, store, persister, placeFiles, clock, log } = this.#deps;
    const lane: Lane = new Lane({
      runtimeName,
      chatId,
      store,
      persister,
      placeFiles,
      clock,
      log,
      onReady: () => {
        if (this.#lanes.get(chatId) !== lane) return;
        this.#ready.add(lane);
        this.#pump();
      },
      onEmpty: () => {
        if (this.#lanes.get(chatId) === lane) this.#lanes.delete(chatId);
      },
      onRetrying: (change) => {
        this.#retrying += change;
      },
      onSent: () => this.noteSent(),
    });
    this.#lanes.set(chatId, lane);
    return lane;
  }

  #note({ kind }: Outcome): void {
    if (this.#isStopped) return;
    if (kind !== "later") return this.#goOn();
    this.#putOff += 1;
    this.#cancelPutOff ??= this.#deps.clock.after(PUT_OFF_MS, () => {
      this.#goOn();
      this.#pump();
    });
  }

  /** Nothing is known of the platform that would hold up other chats. */
  #goOn(): void {
    this.#putOff = 0;
    this.#cancelPutOff?.();
    this.#cancelPutOff = undefined;
  }

  #pump(): void {
    const attachment = this.#attachment;
    if (attachment === undefined || this.#isStopped) return;
    for (const lane of this.#ready) {
      if (this.#busy >= MAX_BUSY || this.#putOff >= MAX_PUT_OFF) return;
      if (!attachment.isLive) return this.#askAgain();
      this.#ready.delete(lane);
      this.#busy++;
      void lane.step(attachment).finally(() => {
        this.#busy--;
        // A pause that the step began is nobody's then.
        if (this.#isStopped || this.#lanes.get(lane.chatId) !== lane) lane.stop();
        if (this.#isStopped && this.#busy === 0) this.#idle.resolve();
        this.#pump();
      });
    }
  }

  #askAgain(): void {
    this.#cancelAsking ??= this.#deps.clock.after(ASK_AGAIN_MS, () => {
      this.#cancelAsking = undefined;
      this.#pump();
    });
  }
}
