/**
 * One end of a session: asks by number and answers by number, with a bound on both. The authority and
 * the child use it alike, so it imports nothing that a child would have to load.
 *
 * @module
 */

import { MAX_PROGRESS_CHARS } from "./protocol.ts";
import {
  MAX_ERROR_CHARS,
  MAX_UNDER_WAY,
  readSessionFrame,
  type SessionFrame,
} from "./session_protocol.ts";
import { Slots } from "./slots.ts";

/** How one request is made. */
export interface AskOptions {
  /** Cancels it: the other side is told, and the promise rejects with the signal's reason at once. */
  signal?: AbortSignal;
  /** After it the other side is told to stop. None: it waits as long as the session lives. */
  timeoutMs?: number;
  onProgress?: (text: string) => void;
}

/** What the other side may ask and tell. */
export interface PeerHandlers {
  onRequest?(
    method: string,
    params: unknown,
    options: { signal: AbortSignal; progress: (text: string) => void },
  ): Promise<unknown>;
  onNotice?(name: string, data: unknown): void;
}

/** What an end is made of. */
export interface PeerOptions extends PeerHandlers {
  /** Throws a RangeError for what is too large for a frame. */
  send(frame: SessionFrame): void;
  /** Requests that wait for a place among those under way; beyond them a request is refused. */
  maxWaiting: number;
}

/** The other side said something that it never may. The message says what, for people. */
export class SessionFault extends Error {
  override name = "SessionFault";
}

interface Asked {
  settle(answer: { result: unknown } | { error: unknown }): void;
  onProgress?: (text: string) => void;
  /** Characters and texts of progress that it may still have. */
  charsLeft: number;
  textsLeft: number;
}

/** Progress of one request: characters and texts in all; more is dropped. */
const MAX_PROGRESS_TOTAL = 256 * 1024;
const MAX_PROGRESS_TEXTS = 10_000;

