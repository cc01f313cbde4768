/**
 * The agent: lanes over sessions, with a turn loop in each.
 *
 * @module
 */

import type { ActionPort } from "../authority/actions.ts";
import type { Config } from "../config/schema.ts";
import { ServiceError, toErrorData } from "../errors.ts";
import type { Journal, Turn } from "../journal/types.ts";
import type { Log } from "../log.ts";
import type { Model } from "../model/port.ts";
import { AcceptedTurn } from "./accepted_turn.ts";
import { checkRequest } from "./check_request.ts";
import { type Clock, systemClock } from "./clock.ts";
import { NO_USAGE } from "./events.ts";
import { Lanes, type Place } from "./lane.ts";
import { Life, settlesWithin, type Verdict } from "./life.ts";
import { systemPrompt } from "./prompt.ts";
import { TokenScale } from "./token_scale.ts";
import { type AgentTool, Toolbox } from "./toolbox.ts";
import { type Ending, runTurn, toVerdict, type TurnPorts } from "./turn.ts";
import type { TurnRequest, Turns } from "./turns.ts";

/** Turns that may wait in a session (decisions B "Concurrency"). */
const MAX_WAITING = 64;
/** Sessions with turns at the same time. */
const MAX_BUSY_SESSIONS = 4_096;
/** How long the journal may take to commit an end, milliseconds. */
const END_MS = 10_000;
/** Pause before the one repeat of an end that could not be committed, milliseconds. */
const END_RETRY_MS = 1_000;
/** Tokens left for an answer when `agent.maxOutputTokens` does not say. */
const RESERVE_TOKENS = 4_096;
/** Characters of AGENTS.md at most, and by token of the context. */
const AGENTS_FILE_CHARS = 32_000;
const AGENTS_FILE_CHARS_PER_TOKEN = 0.75;

/** What the agent is made of. */
export interface TurnsDeps {
  journal: Journal;
  models: {
    default: Model;
    /** A preset's name or `<provider>/<id>`; throws `model_not_found`. */
    pick(name: string): Model;
  };
  actions: ActionPort;
  tools: readonly AgentTool[];
  /** The configuration in force; read at each start of a turn. */
  config: () => Config;
  /** Text of the workspace's AGENTS.md; empty for none. */
  instructions: () => Promise<string>;
  log: Log;
  clock?: Clock;
  randomId?: () => string;
}

/** The agent, with what its owner alone does. */
export interface OwnedTurns extends Turns {
  /** Takes up the turns that `Journal.recover` returned; called before the first `submit`. */
  recovered(resume: readonly Turn[]): void;
  /**
   * Takes no new turns, ends those that wait (durable ones stay on record for the next start), gives
   * running ones `graceMs` and then ends them as interrupted. Resolves when every end is committed,
   * with the number of turns that were interrupted.
   */
  drain(options: { graceMs: number }): Promise<{ interrupted: number }>;
  /** Sessions with turns that run or wait. */
  busySessions(): number;
}

