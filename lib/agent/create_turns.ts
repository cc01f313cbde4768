/**
 * The agent: lanes over sessions, with a turn loop in each.
 *
 * @module
 */

import type { ActionPort } from "../contract/actions.ts";
import type { Config } from "../config/schema.ts";
import { ServiceError } from "../base/errors.ts";
import type { Journal, RequestKey, Turn } from "../contract/journal.ts";
import type { Log } from "../base/log.ts";
import type { MediaStore } from "../media/types.ts";
import type { Model } from "../model/port.ts";
import { AcceptedTurn, type Requester } from "./accepted_turn.ts";
import { answerCommand, CommandAnswer } from "./answer_command.ts";
import { Asides } from "./asides.ts";
import type { CommandPorts, Operate } from "./chat_command.ts";
import { readCommand } from "./chat_commands.ts";
import { checkRequest } from "./check_request.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { NO_USAGE } from "../contract/events.ts";
import { ImageRoom } from "./image_room.ts";
import { keepInput } from "./keep_input.ts";
import { Lanes, type Place } from "./lane.ts";
import { Life, type LifeLimits, type Verdict } from "../contract/life.ts";
import { systemPrompt } from "./prompt.ts";
import { Repeats } from "./repeats.ts";
import { type SessionModel, sessionModel } from "./session_model.ts";
import { inputChars, Room } from "./room.ts";
import { TokenScale } from "./token_scale.ts";
import { type AgentTool, Toolbox } from "./toolbox.ts";
import { type Ending, runTurn, type TurnPorts } from "./turn.ts";
import { TurnMarks } from "./turn_marks.ts";
import type { TurnHandle, TurnRequest, Turns } from "../contract/turns.ts";
import { cancellation, failure, interruption } from "./verdicts.ts";

/** How long after a start those who opened turns before it may take to come back, milliseconds. */
const RETURN_MS = 60_000;
/** Turns that may wait in a session. */
const MAX_WAITING = 64;
/** Sessions with turns at the same time. */
const MAX_BUSY_SESSIONS = 4_096;
/** Bytes of images that are loaded for models at the same time. */
const MAX_LOADED_IMAGE_BYTES = 128 * 1024 * 1024;
/** Characters of all inputs that wait or run: two of the largest, in a fraction of the heap. */
const MAX_INPUT_CHARS = 256 * 1024 * 1024;
/** Tokens left for an answer when `agent.maxOutputTokens` does not say. */
const RESERVE_TOKENS = 4_096;
/** Characters of AGENTS.md at most, and by token of the context. */
const AGENTS_FILE_CHARS = 32_000;
const AGENTS_FILE_CHARS_PER_TOKEN = 0.75;

/** What the agent is made of. */
export interface TurnsDeps {
  journal: Journal;
  media: Pick<MediaStore, "hold" | "read">;
  models: {
    /** Read when a turn begins, so that it may change; a turn keeps the one that it began with. */
    readonly default: Model;
    /** A preset's name or `<provider>/<id>`; throws `model_not_found`. */
    pick(name: string): Model;
  };
  actions: ActionPort;
  tools: readonly AgentTool[];
  /**
   * Tools that come and go, asked for at the begin of each turn, which keeps what it was told. Takes a
   * bounded time; a turn goes on without them when it rejects. Absent: none.
   */
  moreTools?: () => Promise<readonly AgentTool[]>;
  /** The configuration in force; read at each start of a turn. */
  config: () => Config;
  /** Text of the workspace's AGENTS.md; empty for none. */
  instructions: () => Promise<string>;
  /** Asks the authority for what only approvers and operators may do. */
  operate: Operate;
  /** Room for new work; absent: there always is. */
  storage?: {
    /** Throws `storage_full` when there is none. */
    check(): void;
    /** Resolves when there is some. Rejects with the signal's reason. */
    free(signal: AbortSignal): Promise<void>;
  };
  log: Log;
  clock?: Clock;
  randomId?: () => string;
  /** Characters of all inputs that wait or run at the same time; fewer in tests. */
  maxInputChars?: number;
  /** Bytes of images that are loaded at the same time; fewer in tests. */
  maxLoadedImageBytes?: number;
}

