/**
 * The two marks that every turn leaves on record, whatever becomes of it: its start and its end.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../errors.ts";
import type { Journal } from "../journal/types.ts";
import type { Log } from "../log.ts";
import type { AcceptedTurn } from "./accepted_turn.ts";
import type { Clock } from "./clock.ts";
import { settlesWithin } from "./life.ts";
import type { Ending } from "./turn.ts";

/** How long the journal may take to commit an end, milliseconds. */
const END_MS = 10_000;
/** Pause before the one repeat of an end that could not be committed, milliseconds. */
const RETRY_MS = 1_000;
/** Pause before an end that was told as lost is tried again, milliseconds. */
const LATER_MS = 5_000;

/** What marks need. */
export interface TurnMarksDeps {
  journal: Pick<Journal, "start" | "append" | "end" | "turn">;
  clock: Clock;
  log: Log;
  randomId: () => string;
  /** Whether a turn runs in the session. */
  isRunning: (sessionKey: string) => boolean;
}

/** Writes the marks of turns. */
export class TurnMarks {
  readonly #deps: TurnMarksDeps;
  /** Ends the waits of ends that were told as lost; undefined once nothing is tried any more. */
  #waits: Set<() => void> | undefined = new Set();

  constructor(deps: TurnMarksDeps) {
    this.#deps = deps;
  }

  /** Counts the attempt and, with the first one, says `turn_start` in the same commit. */
  async start(own: AcceptedTurn): Promise<void> {
    const { id, afterSeq } = own.turn;
    const started = this.#deps.journal.start(id);
    if (own.isOpen) {
      await started;
      own.open(afterSeq);
      return;
    }
    // Both are waited for, also when one fails: its end must know whether the turn was opened.
    const [counted, said] = await Promise.allSettled([started, this.#sayStart(own)]);
    if (counted.status === "rejected") throw counted.reason;
    if (said.status === "rejected") throw said.reason;
    own.open(said.value - 1);
  }

  /**
   * Commits the end. Resolves with whether it is on record; never rejects: what could not be
   * committed, tried twice, is logged and told to whoever reads the turn. Such a turn is ended later,
   * when the disk has room again, say: whoever waits in a chat is told then and not at the next start.
   */
  async end(own: AcceptedTurn, ending: Ending): Promise<boolean> {
    const { journal, clock } = this.#deps;
    const cause = ending.verdict?.cause;
    let logId = cause === undefined ? undefined : this.#report(own, "A turn failed", cause);
    for (let attempt = 1;; attempt++) {
      try {
        // A commit that came late is one all the same.
        const isLate = attempt > 1 && journal.turn(own.turn.id)?.endedAt !== undefined;
        if (!isLate) await this.#endOnce(own, ending, logId);
        own.close();
        return true;
      } catch (error) {
        logId = this.#report(own, "The end of a turn could not be recorded", error);
        if (attempt > 1) {
          const message = "The turn's end could not be recorded";
          own.lose(new ServiceError("turn_failed", message, { logId }));
          // Behind a call that was cut off its result has to stand, and not behind a later turn.
          if (!ending.ranTool) this.#endLater(own, ending, logId);
          return false;
        }
        await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
      }
    }
  }

  /** Tries nothing any more; the next start puts in order what is left. */
  close(): void {
    for (const cancel of this.#waits ?? []) cancel();
    this.#waits = undefined;
  }

  #endLater(own: AcceptedTurn, ending: Ending, logId: string): void {
    const { journal, clock, log, isRunning } = this.#deps;
    const { id, sessionKey } = own.turn;
    const cancel = clock.after(LATER_MS, async () => {
      this.#waits?.delete(cancel);
      try {
        if (journal.turn(id)?.endedAt === undefined) {
          if (isRunning(sessionKey)) return this.#endLater(own, ending, logId);
          await this.#endOnce(own, ending, logId);
        }
        log.info("The end of a turn is on record after all", { turnId: id, sessionKey });
      } catch {
        // It is in the log already.
        this.#endLater(own, ending, logId);
      }
    });
    if (this.#waits === undefined) cancel();
    else this.#waits.add(cancel);
  }

  async #sayStart(own: AcceptedTurn): Promise<number> {
    const event = { type: "turn_start" as const, model: own.model.name };
    const seq = await this.#deps.journal.append(own.turn.id, [event]);
    own.isOpen = true;
    return seq;
  }

  async #endOnce(
    own: AcceptedTurn,
    { verdict, finishReason, usage, ranTool, spoke }: Ending,
    logId: string | undefined,
  ): Promise<void> {
    const { journal, clock } = this.#deps;
    const status = verdict?.status ?? "done";
    const error = verdict && { ...toErrorData(verdict.error), ...logId !== undefined && { logId } };
    // What was said before the caller left is kept; what failed is forgotten unless a tool ran.
    const kept = ranTool || (spoke && (status === "cancelled" || status === "interrupted"));
    const written = (async () => {
      // Whoever reads a turn that never ran is owed its beginning too.
      if (!own.isOpen) await this.#sayStart(own);
      await journal.end(own.turn.id, {
        event: { type: "turn_end", status, finishReason, usage },
        error,
        forget: verdict !== undefined && !kept,
      });
    })();
    if (!await settlesWithin(clock, written, END_MS)) {
      throw new Error(`The journal did not commit the end within ${END_MS} ms`);
    }
    await written;
  }

  /** Logs what is the service's own business and returns the name that callers are given for it. */
  #report({ turn: { id, sessionKey } }: AcceptedTurn, what: string, cause: unknown): string {
    const logId = this.#deps.randomId();
    const { log } = this.#deps;
    if (cause instanceof ServiceError) {
      // Foreseen, and its words say what to do; where in the code it arose helps nobody.
      log.warning(what, { logId, turnId: id, sessionKey, code: cause.code, reason: cause.message });
    } else {
      const reason = cause instanceof Error ? cause.stack ?? cause.message : String(cause);
      log.error(what, { logId, turnId: id, sessionKey, reason });
    }
    return logId;
  }
}