/** Makes the agent. */
export function createTurns(deps: TurnsDeps): OwnedTurns {
  const { journal, models, config, log } = deps;
  const clock = deps.clock ?? systemClock;
  const randomId = deps.randomId ?? (() => crypto.randomUUID());
  const ports: TurnPorts = {
    journal,
    actions: deps.actions,
    toolbox: new Toolbox(deps.tools),
    scale: new TokenScale(),
    clock,
    log,
  };
  const lanes = new Lanes<AcceptedTurn>({
    maxWaiting: MAX_WAITING,
    maxLanes: MAX_BUSY_SESSIONS,
    run,
  });
  const endings = new Set<Promise<void>>();
  let draining = false;
  let interrupted = 0;

  function accepted(
    turn: Turn,
    place: Place<AcceptedTurn>,
    { model, timeoutMs, attended }: { model: Model; timeoutMs?: number; attended: boolean },
  ): AcceptedTurn {
    return new AcceptedTurn({
      turn,
      model,
      timeoutMs,
      attended,
      follow: (sessionId, options) => journal.follow(sessionId, options),
      leave: () => place.leave(),
      endCancelled: (unrun) => endUnrun(unrun, cancellation()),
      stopCancelled: (life) => life.end(cancellation()),
    });
  }

  async function submit(request: TurnRequest): Promise<AcceptedTurn> {
    if (draining) throw stopping();
    checkRequest(request);
    const { sessionKey, channel, actor, input, durable } = request;
    const model = request.model === undefined ? models.default : models.pick(request.model);
    const place = lanes.enter(sessionKey);
    if (place === undefined) {
      throw new ServiceError("queue_full", `${MAX_WAITING} turns wait in this session already`, {
        retryAfterS: 1,
      });
    }
    let turn: Turn;
    try {
      turn = await journal.accept({ id: randomId(), sessionKey, channel, actor, input, durable });
    } catch (error) {
      place.leave();
      throw error;
    }
    const own = accepted(turn, place, { ...request, model });
    if (draining && place.leave()) dismiss(own);
    else place.fill(own);
    return own;
  }

  /** Runs a turn that is at the head of its lane, from its start to the commit of its end. */
  async function run(own: AcceptedTurn): Promise<void> {
    const { agent } = config();
    const { turn, model } = own;
    const contextTokens = Math.min(agent.contextTokens, model.contextTokens);
    const life = own.life = new Life(clock, {
      timeoutMs: Math.min(own.timeoutMs, agent.turnTimeoutS * 1000),
      stallMs: agent.stallTimeoutS * 1000,
    });
    const agentsFile = readAgentsFile();
    const system = async () =>
      systemPrompt({
        instructions: agent.instructions,
        agentsFile: await agentsFile,
        maxAgentsFileChars: Math.min(
          AGENTS_FILE_CHARS,
          Math.floor(contextTokens * AGENTS_FILE_CHARS_PER_TOKEN),
        ),
        nowMs: clock.now(),
      });
    let ending: Ending;
    try {
      await life.wait(start(own));
      ending = await runTurn(ports, {
        turn,
        model,
        life,
        system,
        maxSteps: agent.maxSteps,
        contextTokens,
        reserveTokens: agent.maxOutputTokens ?? RESERVE_TOKENS,
        attended: () => own.attended,
      });
    } catch (error) {
      ending = unrunEnding(life.verdict ?? toVerdict(error));
    }
    life.close();
    await recordEnd(own, ending);
  }

  /** Counts the attempt and says so, in one commit. */
  async function start(own: AcceptedTurn): Promise<void> {
    const { id, afterSeq } = own.turn;
    const started = journal.start(id);
    if (own.isOpen) {
      await started;
      own.open(afterSeq);
      return;
    }
    // Both are waited for, also when one fails: its end must know whether the turn was opened.
    const [counted, said] = await Promise.allSettled([started, sayStart(own)]);
    if (counted.status === "rejected") throw counted.reason;
    if (said.status === "rejected") throw said.reason;
    own.open(said.value - 1);
  }

  async function sayStart(own: AcceptedTurn): Promise<number> {
    const seq = await journal.append(own.turn.id, [
      { type: "turn_start", model: own.model.name },
    ]);
    own.isOpen = true;
    return seq;
  }

  async function readAgentsFile(): Promise<string> {
    try {
      return await deps.instructions();
    } catch (error) {
      log.warning("Cannot read the workspace's AGENTS.md; the turn goes on without it", {
        reason: String(error),
      });
      return "";
    }
  }

  /** Ends a turn that was never run. */
  function endUnrun(own: AcceptedTurn, verdict: Verdict): void {
    const ending = recordEnd(own, unrunEnding(verdict)).finally(() => endings.delete(ending));
    endings.add(ending);
  }

  /** What a drain does with a turn that waits. */
  function dismiss(own: AcceptedTurn): void {
    if (own.turn.durable) own.lose(stopping());
    else endUnrun(own, interruption());
  }

  /** Commits a turn's end. Never rejects: what cannot be committed is logged and told its readers. */
  async function recordEnd(own: AcceptedTurn, ending: Ending): Promise<void> {
    const { verdict } = ending;
    let logId = verdict?.cause === undefined
      ? undefined
      : report(own, "A turn failed", verdict.cause);
    for (let attempt = 1;; attempt++) {
      try {
        // A commit that came late is one all the same.
        const isLate = attempt > 1 && journal.turn(own.turn.id)?.endedAt !== undefined;
        if (!isLate) await endOnce(own, ending, logId);
        if (verdict?.status === "interrupted") interrupted += 1;
        own.close();
        return;
      } catch (cause) {
        logId = report(own, "The end of a turn could not be recorded", cause);
        if (attempt > 1) {
          own.lose(
            new ServiceError("turn_failed", "The turn's end could not be recorded", { logId }),
          );
          return;
        }
        await new Promise<void>((resolve) => clock.after(END_RETRY_MS, resolve));
      }
    }
  }

  /** Logs what is the service's own business and returns the name that callers are given for it. */
  function report(
    { turn: { id, sessionKey } }: AcceptedTurn,
    what: string,
    cause: unknown,
  ): string {
    const logId = randomId();
    const reason = cause instanceof Error ? cause.stack ?? cause.message : String(cause);
    log.error(what, { logId, turnId: id, sessionKey, reason });
    return logId;
  }

  async function endOnce(
    own: AcceptedTurn,
    { verdict, finishReason, usage, ranTool, spoke }: Ending,
    logId: string | undefined,
  ): Promise<void> {
    const status = verdict?.status ?? "done";
    const error = verdict && { ...toErrorData(verdict.error), ...logId !== undefined && { logId } };
    // What was said before the caller left is kept; what failed is forgotten unless a tool ran.
    const kept = ranTool || (spoke && (status === "cancelled" || status === "interrupted"));
    const written = (async () => {
      // Whoever reads a turn that never ran is owed its beginning too.
      if (!own.isOpen) await sayStart(own);
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

  async function drain({ graceMs }: { graceMs: number }): Promise<{ interrupted: number }> {
    draining = true;
    for (const own of [...lanes.ready()]) if (own.leave()) dismiss(own);
    const cancelTimer = clock.after(graceMs, () => {
      for (const own of lanes.running) own.life?.end(interruption());
    });
    await lanes.idle();
    cancelTimer();
    while (endings.size > 0) await Promise.all(endings);
    return { interrupted };
  }

  return {
    submit,
    drain,
    recovered(resume) {
      for (const turn of resume) {
        const place = lanes.enter(turn.sessionKey, { always: true })!;
        place.fill(accepted(turn, place, { model: models.default, attended: false }));
      }
    },
    counts: () => ({ running: lanes.running.size, queued: lanes.waiting }),
    busySessions: () => lanes.size,
  };
}

function unrunEnding(verdict: Verdict): Ending {
  return { verdict, finishReason: "stop", usage: NO_USAGE, ranTool: false, spoke: false };
}

function cancellation(): Verdict {
  return {
    status: "cancelled",
    error: new ServiceError("turn_cancelled", "The turn was cancelled"),
  };
}

function interruption(): Verdict {
  return {
    status: "interrupted",
    error: new ServiceError("turn_interrupted", "The service stopped before the turn was done"),
  };
}

function stopping(): ServiceError {
  return new ServiceError("draining", "The service is stopping and takes no new turns");
}
