/**
 * The two marks that every turn leaves on record, whatever becomes of it: its start and its end.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Journal } from "../contract/journal.ts";
import type { Log } from "../base/log.ts";
import type { AcceptedTurn } from "./accepted_turn.ts";
import type { Clock } from "../base/clock.ts";
import { settlesWithin } from "../contract/life.ts";
import type { Ending } from "./turn.ts";

/** How long the journal may take to commit an end, milliseconds. */
const END_MS = 10_000;
/** Pause before the one repeat of an end that could not be committed, milliseconds. */
const RETRY_MS = 1_000;
/** Pause before ends that were told as lost are tried again, milliseconds. */
const LATER_MS = 5_000;

/** An end that could not be recorded. */
interface LostEnd {
  own: AcceptedTurn;
  ending: Ending;
  logId: string;
}

/** What marks need. */
export interface TurnMarksDeps {
  journal: Pick<Journal, "start" | "append" | "end" | "turn" | "requestKeyOf">;
  clock: Clock;
  log: Log;
  randomId: () => string;
}

/** Writes the marks of turns. */
export class TurnMarks {
  readonly #deps: TurnMarksDeps;
  /** Ends that were told as lost, by session, in their order. */
  readonly #lost = new Map<string, LostEnd[]>();
  /** Sessions whose lost ends are being recorded. */
  readonly #recording = new Map<string, Promise<void>>();
  #cancelTimer: (() => void) | undefined;

  constructor(deps: TurnMarksDeps) {
    this.#deps = deps;
  }

  /** Counts the attempt and, with the first one, says `turn_start` in the same commit. */
  async start(own: AcceptedTurn): Promise<void> {
    const { life, begun, turn: { id, afterSeq, sessionKey } } = own;
    if (begun !== undefined) return own.open(begun.seq - 1);
    if (this.#lost.has(sessionKey)) {
      // Behind a call that was cut off its result has to stand, and not behind this turn.
      await this.#recordLost(sessionKey);
      // One that a stop has put back to waiting meanwhile would be found running, as after a crash.
      life?.signal.throwIfAborted();
    }
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
   * when the disk has room again, say, and before the next turn of its session starts: whoever waits in
   * a chat is told then and not at the next start.
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
          this.#keepLost({ own, ending, logId });
          return false;
        }
        await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
      }
    }
  }

  /** Whether a turn of the session has an end that is not on record. */
  owes(sessionKey: string): boolean {
    return this.#lost.has(sessionKey);
  }

  /** Tries lost ends once more, and nothing after that; the next start puts in order what is left. */
  async close(): Promise<void> {
    await this.#recordAllLost();
    this.#cancelTimer?.();
  }

  #keepLost(lost: LostEnd): void {
    const { sessionKey } = lost.own.turn;
    const ends = this.#lost.get(sessionKey);
    if (ends === undefined) this.#lost.set(sessionKey, [lost]);
    else ends.push(lost);
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#lost.size === 0) return;
    this.#cancelTimer ??= this.#deps.clock.after(LATER_MS, async () => {
      await this.#recordAllLost();
      this.#cancelTimer = undefined;
      this.#retryLater();
    });
  }

  async #recordAllLost(): Promise<void> {
    // What fails is in the log already.
    await Promise.allSettled([...this.#lost.keys()].map((key) => this.#recordLost(key)));
  }

  /** Records the lost ends of a session, in their order. Rejects with what the journal says. */
  #recordLost(sessionKey: string): Promise<void> {
    let recording = this.#recording.get(sessionKey);
    if (recording === undefined) {
      recording = this.#recordInOrder(sessionKey).finally(() => this.#recording.delete(sessionKey));
      this.#recording.set(sessionKey, recording);
    }
    return recording;
  }

  async #recordInOrder(sessionKey: string): Promise<void> {
    const { journal, log } = this.#deps;
    const ends = this.#lost.get(sessionKey) ?? [];
    while (ends.length > 0) {
      const { own, ending, logId } = ends[0]!;
      const { id } = own.turn;
      // A commit that came late is one all the same.
      if (journal.turn(id)?.endedAt === undefined) await this.#endOnce(own, ending, logId);
      log.info("The end of a turn is on record after all", { turnId: id, sessionKey });
      ends.shift();
    }
    this.#lost.delete(sessionKey);
  }

  async #sayStart(own: AcceptedTurn): Promise<number> {
    const { journal } = this.#deps;
    const { id, automation } = own.turn;
    const replyTo = automation === undefined ? journal.requestKeyOf(id) : undefined;
    const seq = await journal.append(id, [{
      type: "turn_start",
      model: own.model.name,
      ...replyTo !== undefined && { replyTo },
    }]);
    own.isOpen = true;
    return seq;
  }

  async #endOnce(
    own: AcceptedTurn,
    { verdict, finishReason, usage, ranTool, spoke, answer }: Ending,
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
        answer,
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
