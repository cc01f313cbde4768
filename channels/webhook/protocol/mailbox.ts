/**
 * Answers for those who wait for them in the response to their own request.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";

/** An answer, or a part of one. */
export interface Reply {
  id: string;
  text: string;
  media: readonly unknown[];
}

/** What has come so far. */
export interface Collected {
  /** How the turn ended; absent while it goes on. */
  status?: string;
  replies: readonly Reply[];
}

/** Requests that may wait, and answers that are kept for a repeat of the request. */
const MAX_BOXES = 256;
const MAX_CHARS = 32 * 1024 * 1024;
/** How long answers are kept when the turn has ended, and when nothing is heard of it, milliseconds. */
const KEPT_MS = 10 * 60 * 1_000;

interface Box {
  replies: Reply[];
  status: string | undefined;
  /** How it ends with the next answer, where there is no turn that could say. */
  endsAs: string | undefined;
  changedMs: number;
  chars: number;
  wake: Set<() => void>;
}

/** By webhook-id. */
export class Mailbox {
  readonly #clock: Clock;
  readonly #boxes = new Map<string, Box>();
  #chars = 0;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps the answers of a request from now on, or as before. `full`: too many are kept. */
  open(id: string): "new" | "known" | "full" {
    this.#tidy();
    if (this.#boxes.has(id)) return "known";
    if (this.#boxes.size >= MAX_BOXES) {
      const [ended] = [...this.#boxes].find(([, box]) =>
        box.status !== undefined && box.wake.size === 0
      ) ?? [];
      if (ended === undefined) return "full";
      this.drop(ended);
    }
    this.#boxes.set(id, {
      replies: [],
      status: undefined,
      endsAs: undefined,
      changedMs: this.#clock.elapsed(),
      chars: 0,
      wake: new Set(),
    });
    return "new";
  }

  /** Nothing is to come for a request. */
  drop(id: string): void {
    const box = this.#boxes.get(id);
    if (box === undefined) return;
    this.#boxes.delete(id);
    this.#chars -= box.chars;
    for (const wake of box.wake) wake();
  }

  /** The next answer is the last, and ends it with a status. */
  expectOne(id: string, status: string): void {
    const box = this.#boxes.get(id);
    if (box === undefined) return;
    box.endsAs = status;
    if (box.replies.length > 0) this.end(id, status);
  }

  /** Nobody is to wait any longer. */
  close(): void {
    this.#isClosed = true;
    for (const { wake } of this.#boxes.values()) for (const one of wake) one();
  }

  /** Takes an answer; the same one again changes it. False: nobody asked for it, or it is too long. */
  add(id: string, reply: Reply): boolean {
    const box = this.#boxes.get(id);
    const chars = reply.text.length + JSON.stringify(reply.media).length;
    if (box === undefined || this.#chars + chars > MAX_CHARS) return false;
    const at = box.replies.findIndex((one) => one.id === reply.id);
    if (at === -1) box.replies.push(reply);
    else box.replies[at] = reply;
    box.chars += chars;
    this.#chars += chars;
    box.changedMs = this.#clock.elapsed();
    if (box.endsAs !== undefined) this.end(id, box.endsAs);
    return true;
  }

  /** Takes a piece of an answer. */
  append(id: string, replyId: string, text: string): boolean {
    const so = this.#boxes.get(id)?.replies.find((one) => one.id === replyId);
    if (so === undefined) return this.add(id, { id: replyId, text, media: [] });
    if (this.#chars + text.length > MAX_CHARS) return false;
    const box = this.#boxes.get(id)!;
    so.text += text;
    box.chars += text.length;
    this.#chars += text.length;
    return true;
  }

  /** The turn has ended. */
  end(id: string, status: string): void {
    const box = this.#boxes.get(id);
    if (box === undefined) return;
    box.status = status;
    box.changedMs = this.#clock.elapsed();
    for (const wake of box.wake) wake();
  }

  /** What there is when the turn has ended, after `ms`, or when the signal aborts. */
  async wait(id: string, ms: number, signal: AbortSignal): Promise<Collected> {
    const box = this.#boxes.get(id);
    if (box === undefined) return { replies: [] };
    if (box.status === undefined && !signal.aborted && !this.#isClosed) {
      const woken = Promise.withResolvers<void>();
      const wake = () => woken.resolve();
      const cancel = this.#clock.after(ms, wake);
      signal.addEventListener("abort", wake, { once: true });
      box.wake.add(wake);
      await woken.promise;
      box.wake.delete(wake);
      signal.removeEventListener("abort", wake);
      cancel();
    }
    return { status: box.status, replies: structuredClone(box.replies) };
  }

  #tidy(): void {
    const before = this.#clock.elapsed() - KEPT_MS;
    for (const [id, { changedMs, wake }] of this.#boxes) {
      if (changedMs < before && wake.size === 0) this.drop(id);
    }
  }
}
