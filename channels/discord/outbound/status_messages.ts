/**
 * What the agent is doing, in one message of a chat that calls nobody, is edited as it goes on, and is
 * taken away when the turn ends.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";
import type { Memory } from "../../../lib/channel/platform/mod.ts";

/** Least time between two edits, milliseconds. */
const EVERY_MS = 1_500;

/** Chats whose status is remembered, to be taken away after a crash. */
const MAX_CHATS = 200;

/** What they are shown with. */
export interface StatusMessagesDeps {
  memory: Pick<Memory, "get" | "set">;
  post: (chatId: string, text: string) => Promise<string>;
  edit: (chatId: string, id: string, text: string) => Promise<unknown>;
  remove: (chatId: string, id: string) => Promise<unknown>;
  clock: Pick<Clock, "after">;
}

interface Status {
  wanted: string;
  shown?: string;
  id?: string;
  isOver: boolean;
  endWait?: () => void;
  working?: Promise<void>;
}

/** See the module. What cannot be shown is left out. */
export class StatusMessages {
  readonly #deps: StatusMessagesDeps;
  readonly #chats = new Map<string, Status>();
  #isClosed = false;

  constructor(deps: StatusMessagesDeps) {
    this.#deps = deps;
  }

  /** The newest replaces what could not be shown yet. */
  show(chatId: string, text: string): void {
    if (this.#isClosed) return;
    const status = this.#chats.get(chatId) ?? { wanted: text, isOver: false };
    status.wanted = text;
    this.#chats.set(chatId, status);
    status.working ??= this.#work(chatId, status).finally(() => status.working = undefined);
  }

  /** Takes it away. */
  async end(chatId: string): Promise<void> {
    const status = this.#chats.get(chatId);
    if (status === undefined) return;
    this.#chats.delete(chatId);
    status.isOver = true;
    status.endWait?.();
    await status.working;
    if (status.id !== undefined) await this.#remove(chatId, status.id);
  }

  /** Takes away what a process that ended in the middle of a turn has left. */
  async tidy(): Promise<void> {
    for (const [chatId, id] of Object.entries(this.#left())) await this.#remove(chatId, id);
  }

  /** Shows nothing any more; what stands is taken away after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const statuses = [...this.#chats.values()];
    for (const status of statuses) {
      status.isOver = true;
      status.endWait?.();
    }
    await Promise.all(statuses.map(({ working }) => working));
    this.#chats.clear();
  }

  async #work(chatId: string, status: Status): Promise<void> {
    while (!status.isOver && status.shown !== status.wanted) {
      const text = status.wanted;
      try {
        if (status.id === undefined) {
          status.id = await this.#deps.post(chatId, text);
          this.#keep({ ...this.#left(), [chatId]: status.id });
        } else await this.#deps.edit(chatId, status.id, text);
      } catch {
        // The next one says more.
      }
      status.shown = text;
      const over = Promise.withResolvers<void>();
      const cancel = this.#deps.clock.after(EVERY_MS, over.resolve);
      status.endWait = over.resolve;
      if (status.isOver) over.resolve();
      await over.promise;
      cancel();
    }
  }

  async #remove(chatId: string, id: string): Promise<void> {
    try {
      await this.#deps.remove(chatId, id);
    } catch {
      // It stays, short as it is.
    }
    const { [chatId]: kept, ...others } = this.#left();
    if (kept === id && !this.#isClosed) this.#keep(others);
  }

  #left(): Record<string, string> {
    return this.#deps.memory.get("status", "all") ?? {};
  }

  #keep(left: Record<string, string>): void {
    this.#deps.memory.set(
      "status",
      "all",
      Object.fromEntries(Object.entries(left).slice(-MAX_CHATS)),
    );
  }
}
