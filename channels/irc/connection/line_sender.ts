/**
 * Sends lines at a pace that a server takes, and makes sure that it has taken them: it answers a PING
 * behind them, and what it refuses it refuses before that.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import {
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "../../../lib/channel/delivery_error.ts";
import type { IrcLine } from "./irc_framework.ts";

/** What a sender is made of. */
export interface LineSenderDeps {
  send: (command: string, ...params: string[]) => void;
  /** Lines that may go out at once. */
  burst: number;
  /** Between further lines, milliseconds. */
  paceMs: number;
  clock: Clock;
  /** Nicks and channels are compared in this form. */
  fold: (text: string) => string;
  /** The server does not answer. */
  onSilent: () => void;
}

/** Lines between two PINGs. */
const BATCH = 4;

const ANSWER_TIMEOUT_MS = 60_000;

/** Refusals of a message that a repeat does not mend; the target is their second parameter. */
const REFUSALS: ReadonlySet<string> = new Set(
  [
    "401",
    "403",
    "404",
    "407",
    "408",
    "413",
    "414",
    "415",
    "477",
    "482",
    "486",
    "489",
    "531",
    "716",
  ],
);

/** Refusals for now: the server is busy, or we are too fast. */
const DELAYS: ReadonlySet<string> = new Set(["263", "439"]);

interface Batch {
  target: string;
  token: string;
  refusal: Error | undefined;
  answered: PromiseWithResolvers<void>;
}

export class LineSender {
  readonly #deps: LineSenderDeps;
  #queue: Promise<void> = Promise.resolve();
  #batch: Batch | undefined;
  #left: number;
  #countedMs: number;
  #lastToken = 0;
  #closed: string | undefined;
  #wake: (() => void) | undefined;

  constructor(deps: LineSenderDeps) {
    this.#deps = deps;
    this.#left = deps.burst;
    this.#countedMs = deps.clock.elapsed();
  }

  /**
   * Sends messages to one target; `onTaken` hears how many more the server has taken. Rejects with
   * PermanentDeliveryError for what it refuses, UncertainDeliveryError where it was gone before it said.
   * Others may send between two batches.
   */
  async send(
    { command, target, lines, onTaken }: {
      command: "PRIVMSG" | "NOTICE";
      target: string;
      lines: readonly string[];
      onTaken: (lines: number) => void;
    },
  ): Promise<void> {
    for (let at = 0; at < lines.length; at += BATCH) {
      const batch = lines.slice(at, at + BATCH);
      const sent = this.#queue.then(() => this.#sendBatch(command, target, batch));
      this.#queue = sent.catch(() => {});
      await sent;
      onTaken(batch.length);
    }
  }

  async #sendBatch(command: string, target: string, lines: readonly string[]): Promise<void> {
    const { send, clock, onSilent } = this.#deps;
    this.#requireOpen();
    const token = `t${++this.#lastToken}`;
    const batch: Batch = { target, token, refusal: undefined, answered: Promise.withResolvers() };
    this.#batch = batch;
    try {
      for (const [at, line] of lines.entries()) {
        await this.#pace();
        // Nobody knows what has become of those before it.
        if (at > 0 && this.#closed !== undefined) throw new UncertainDeliveryError(this.#closed);
        this.#requireOpen();
        send(command, target, line);
        // It was refused already: the rest would be as well.
        if (batch.refusal !== undefined) break;
      }
      send("PING", token);
      const cancel = clock.after(ANSWER_TIMEOUT_MS, onSilent);
      try {
        await batch.answered.promise;
      } finally {
        cancel();
      }
      if (batch.refusal !== undefined) throw batch.refusal;
    } finally {
      this.#batch = undefined;
    }
  }

  /** Hears the lines of the server. */
  take({ command, params }: IrcLine): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    const { fold } = this.#deps;
    if (command === "PONG") {
      if (params.at(-1) === batch.token) batch.answered.resolve();
    } else if (REFUSALS.has(command)) {
      if (fold(params[1] ?? "") !== fold(batch.target)) return;
      batch.refusal ??= new PermanentDeliveryError(`${batch.target}: ${params.at(-1)}`);
    } else if (DELAYS.has(command)) {
      batch.refusal ??= new Error(`The server is busy: ${params.at(-1)}`);
    }
  }

  /** The connection is gone. */
  close(reason: string): void {
    this.#closed = `The connection was lost: ${reason}`;
    this.#wake?.();
    this.#batch?.answered.reject(new UncertainDeliveryError(this.#closed));
    this.#batch?.answered.promise.catch(() => {});
  }

  #requireOpen(): void {
    if (this.#closed !== undefined) throw new Error(this.#closed);
  }

  /** Resolves when a line may go out, or the connection is gone. */
  async #pace(): Promise<void> {
    const { burst, paceMs, clock } = this.#deps;
    if (paceMs === 0) return;
    const count = () => {
      const now = clock.elapsed();
      this.#left = Math.min(burst, this.#left + (now - this.#countedMs) / paceMs);
      this.#countedMs = now;
    };
    count();
    while (this.#left < 1 && this.#closed === undefined) {
      const woken = Promise.withResolvers<void>();
      this.#wake = woken.resolve;
      const cancel = clock.after(Math.ceil((1 - this.#left) * paceMs), woken.resolve);
      await woken.promise;
      cancel();
      count();
    }
    this.#left -= 1;
  }
}
