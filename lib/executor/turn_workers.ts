/**
 * Workers: children that live on for the file actions of one turn. Such an action takes a millisecond, and a
 * start of a sandboxed child fifty.
 *
 * Sharing one must make no action reach more, so:
 * - A worker belongs to one turn of one session, and to exactly one set of permissions and one view: that of
 *   the workspace, to read or to write. What a child of one action sees of the machine is the same; its
 *   Deno permission is narrower, but follows links, so what holds a file that was swapped is the check of what
 *   was opened (`lib/tools/child/open_checked.ts`), as before.
 * - An action elsewhere, or with a parser, or without a sandbox, has a process of its own.
 * - The gate decides on each action and sends it as resolved; a worker has no other way to be asked.
 * - It has one action at a time. One that is late, is cancelled or breaks takes the worker along, and the next
 *   starts another. What a process may take of memory is what a child of one action may.
 * - It ends with its turn, after an idle while, when too many rest, and with the service.
 *
 * @module
 */

import type { ActionProcess } from "./process.ts";
import { Slots } from "../rpc/slots.ts";

/** Whose worker is wanted. */
export interface WorkerOwner {
  turnId: string;
  /** Session, turn, permissions and view: only what is the same in all of them shares a worker. */
  key: string;
}

/** The process of a worker; `start` is called where there is none. */
type Start = (start: () => Promise<ActionProcess>) => Promise<ActionProcess>;

interface Worker {
  readonly turnId: string;
  /** The one action that it has, and those that wait for it. */
  readonly line: Slots;
  /** Undefined until it is started, and once it has ended. */
  process?: ActionProcess;
  /** Ends it; while it rests. */
  idle?: ReturnType<typeof setTimeout>;
}

/** Actions that wait for one worker; a step of a turn has fewer. */
const MAX_WAITING = 256;
/** Workers without an action; beyond them the one that has rested longest ends. */
const MAX_RESTING = 16;

/** The workers of an executor. */
export class TurnWorkers {
  readonly #idleMs: number;
  /** Of those that rest, the one that has rested longest comes first. */
  readonly #workers = new Map<string, Worker>();

  constructor({ idleMs }: { idleMs: number }) {
    this.#idleMs = idleMs;
  }

  /** Actions that wait for their worker. */
  get waiting(): number {
    return this.#workers.values().reduce((sum, { line }) => sum + line.waiting, 0);
  }

  /**
   * Has the worker of that owner to itself while `use` runs. Undefined when too many wait for it; rejects with
   * the signal's reason while it waits.
   */
  async run<T>(
    { key, turnId }: WorkerOwner,
    signal: AbortSignal,
    use: (start: Start) => Promise<T>,
  ): Promise<T | undefined> {
    const worker = this.#workers.get(key) ?? { turnId, line: new Slots(1, MAX_WAITING) };
    this.#workers.set(key, worker);
    const leave = await worker.line.take(signal);
    if (leave === undefined) return undefined;
    clearTimeout(worker.idle);
    try {
      return await use(async (start) => {
        const { process } = worker;
        const isOver = process === undefined || process.peer.over !== undefined;
        return isOver ? this.#started(await start(), worker, key) : process;
      });
    } finally {
      leave();
      if (worker.line.running === 0) this.#rest(worker, key);
    }
  }

  /** Ends the workers of a turn; one that has an action, after that. */
  turnEnded(turnId: string): void {
    for (const [key, worker] of this.#workers) {
      if (worker.turnId !== turnId) continue;
      this.#workers.delete(key);
      if (worker.line.running === 0) this.#end(worker, key);
    }
  }

  #started(process: ActionProcess, worker: Worker, key: string): ActionProcess {
    worker.process = process;
    void process.gone.then(() => {
      if (worker.process !== process) return;
      worker.process = undefined;
      if (worker.line.running === 0) this.#end(worker, key);
    });
    return process;
  }

  #rest(worker: Worker, key: string): void {
    const isWanted = this.#workers.get(key) === worker && worker.process !== undefined;
    if (!isWanted) return this.#end(worker, key);
    this.#workers.delete(key);
    this.#workers.set(key, worker);
    worker.idle = setTimeout(() => this.#end(worker, key), this.#idleMs);
    const resting = [...this.#workers].filter(([, { line }]) => line.running === 0);
    for (const [key, worker] of resting.slice(0, -MAX_RESTING)) this.#end(worker, key);
  }

  /** There may be another under its key by now. */
  #end(worker: Worker, key: string): void {
    clearTimeout(worker.idle);
    if (this.#workers.get(key) === worker) this.#workers.delete(key);
    worker.process?.end("nobody needs it any more");
  }
}