/** The agent, with what its owner alone does. */
export interface OwnedTurns extends Turns {
  /**
   * Takes up the turns that `Journal.recover` returned; called before the first `submit`. Tools of a
   * turn whose requester is expected wait until `setPresent` says more, and run unattended when nobody
   * has come back within 60 s. Default: none has a requester.
   */
  recovered(resume: readonly Turn[], requesterOf?: (turn: Turn) => Requester): void;
  /** The turns that run or wait in a session. */
  open(sessionKey: string): TurnHandle[];
  /**
   * Takes no new turns, gives running ones `graceMs`, and then ends those that wait or run as
   * interrupted; durable ones stay on record, and the next start goes on with them. Resolves when all of
   * that is committed, with the number of turns that were interrupted.
   */
  drain(options: { graceMs: number }): Promise<{ interrupted: number }>;
  /**
   * Resolves when `submit` would not throw `queue_full` or `storage_full` for an input of so many characters
   * (`inputChars`) in that session: at once, or when there is room. Another may take it first. Rejects
   * with the signal's reason, and with `draining` while the service stops.
   */
  room(wanted: { sessionKey: string; chars: number }, signal: AbortSignal): Promise<void>;
  /** Sessions with turns that run or wait. */
  busySessions(): number;
  /** Whether a turn runs in the session. */
  isRunning(sessionKey: string): boolean;
  /** Ends the turn that runs in a session, as cancelled. False when none does. */
  cancelRunning(sessionKey: string): boolean;
}