/** An end of a session. */
export class SessionPeer {
  readonly #options: PeerOptions;
  readonly #places: Slots;
  readonly #asked = new Map<number, Asked>();
  readonly #answering = new Map<number, AbortController>();
  #lastId = 0;
  #ended: Error | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#places = new Slots(MAX_UNDER_WAY, options.maxWaiting);
  }

  /** Asks and waits. Rejects in the other side's words, and as {@linkcode AskOptions} say. */
  async request(method: string, params: unknown, options: AskOptions = {}): Promise<unknown> {
    const { signal, timeoutMs } = options;
    signal?.throwIfAborted();
    this.#throwIfEnded();
    const release = await this.#places.take(signal ?? new AbortController().signal);
    if (release === undefined) throw new Error(`${MAX_UNDER_WAY} requests are under way already`);
    const id = ++this.#lastId;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const giveUp = (error: unknown) => {
      this.#asked.get(id)?.settle({ error });
      this.#trySend({ type: "cancel", id });
    };
    const onAbort = () => giveUp(signal!.reason);
    try {
      signal?.throwIfAborted();
      this.#throwIfEnded();
      return await new Promise((resolve, reject) => {
        this.#options.send({ type: "request", id, method, params });
        this.#asked.set(id, {
          settle: (answer) => {
            this.#asked.delete(id);
            if ("error" in answer) reject(answer.error);
            else resolve(answer.result);
          },
          onProgress: options.onProgress,
          charsLeft: MAX_PROGRESS_TOTAL,
          textsLeft: MAX_PROGRESS_TEXTS,
        });
        // Sending may have ended the session.
        if (this.#ended !== undefined) this.#asked.get(id)?.settle({ error: this.#ended });
        signal?.addEventListener("abort", onAbort, { once: true });
        if (timeoutMs !== undefined) {
          const error = () => new Error(`no answer within ${timeoutMs / 1_000} s`);
          timer = setTimeout(() => giveUp(error()), timeoutMs);
        }
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      release();
    }
  }

  /** Tells something that nobody answers. */
  notify(name: string, data: unknown): void {
    if (this.#ended === undefined) this.#options.send({ type: "notice", name, data });
  }

  /** Takes what the other side said. Throws a {@linkcode SessionFault}. */
  receive(value: unknown): void {
    if (this.#ended !== undefined) return;
    const frame = readSessionFrame(value);
    if (frame === undefined) throw new SessionFault("it said no known frame");
    switch (frame.type) {
      case "request":
        return this.#answer(frame);
      case "cancel":
        return this.#answering.get(frame.id)?.abort(new Error("cancelled"));
      case "notice":
        return this.#options.onNotice?.(frame.name, frame.data);
      case "progress":
        this.#checkAsked(frame.id);
        return this.#progress(this.#asked.get(frame.id), frame.text);
      case "answer":
        this.#checkAsked(frame.id);
        return this.#asked.get(frame.id)?.settle({ result: frame.result });
      case "error": {
        this.#checkAsked(frame.id);
        const error = new Error(frame.message.slice(0, MAX_ERROR_CHARS));
        return this.#asked.get(frame.id)?.settle({ error });
      }
    }
  }

  /** Ends it: what waits rejects with these words, and what is being answered is aborted. */
  end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = new Error(reason);
    for (const asked of [...this.#asked.values()]) asked.settle({ error: this.#ended });
    for (const controller of this.#answering.values()) controller.abort(this.#ended);
  }

  /** An answer that comes late, or twice, is nobody's any more; one to nothing is a fault. */
  #checkAsked(id: number): void {
    if (id > this.#lastId) throw new SessionFault("it answered a request that nobody made");
  }

  #throwIfEnded(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  #progress(asked: Asked | undefined, said: string): void {
    if (asked?.onProgress === undefined || asked.textsLeft === 0) return;
    const text = said.slice(0, Math.min(MAX_PROGRESS_CHARS, asked.charsLeft));
    asked.charsLeft -= text.length;
    asked.textsLeft--;
    if (text !== "") asked.onProgress(text);
  }

  #answer({ id, method, params }: Extract<SessionFrame, { type: "request" }>): void {
    if (this.#answering.has(id)) throw new SessionFault(`it asked twice under the number ${id}`);
    const { onRequest } = this.#options;
    if (onRequest === undefined) {
      return this.#trySend({ type: "error", id, message: "nothing can be asked here" });
    }
    if (this.#answering.size >= MAX_UNDER_WAY) {
      const message = `${MAX_UNDER_WAY} requests are under way already`;
      return this.#trySend({ type: "error", id, message });
    }
    const controller = new AbortController();
    this.#answering.set(id, controller);
    const { signal } = controller;
    const progress = (text: string) => {
      if (signal.aborted || !this.#answering.has(id)) return;
      this.#trySend({ type: "progress", id, text: text.slice(0, MAX_PROGRESS_CHARS) });
    };
    // In a promise from the start: a handler that throws at once is one that rejects.
    void (async () => {
      try {
        const result = await onRequest(method, params, { signal, progress });
        this.#answering.delete(id);
        this.#trySend({ type: "answer", id, result });
      } catch (error) {
        this.#answering.delete(id);
        const message = error instanceof Error ? error.message : String(error);
        this.#trySend({ type: "error", id, message: message.slice(0, MAX_ERROR_CHARS) });
      }
    })();
  }

  /** Sends what must not fail: what is too large becomes an error in its place. */
  #trySend(frame: SessionFrame): void {
    if (this.#ended !== undefined) return;
    try {
      this.#options.send(frame);
    } catch (error) {
      if (!("id" in frame) || frame.type === "progress") return;
      const message = error instanceof Error ? error.message : String(error);
      this.#options.send({
        type: "error",
        id: frame.id,
        message: message.slice(0, MAX_ERROR_CHARS),
      });
    }
  }
}
