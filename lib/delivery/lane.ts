/**
 * Everything for one chat of a runtime, one thing after the other: messages of the outbox in their
 * order, then what turns are saying. A wait holds up this chat alone.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { OutboxRow } from "../contract/journal.ts";
import type { Log } from "../base/log.ts";
import { eventOf } from "../channel/outbound_event.ts";
import type { OutboundMessage } from "../contract/outbound_message.ts";
import { type Outcome, retryWaitMs } from "./attempt.ts";
import type { Attachment } from "./attachment.ts";
import type { ChannelLink } from "../channel/channel_link.ts";
import type { DeliveryStore, Settlement } from "../contract/delivery_store.ts";
import type { PlaceFiles } from "./file_place.ts";
import type { Persister } from "./persist.ts";

/** Milliseconds after a read or write that failed, and for a runtime that has ended under a call. */
const AGAIN_MS = 1_000;

/** Turns that have ended and have something left for the chat; of more, the oldest is let go. */
const MAX_FINISHED = 64;

/** How long the lane is to wait. */
export interface Pause {
  ms: number;
  isRetry: boolean;
}

/** What says something in a chat that is no message of the outbox. */
export interface Speaker {
  /** The next call, to be made at once; undefined when there is nothing to say. */
  next(attachment: Attachment): (() => Promise<Pause | undefined>) | undefined;
  /** Whether what it has left is of little use. */
  readonly isFinished: boolean;
  /** Nobody asks it any more: there are too many. */
  letGo(): void;
}

/** What a lane works with. */
export interface LaneDeps {
  runtimeName: string;
  chatId: string;
  store: Pick<DeliveryStore, "claim" | "settle">;
  persister: Persister;
  placeFiles: PlaceFiles;
  clock: Pick<Clock, "now" | "after">;
  log: Log;
  /** It wants to be stepped. */
  onReady: (lane: Lane) => void;
  /** It has nothing left to do. */
  onEmpty: (lane: Lane) => void;
  onRetrying: (change: 1 | -1) => void;
  onSent: () => void;
}

export class Lane {
  readonly chatId: string;
  readonly #deps: LaneDeps;
  readonly #speakers = new Set<Speaker>();
  #mayHaveRows = false;
  #state: "idle" | "ready" | "busy" | "paused" = "idle";
  #cancelPause: (() => void) | undefined;
  /** It is a message of the outbox that waits. */
  #isRowsPause = false;
  /** It has waited for the next try of a message, as long as that was to be. */
  #isDue = false;
  #isRetrying = false;

  constructor(deps: LaneDeps) {
    this.#deps = deps;
    this.chatId = deps.chatId;
  }

  /** There are messages of the outbox for it, or one that waited has changed. */
  wake(): void {
    this.#mayHaveRows = true;
    // It looks again; what is to wait longer says so.
    if (this.#state === "paused" && this.#isRowsPause) this.#resume();
    else this.#getReady();
  }

  /** The speaker has something to say. */
  speak(speaker: Speaker): void {
    this.#speakers.add(speaker);
    if (this.#speakers.size > MAX_FINISHED) {
      for (const one of this.#speakers) {
        if (!one.isFinished) continue;
        one.letGo();
        break;
      }
    }
    this.#getReady();
  }

  /** The speaker is gone. */
  silence(speaker: Speaker): void {
    this.#speakers.delete(speaker);
    if (this.#state === "idle") this.#rest();
  }

  /** Delivers one thing. Called once for each `onReady`; never rejects. */
  async step(attachment: Attachment): Promise<void> {
    this.#state = "busy";
    this.#setRetrying(false);
    this.#isRowsPause = false;
    let pause: Pause | undefined | "nothing";
    try {
      pause = await this.#deliverNext(attachment);
    } catch (error) {
      this.#deps.persister.report(error);
      pause = { ms: AGAIN_MS, isRetry: true };
    }
    this.#state = "idle";
    if (pause === "nothing") return this.#rest();
    if (pause !== undefined && pause.ms > 0) return this.#pause(pause);
    this.#getReady();
  }

  /** Ends its wait, if it has one. */
  stop(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    this.#setRetrying(false);
  }

  async #deliverNext(attachment: Attachment): Promise<Pause | undefined | "nothing"> {
    const { runtimeName, chatId, store, clock } = this.#deps;
    if (this.#mayHaveRows) {
      this.#mayHaveRows = false;
      const isDue = this.#isDue;
      this.#isDue = false;
      const claim = await store.claim(runtimeName, chatId, isDue).catch((error) => {
        this.#mayHaveRows = true;
        throw error;
      });
      if (claim !== undefined) {
        this.#mayHaveRows = this.#isRowsPause = true;
        if ("row" in claim) return await this.#deliver(claim.row, attachment);
        return { ms: Math.max(1, claim.waitUntil - clock.now()), isRetry: claim.isRetry };
      }
    }
    for (const speaker of this.#speakers) {
      const call = speaker.next(attachment);
      this.#speakers.delete(speaker);
      if (call === undefined) continue;
      // The others come first next time.
      this.#speakers.add(speaker);
      return await call();
    }
    return this.#mayHaveRows ? undefined : "nothing";
  }

  async #deliver(row: OutboxRow, attachment: Attachment): Promise<Pause | undefined> {
    const { store, persister, clock, onSent } = this.#deps;
    const outcome: Outcome = !attachment.isLive
      ? { kind: "failed", error: "The channel has ended" }
      : isSwitchedOff(row, attachment)
      ? { kind: "done" }
      : await attachment.call((link) => this.#send(row, link, attachment), row.turnId);
    const settlement = this.#judge(row, outcome, attachment);
    // The next claim of this lane is written after it, most often in the same commit.
    void persister.write(() => store.settle(row.rowid, settlement));
    if (settlement.state === "sent") onSent();
    if (settlement.state !== "pending") return undefined;
    return { ms: Math.max(1, settlement.notBefore - clock.now()), isRetry: true };
  }

  async #send(row: OutboxRow, link: ChannelLink, { takesFiles }: Attachment): Promise<void> {
    const { media = [] } = row;
    if (media.length === 0) return await link.send(toMessage(row));
    if (!takesFiles) return await link.send(toMessage({ ...row, content: withoutFiles(row) }));
    const { runtimeName, placeFiles } = this.#deps;
    const { paths, remove } = await placeFiles(runtimeName, media);
    try {
      await link.send(toMessage(row, paths));
    } finally {
      await remove();
    }
  }