/** Makes the agent. */
export function createTurns(deps: TurnsDeps): OwnedTurns {
  const { journal, models, config, log } = deps;
  const clock = deps.clock ?? systemClock;
  const randomId = deps.randomId ?? (() => crypto.randomUUID());
  const ports: TurnPorts = {
    journal,
    media: deps.media,
    imageRoom: new ImageRoom(deps.maxLoadedImageBytes ?? MAX_LOADED_IMAGE_BYTES),
    actions: deps.actions,
    toolbox: new Toolbox(deps.tools),
    scale: new TokenScale(),
    clock,
    log,
  };
  const isRunning = (sessionKey: string) => lanes.of(sessionKey).running !== undefined;
  const marks = new TurnMarks({ journal, clock, log, randomId });
  const room = new Room(deps.maxInputChars ?? MAX_INPUT_CHARS);
  const lanes = new Lanes<AcceptedTurn>({
    maxWaiting: MAX_WAITING,
    maxLanes: MAX_BUSY_SESSIONS,
    room,
    run,
  });
  /** The turns of this process that have not ended, by id. */
  const live = new Map<string, AcceptedTurn>();
  const repeats = new Repeats({ find: repeated });
  const asides = new Asides({ model: () => models.default, room, clock, log, randomId });
  const presets = () => Object.keys(config().agent.presets);
  const modelOf = (preset: string | undefined) => sessionModel(preset, { models, presets });
  const commandPorts: CommandPorts = {
    operate: deps.operate,
    journal,
    presets,
    modelOf,
    contextTokens: () => config().agent.contextTokens,
    work(sessionKey) {
      const { running, waiting } = lanes.of(sessionKey);
      return { waiting, ...running !== undefined && { cancelRunning: () => running.cancel() } };
    },
  };
  const endings = new Set<Promise<void>>();
  let stopExpecting = () => {};
  let draining = false;
  let interrupted = 0;
  let kept = 0;

  function accepted(
    turn: Turn,
    place: Place<AcceptedTurn>,
    { model, timeoutMs, requester }: {
      model?: Model;
      timeoutMs?: number;
      requester: Requester;
    },
  ): AcceptedTurn {
    const own = new AcceptedTurn({
      turn,
      pickModel: () => model === undefined ? modelOfSession(turn.sessionKey) : { model },
      timeoutMs,
      requester,
      follow: (sessionId, options) => journal.follow(sessionId, options),
      leave: () => place.leave(),
      endCancelled: (unrun) => endUnrun(unrun, cancellation()),
      stopCancelled: (life) => life.end(cancellation()),
    });
    live.set(turn.id, own);
    return own;
  }

  function modelOfSession(sessionKey: string): SessionModel {
    return modelOf(journal.session(sessionKey)?.modelPreset);
  }

  /** The turn of a row, which an earlier process may have ended. */
  function onRecord(turn: Turn): AcceptedTurn {
    const own = live.get(turn.id);
    if (own !== undefined) return own;
    const ended = new AcceptedTurn({
      turn,
      pickModel: () => ({ model: models.default }),
      requester: "none",
      follow: (sessionId, options) => journal.follow(sessionId, options),
      leave: () => false,
      endCancelled: () => {},
      stopCancelled: () => {},
    });
    if (turn.endedAt !== undefined) ended.close();
    else ended.lose(new ServiceError("turn_interrupted", "The turn's end could not be recorded"));
    return ended;
  }

  function repeated(key: RequestKey): TurnHandle | undefined {
    const turn = journal.repeated(key);
    return turn && onRecord(turn).handle({ turn, repeated: true });
  }

  async function submit(request: TurnRequest): Promise<TurnHandle> {
    const { requestKey } = request;
    if (requestKey === undefined) return await accept(request);
    return await repeats.submit(requestKey, () => accept(request));
  }

  async function accept(request: TurnRequest): Promise<TurnHandle> {
    if (draining) throw stopping();
    checkRequest(request);
    deps.storage?.check();
    const { sessionKey, channel, actor, input, durable, automation, requestKey } = request;
    const { response, delivery } = request;
    const model = request.model === undefined ? undefined : models.pick(request.model);
    const place = lanes.enter(sessionKey, { chars: inputChars(input) });
    if (place === undefined) {
      throw new ServiceError(
        "queue_full",
        `Too many turns wait, or too large ones: at most ${MAX_WAITING} may wait in a session, in ` +
          `${MAX_BUSY_SESSIONS} sessions`,
        { retryAfterS: 1 },
      );
    }
    let turn: Turn;
    try {
      const kept = await keepInput(input, deps.media);
      const row = {
        id: randomId(),
        sessionKey,
        channel,
        actor,
        input: kept.parts,
        durable,
        automation,
      };
      const outcome = await journal.accept(row, { requestKey, response, delivery })
        .finally(() => void kept.release().catch(reportRelease));
      turn = outcome.turn;
      if (outcome.repeated) {
        place.leave();
        return onRecord(turn).handle({ turn, repeated: true });
      }
    } catch (error) {
      place.leave();
      throw error;
    }
    const requester = request.attended ? "present" : "none";
    const own = accepted(turn, place, { ...request, model, requester });
    if (draining && place.leave()) dismiss(own);
    else place.fill(own);
    return own.handle({ turn, repeated: false });
  }

  function reportRelease(error: unknown): void {
    log.warning("A file of a message could not be let go; the next start removes it", {
      reason: String(error),
    });
  }

  function limits(timeoutMs = Infinity): LifeLimits {
    const { turnTimeoutS, stallTimeoutS } = config().agent;
    return { timeoutMs: Math.min(timeoutMs, turnTimeoutS * 1000), stallMs: stallTimeoutS * 1000 };
  }

  /** Runs a turn that is at the head of its lane, from its start to the commit of its end. */
  async function run(own: AcceptedTurn): Promise<void> {
    let ending: Ending;
    try {
      ending = await attempt(own);
    } catch (error) {
      ending = unrun(own.life?.verdict ?? failure(error));
    }
    own.life?.close();
    if (own.turn.durable && ending.verdict?.status === "interrupted") await keep(own);
    else await end(own, ending);
  }

  async function attempt(own: AcceptedTurn): Promise<Ending> {
    const { agent } = config();
    const { turn, model, notice } = own;
    const contextTokens = Math.min(agent.contextTokens, model.contextTokens);
    const life = own.life = new Life(clock, limits(own.timeoutMs));
    // Read while the start is being committed.
    const agentsFile = readAgentsFile();
    const toolbox = openToolbox();
    await life.wait(marks.start(own));
    return await runTurn({ ...ports, toolbox: await life.wait(toolbox) }, {
      turn,
      model,
      notice,
      life,
      system: async () =>
        systemPrompt({
          instructions: agent.instructions,
          agentsFile: await agentsFile,
          maxAgentsFileChars: Math.min(
            AGENTS_FILE_CHARS,
            Math.floor(contextTokens * AGENTS_FILE_CHARS_PER_TOKEN),
          ),
          unattended: turn.automation !== undefined,
          nowMs: clock.now(),
        }),
      maxSteps: Math.min(agent.maxSteps, turn.automation?.maxSteps ?? Infinity),
      contextTokens,
      reserveTokens: agent.maxOutputTokens ?? RESERVE_TOKENS,
      attended: () => own.attended,
      left: () => own.left,
      returning: () => own.returning,
    });
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

  /** The tools of one turn. */
  async function openToolbox(): Promise<Toolbox> {
    if (deps.moreTools === undefined) return ports.toolbox;
    try {
      const more = await deps.moreTools();
      return more.length === 0 ? ports.toolbox : new Toolbox([...deps.tools, ...more]);
    } catch (error) {
      log.warning("The tools of other servers cannot be had; the turn goes on without them", {
        reason: String(error),
      });
      return ports.toolbox;
    }
  }

  async function end(own: AcceptedTurn, ending: Ending): Promise<void> {
    const isRecorded = await marks.end(own, ending);
    live.delete(own.turn.id);
    if (isRecorded && ending.verdict?.status === "interrupted") interrupted += 1;
  }

  /** Ends a turn that was never run. */
  function endUnrun(own: AcceptedTurn, verdict: Verdict): void {
    const ending = end(own, unrun(verdict)).finally(() => endings.delete(ending));
    endings.add(ending);
  }

  /** Leaves a turn that the drain has interrupted to the next start. */
  async function keep(own: AcceptedTurn): Promise<void> {
    try {
      await journal.requeue(own.turn.id);
    } catch (error) {
      // The next start goes on with it all the same, and counts a crash.
      const reason = String(error);
      log.warning("A turn could not be put back to waiting", { turnId: own.turn.id, reason });
    }
    letGo(own);
  }

  /** It stays on record; whoever reads it is told that the service stops. */
  function letGo(own: AcceptedTurn): void {
    live.delete(own.turn.id);
    kept += 1;
    own.lose(stopping());
  }

  /** What a drain does with a turn that waits. */
  function dismiss(own: AcceptedTurn): void {
    if (own.turn.durable) {
      letGo(own);
    } else {
      endUnrun(own, interruption());
    }
  }

  async function drain({ graceMs }: { graceMs: number }): Promise<{ interrupted: number }> {
    draining = true;
    for (const own of [...lanes.ready()]) if (own.leave()) dismiss(own);
    const cancelTimer = clock.after(graceMs, () => {
      for (const own of lanes.running) own.life?.end(interruption());
      asides.interrupt();
    });
    await lanes.idle();
    while (endings.size > 0) await Promise.all(endings);
    await asides.idle();
    cancelTimer();
    stopExpecting();
    await marks.close();
    if (kept > 0) log.info("The next start goes on with turns that wait or ran", { turns: kept });
    return { interrupted };
  }

  return {
    submit,
    repeated,
    find(turnId) {
      const turn = journal.turn(turnId);
      return turn && onRecord(turn).handle({ turn, repeated: false });
    },
    aside({ input, timeoutMs }) {
      if (draining) throw stopping();
      return asides.open(input, limits(timeoutMs));
    },
    command({ input, ...call }) {
      const found = readCommand(input);
      if (found === undefined) return undefined;
      const { command, rest } = found;
      const text = answerCommand(command, { ...call, rest }, { ports: commandPorts, log });
      return new CommandAnswer(randomId(), text, clock);
    },
    drain,
    async room({ sessionKey, chars }, signal) {
      await deps.storage?.free(signal);
      await lanes.free(sessionKey, chars, signal);
      if (draining) throw stopping();
    },
    recovered(resume, requesterOf = () => "none") {
      const expected: AcceptedTurn[] = [];
      for (const turn of resume) {
        const place = lanes.enter(turn.sessionKey, {
          chars: inputChars(turn.input),
          always: true,
        })!;
        const own = accepted(turn, place, { requester: requesterOf(turn) });
        if (own.returning !== undefined) expected.push(own);
        place.fill(own);
      }
      if (expected.length === 0) return;
      stopExpecting = clock.after(RETURN_MS, () => {
        for (const own of expected) if (own.returning !== undefined) own.setPresent(false);
      });
    },
    open: (sessionKey) =>
      lanes.jobs(sessionKey).map((own) => own.handle({ turn: own.turn, repeated: false })),
    counts: () => ({ running: lanes.running.size + asides.size, queued: lanes.waiting }),
    busySessions: () => lanes.size,
    cancelRunning(sessionKey) {
      const { running } = lanes.of(sessionKey);
      running?.cancel();
      return running !== undefined;
    },
    isRunning,
  };
}

/** The ending of a turn that has said and done nothing. */
function unrun(verdict: Verdict): Ending {
  return { verdict, finishReason: "stop", usage: NO_USAGE, ranTool: false, spoke: false };
}

function stopping(): ServiceError {
  return new ServiceError("draining", "The service is stopping and takes no new turns");
}
