/**
 * What the agent is doing: one quiet message of a turn, which changes as the turn goes on and is taken away
 * at its end. Nothing of it is worth a delivery's attempts, so that nothing here rejects.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { PermanentDeliveryError, RetryLaterError } from "../delivery_error.ts";
import { backoffMs } from "./backoff.ts";
import type { Memory } from "./memory.ts";

/** What notes are shown with; `Ref`, plain JSON, names one for what comes later. */
export interface StatusNotesDeps<Ref> {
  /** Posts the first text of a note, in the quietest form of the platform. Rejects as `send` does. */
  post(chatId: string, text: string): Promise<Ref>;
  /** Gives it another text. Rejects as `send` does. */
  edit(ref: Ref, text: string): Promise<unknown>;
  /** The turn is over: takes it away, or leaves it short. `texts`: how many it has had. */
  remove(ref: Ref, texts: number): Promise<unknown>;
  /** Knows the notes of a process that was killed; absent where they go with the connection. */
  memory?: Pick<Memory, "entries" | "set" | "delete">;
  clock: Pick<Clock, "elapsed" | "after">;
  /** Least time between two texts of a note, milliseconds. */
  everyMs: (chatId: string) => number;
}

/** Notes of turns that are at work; of more, the oldest stays as it is until the next start. */
const MAX_NOTES = 1_000;

/** Attempts of one process to take one away. */
const MAX_ATTEMPTS = 8;

const KIND = "status_note";

/** A note that stands on the platform. */
interface Standing<Ref> {
  ref: Ref;
  texts: number;
}

interface Note<Ref> {
  chatId: string;
  /** What is to be shown, and what was tried last. */
  wanted: string;
  tried: string;
  /** When it may change, by `clock.elapsed`. */
  freeAtMs: number;
  name: string;
  standing?: Standing<Ref>;
  /** The call that is under way. */
  calling?: Promise<void>;
  /** Ends its wait for the next change. */
  cancel?: () => void;
}

export class StatusNotes<Ref> {
  readonly #deps: StatusNotesDeps<Ref>;
  readonly #notes = new Map<string, Note<Ref>>();
  readonly #removing = new Set<Promise<void>>();
  readonly #waits = new Set<() => void>();
  #isClosed = false;

  constructor(deps: StatusNotesDeps<Ref>) {
    this.#deps = deps;
  }

  /** Takes away what a process before this one has left; once there is a connection. */
  restore(): void {
    const standing = this.#deps.memory?.entries<Standing<Ref>>(KIND) ?? [];
    for (const [name, one] of standing) void this.#remove(name, one, 1);
  }

  /**
   * Shows it, at once or when the time has come; the newest takes the place of what could not be shown
   * yet. `turn` tells turns of a chat apart that are at work at the same time. Resolves when it was shown
   * or waits.
   */
  async show(chatId: string, text: string, turn = ""): Promise<void> {
    if (this.#isClosed || text === "") return;
    const key = keyOf(chatId, turn);
    let note = this.#notes.get(key);
    if (note === undefined) {
      const name = crypto.randomUUID();
      this.#notes.set(key, note = { chatId, wanted: "", tried: "", freeAtMs: -Infinity, name });
      if (this.#notes.size > MAX_NOTES) this.#forget(this.#notes.keys().next().value!);
    }
    note.wanted = text;
    await this.#plan(key, note);
  }

  /** The turn is over. Resolves when it was tried to take its note away. */
  async end(chatId: string, turn = ""): Promise<void> {
    const key = keyOf(chatId, turn);
    const note = this.#notes.get(key);
    if (note === undefined) return;
    this.#forget(key);
    await note.calling;
    if (note.standing !== undefined) await this.#remove(note.name, note.standing, 1);
  }

  /** Shows nothing any more; what stands goes behind the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#waits) cancel();
    const calls = [...this.#notes.values()].map(({ calling }) => calling);
    for (const key of [...this.#notes.keys()]) this.#forget(key);
    await Promise.all([...calls, ...this.#removing]);
  }

  #forget(key: string): void {
    this.#notes.get(key)?.cancel?.();
    this.#notes.delete(key);
  }

  #plan(key: string, note: Note<Ref>): Promise<void> {
    if (note.calling !== undefined) return note.calling;
    const isDue = this.#notes.get(key) === note && note.wanted !== note.tried;
    if (!isDue || note.cancel !== undefined) return Promise.resolve();
    const { clock } = this.#deps;
    const leftMs = note.freeAtMs - clock.elapsed();
    if (leftMs <= 0) return note.calling = this.#call(key, note);
    note.cancel = clock.after(leftMs, () => {
      note.cancel = undefined;
      void this.#plan(key, note);
    });
    return Promise.resolve();
  }

  async #call(key: string, note: Note<Ref>): Promise<void> {
    const { post, edit, memory, clock, everyMs } = this.#deps;
    const { standing, chatId, wanted: text } = note;
    note.tried = text;
    note.freeAtMs = clock.elapsed() + everyMs(chatId);
    try {
      if (standing === undefined) note.standing = { ref: await post(chatId, text), texts: 1 };
      else {
        await edit(standing.ref, text);
        standing.texts += 1;
      }
      memory?.set(KIND, note.name, note.standing);
    } catch (error) {
      // The next text is another try, when the platform takes one.
      if (error instanceof RetryLaterError) note.freeAtMs = clock.elapsed() + error.retryAfterMs;
    }
    note.calling = undefined;
    void this.#plan(key, note);
  }

  #remove(name: string, standing: Standing<Ref>, attempt: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const removing = this.#tryRemove(name, standing, attempt)
      .finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
    return removing;
  }

  async #tryRemove(name: string, standing: Standing<Ref>, attempt: number): Promise<void> {
    const { remove, memory, clock } = this.#deps;
    try {
      await remove(standing.ref, standing.texts);
    } catch (error) {
      // Somebody has removed it, or it may not be removed any more.
      if (!(error instanceof PermanentDeliveryError)) {
        if (attempt >= MAX_ATTEMPTS || this.#isClosed) return;
        const saidMs = error instanceof RetryLaterError ? error.retryAfterMs : 0;
        const cancel = clock.after(Math.max(saidMs, backoffMs(attempt)), () => {
          this.#waits.delete(cancel);
          void this.#remove(name, standing, attempt + 1);
        });
        this.#waits.add(cancel);
        return;
      }
    }
    memory?.delete(KIND, name);
  }
}

function keyOf(chatId: string, turn: string): string {
  return `${chatId} ${turn}`;
}