  #judge(row: OutboxRow, outcome: Outcome, attachment: Attachment): Settlement {
    if (outcome.kind === "done") return { state: "sent" };
    const { error } = outcome;
    const now = this.#deps.clock.now();
    const { channel, id, attempts } = row;
    switch (outcome.kind) {
      case "later":
        return { state: "pending", error, notBefore: now + outcome.retryAfterMs, counts: false };
      case "uncertain":
        if (attachment.isIdempotent && attempts < attachment.maxAttempts) break;
        this.#deps.log.warning("Nobody knows whether a message has arrived: service outbox", {
          channel,
          message: id,
          reason: error,
        });
        return { state: "unknown", error };
      case "permanent":
        break;
      case "failed":
        // It is the runtime that is gone, not the message that is refused.
        if (!attachment.isLive) {
          return { state: "pending", error, notBefore: now + AGAIN_MS, counts: false };
        }
    }
    if (outcome.kind === "permanent" || attempts >= attachment.maxAttempts) {
      this.#deps.log.warning("A message cannot be delivered: service outbox", {
        channel,
        message: id,
        attempts,
        reason: error,
      });
      return { state: "dead", error };
    }
    return { state: "pending", error, notBefore: now + retryWaitMs(attempts), counts: true };
  }

  #getReady(): void {
    if (this.#state !== "idle") return;
    this.#state = "ready";
    this.#deps.onReady(this);
  }

  #pause({ ms, isRetry }: Pause): void {
    this.#state = "paused";
    this.#setRetrying(isRetry);
    const isForRow = this.#isRowsPause && isRetry;
    this.#cancelPause = this.#deps.clock.after(ms, () => {
      this.#isDue = isForRow;
      this.#resume();
    });
  }

  #resume(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    this.#state = "idle";
    this.#getReady();
  }

  #rest(): void {
    if (this.#mayHaveRows || this.#speakers.size > 0) this.#getReady();
    else this.#deps.onEmpty(this);
  }

  #setRetrying(isRetrying: boolean): void {
    if (this.#isRetrying === isRetrying) return;
    this.#isRetrying = isRetrying;
    this.#deps.onRetrying(isRetrying ? 1 : -1);
  }
}

/** What a channel that takes no files says of them. */
function withoutFiles({ content, media = [] }: OutboxRow): string {
  const names = media.map(({ name }) => name).join(", ");
  const note = `(Not sent, as this channel takes no files: ${names})`;
  return content.trim() === "" ? note : `${content}\n\n${note}`;
}

/** The message as its runtime is given it; `media`: where its files are for it. */
export function toMessage(
  { id, channel, chatId, content, metadata = {}, event }: OutboxRow,
  media: readonly string[] = [],
): OutboundMessage {
  return { id, channel, chatId, content, media, metadata, ...event !== undefined && { event } };
}

/** Whether a flag says that nothing is to be delivered (C29). */
function isSwitchedOff(row: OutboxRow, { flags, showsReasoning }: Attachment): boolean {
  const event = eventOf({ event: row.event, metadata: row.metadata ?? {} });
  switch (event?.type) {
    case "progress":
      return !(event.toolHint ? flags.sendToolHints : flags.sendProgress);
    case "reasoning_delta":
    case "reasoning_end":
      return !showsReasoning;
    default:
      return false;
  }
}
