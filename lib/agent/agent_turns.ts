/**
 * The agent: lanes over sessions, with a turn loop in each. What people send is scrubbed of secrets before
 * any of it is on record.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { InOrder } from "../base/in_order.ts";
import type { InputPart } from "../contract/messages.ts";
import type { Journal, RequestKey, Turn } from "../contract/journal.ts";
import type { Verdict } from "../contract/life.ts";
import type { Answer, CommandRequest, TurnHandle, TurnRequest, Turns } from "../contract/turns.ts";
import type { MediaStore } from "../media/types.ts";
import type { Model } from "../model/port.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import { AcceptedTurn, type AcceptedTurnDeps, type Requester } from "./accepted_turn.ts";
import { answerCommand, CommandAnswer } from "./answer_command.ts";
import { Asides } from "./asides.ts";
import type { CommandPorts } from "./chat_command.ts";
import { readCommand } from "./chat_commands.ts";
import { checkRequest } from "./check_request.ts";
import { keepInput } from "./keep_input.ts";
import { Lanes, type Place } from "./lane.ts";
import { inputChars, Room } from "./room.ts";
import { scrubbedInput, scrubbedRequest } from "./scrubbed_request.ts";
import { scrubbedError } from "./scrubbed_model.ts";
import { type SessionModel, sessionModel } from "./session_model.ts";
import { metrics } from "../telemetry/metrics.ts";
import { traceContext } from "../telemetry/trace.ts";
import { type Ending, unrun } from "./turn.ts";
import { TurnMarks } from "./turn_marks.ts";
import { TurnRunner, type TurnRunnerDeps } from "./turn_runner.ts";
import { cancellation, interruption } from "./verdicts.ts";

/** How long after a start those who opened turns before it may take to come back, milliseconds. */
const RETURN_MS = 60_000;
/** Turns that may wait in a session. */
const MAX_WAITING = 64;
/** Sessions with turns at the same time. */
const MAX_BUSY_SESSIONS = 4_096;
/** Characters of all inputs that wait or run: two of the largest, in a fraction of the heap. */
const MAX_INPUT_CHARS = 256 * 1024 * 1024;

const TURN_SECONDS = metrics.histogram({
  name: "service_turn_duration_seconds",
  help: "Turns from their acceptance to their end, by channel and how they ended",
  labels: ["channel", "status"],
});

/** What the agent is made of. */
export interface AgentTurnsDeps extends TurnRunnerDeps {
  media: Pick<MediaStore, "hold" | "read">;
  models: {
    /** Read when a turn begins, so that it may change; a turn keeps the one that it began with. */
    readonly default: Model;
    /** A preset's name or `<provider>/<id>`; throws `model_not_found`. */
    pick(name: string): Model;
  };
  operationCommands: CommandPorts["operationCommands"];
  scrubber: Pick<Scrubber, "text" | "value">;
  /** Room for new work; absent: there always is. */
  storage?: {
    /** Throws `storage_full` when there is none. */
    check(): void;
    /** Resolves when there is some. Rejects with the signal's reason. */
    free(signal: AbortSignal): Promise<void>;
  };
  randomId: () => string;
  /** Characters of all inputs that wait or run at the same time; fewer in tests. */
  maxInputChars?: number;
}

/** The agent, with what its owner alone does. */
export class AgentTurns implements Turns {
  readonly #deps: AgentTurnsDeps;
  readonly #marks: TurnMarks;
  readonly #runner: TurnRunner;
  readonly #lanes: Lanes<AcceptedTurn>;
  readonly #asides: Asides;
  readonly #commandPorts: CommandPorts;
  /** Requests of one key: a repeat waits for the first and takes no place in its lane. */
  readonly #repeats = new InOrder();
  /** The turns of this process that have not ended, by id. */
  readonly #live = new Map<string, AcceptedTurn>();
  /** Ends of turns that never ran, while they are being committed. */
  readonly #endings = new Set<Promise<void>>();
  #stopExpecting = () => {};
  #draining = false;
  #graceIsOver = false;
  #interrupted = 0;
  #kept = 0;

  constructor(deps: AgentTurnsDeps) {
    this.#deps = deps;
    const room = new Room(deps.maxInputChars ?? MAX_INPUT_CHARS);
    this.#marks = new TurnMarks(deps);
    this.#runner = new TurnRunner(deps, this.#marks);
    this.#lanes = new Lanes({
      maxWaiting: MAX_WAITING,
      maxLanes: MAX_BUSY_SESSIONS,
      room,
      run: (own) => this.#run(own),
    });
    this.#asides = new Asides({ ...deps, room });
    this.#commandPorts = {
      operationCommands: deps.operationCommands,
      journal: deps.journal,
      presets: () => this.#presets,
      modelOf: (preset) => this.#modelOf(preset),
      contextTokens: () => deps.config().agent.contextTokens,
      work: (sessionKey) => this.#lanes.of(sessionKey),
    };
  }

  async submit(asked: TurnRequest): Promise<TurnHandle> {
    const { scrubber } = this.#deps;
    const request = scrubbedRequest(asked, scrubber);
    const { requestKey } = request;
    try {
      if (requestKey === undefined) return await this.#accept(request);
      const { scope, key } = requestKey;
      return await this.#repeats.run(
        JSON.stringify([scope, key]),
        async () => this.repeated(requestKey) ?? await this.#accept(request),
      );
    } catch (error) {
      throw scrubbedError(error, scrubber);
    }
  }

  repeated(key: RequestKey): TurnHandle | undefined {
    const turn = this.#deps.journal.repeated(key);
    return turn && this.#handle(turn, true);
  }

  /**
   * Gives a turn that waits another input: its message was edited. False when there is nothing to change
   * any more. Its place in the lane stays.
   */
  async revise(turnId: string, asked: readonly InputPart[]): Promise<boolean> {
    const { journal, media, scrubber } = this.#deps;
    const own = this.#live.get(turnId);
    if (own === undefined) return false;
    const { parts, release } = await keepInput(scrubbedInput(asked, scrubber), media);
    try {
      if (!await journal.revise(turnId, parts)) return false;
      own.turn = { ...own.turn, input: parts };
      return true;
    } finally {
      await release();
    }
  }

  find(turnId: string): TurnHandle | undefined {
    const turn = this.#deps.journal.turn(turnId);
    return turn && this.#handle(turn, false);
  }

  aside({ input, timeoutMs }: Parameters<Turns["aside"]>[0]): Answer {
    if (this.#draining) throw stopping();
    const scrubbed = scrubbedInput(input, this.#deps.scrubber);
    return this.#asides.open(scrubbed, this.#runner.limits(timeoutMs));
  }

  command({ input, ...call }: CommandRequest): Answer | undefined {
    const found = readCommand(input);
    if (found === undefined) return undefined;
    const { name, rest } = found;
    const { log, randomId, clock } = this.#deps;
    const text = answerCommand(name, { ...call, rest }, { ports: this.#commandPorts, log });
    return new CommandAnswer(randomId(), text, clock);
  }

  counts(): { running: number; queued: number } {
    const { running, waiting } = this.#lanes;
    return { running: running.size + this.#asides.size, queued: waiting };
  }

  /** The turns that run or wait in a session. */
  open(sessionKey: string): TurnHandle[] {
    return this.#lanes.jobs(sessionKey).map((own) => own.handle(own.turn, false));
  }

  /** Whether a turn runs in the session. */
  isRunning(sessionKey: string): boolean {
    return this.#lanes.of(sessionKey).running !== undefined;
  }

  /** Ends the turn that runs in a session, as cancelled. False when none does. */
  cancelRunning(sessionKey: string): boolean {
    const { running } = this.#lanes.of(sessionKey);
    running?.cancel();
    return running !== undefined;
  }

  /**
   * Resolves when `submit` would not throw `queue_full` or `storage_full` for an input of so many characters
   * (`inputChars`) in that session: at once, or when there is room. Another may take it first. Rejects
   * with the signal's reason, and with `draining` while the service stops.
   */
  async room(wanted: { sessionKey: string; chars: number }, signal: AbortSignal): Promise<void> {
    await this.#deps.storage?.free(signal);
    await this.#lanes.free(wanted.sessionKey, wanted.chars, signal);
    if (this.#draining) throw stopping();
  }

  /**
   * Takes up the turns that `Journal.recover` returned; called before the first `submit`. Tools of a
   * turn whose requester is expected wait until `setPresent` says more, and run unattended when nobody
   * has come back within 60 s. Default: none has a requester.
   */
  recovered(
    resume: readonly Turn[],
    requesterOf: (turn: Turn) => Requester = () => "none",
  ): void {
    const expected: AcceptedTurn[] = [];
    for (const turn of resume) {
      const chars = inputChars(turn.input);
      const place = this.#lanes.enter(turn.sessionKey, { chars, always: true })!;
      const own = this.#own(turn, place, {
        requester: requesterOf(turn),
        pickModel: () => this.#pick(turn.sessionKey),
      });
      if (own.returning !== undefined) expected.push(own);
      place.fill(own);
    }
    if (expected.length === 0) return;
    this.#stopExpecting = this.#deps.clock.after(RETURN_MS, () => {
      for (const own of expected) if (own.returning !== undefined) own.setPresent(false);
    });
  }

  /**
   * Takes no new turns, gives running ones `graceMs`, and then ends those that wait or run as
   * interrupted; durable ones stay on record, and the next start goes on with them. Resolves when all of
   * that is committed, with the number of turns that were interrupted.
   */
  async drain({ graceMs }: { graceMs: number }): Promise<{ interrupted: number }> {
    const { clock, log } = this.#deps;
    this.#draining = true;
    for (const own of [...this.#lanes.ready()]) if (own.leave()) this.#dismiss(own);
    const cancelTimer = clock.after(graceMs, () => {
      this.#graceIsOver = true;
      for (const own of this.#lanes.running) own.life?.end(interruption());
      this.#asides.interrupt();
    });
    await this.#lanes.idle();
    while (this.#endings.size > 0) await Promise.all(this.#endings);
    await this.#asides.idle();
    cancelTimer();
    this.#stopExpecting();
    await this.#marks.close();
    const turns = this.#kept;
    if (turns > 0) log.info("The next start goes on with turns that wait or ran", { turns });
    return { interrupted: this.#interrupted };
  }

  async #accept(request: TurnRequest): Promise<TurnHandle> {
    const { storage, models } = this.#deps;
    if (this.#draining) throw stopping();
    checkRequest(request);
    storage?.check();
    const model = request.model === undefined ? undefined : models.pick(request.model);
    const place = this.#lanes.enter(request.sessionKey, { chars: inputChars(request.input) });
    if (place === undefined) {
      throw new ServiceError(
        "queue_full",
        `Too many turns wait, or too large ones: at most ${MAX_WAITING} may wait in a session, in ` +
          `${MAX_BUSY_SESSIONS} sessions`,
        { retryAfterS: 1 },
      );
    }
    // One that begins at once is begun with its acceptance, in the one commit.
    const begins = place.isFirst && !this.#marks.owes(request.sessionKey);
    const picked = begins ? this.#pick(request.sessionKey, model) : undefined;
    const recording = this.#record(request, picked && { model: picked.model.name });
    const { turn, repeated, begun } = await recording.catch((error) => {
      place.leave();
      throw error;
    });
    if (repeated) {
      place.leave();
      return this.#handle(turn, true);
    }
    const { timeoutMs, attended, asks } = request;
    const requester = attended ? "present" : "none";
    const pickModel = () => picked ?? this.#pick(request.sessionKey, model);
    const trace = traceContext();
    const own = this.#own(turn, place, { pickModel, timeoutMs, requester, asks, begun, trace });
    if (this.#draining && begun === undefined && place.leave()) this.#dismiss(own);
    else place.fill(own);
    return own.handle(turn, false);
  }

  /** Commits the turn with the files of its input; or finds the one that has its request key. */
  async #record(request: TurnRequest, begin?: { model: string }): ReturnType<Journal["accept"]> {
    const { journal, media, log, randomId } = this.#deps;
    const { sessionKey, channel, actor, durable, automation } = request;
    const { parts, release } = await keepInput(request.input, media);
    const row = { id: randomId(), sessionKey, channel, actor, input: parts, durable, automation };
    return await journal.accept(row, { ...request, begin }).finally(() =>
      void release().catch((error) =>
        log.warning("A file of a message could not be let go; the next start removes it", {
          reason: String(error),
        })
      )
    );
  }

  #own(
    turn: Turn,
    place: Place<AcceptedTurn>,
    how: Omit<AcceptedTurnDeps, "turn" | "journal" | "place" | "onCancelled">,
  ): AcceptedTurn {
    const { journal } = this.#deps;
    const own = new AcceptedTurn({
      ...how,
      turn,
      journal,
      place,
      onCancelled: () => this.#endUnrun(own, cancellation()),
    });
    this.#live.set(turn.id, own);
    return own;
  }

  /** The turn of a row, which an earlier process may have ended. */
  #handle(turn: Turn, repeated: boolean): TurnHandle {
    const own = this.#live.get(turn.id);
    if (own !== undefined) return own.handle(turn, repeated);
    const { journal, models } = this.#deps;
    const pickModel = () => ({ model: models.default });
    const ended = new AcceptedTurn({ turn, journal, pickModel, requester: "none" });
    if (turn.endedAt !== undefined) ended.close();
    else ended.lose(new ServiceError("turn_interrupted", "The turn's end could not be recorded"));
    return ended.handle(turn, repeated);
  }

  get #presets(): string[] {
    return Object.keys(this.#deps.config().agent.presets);
  }

  /** The model that a turn of the session gets that names none itself. */
  #pick(sessionKey: string, named?: Model): SessionModel {
    if (named !== undefined) return { model: named };
    return this.#modelOf(this.#deps.journal.session(sessionKey)?.modelPreset);
  }

  #modelOf(preset: string | undefined): SessionModel {
    return sessionModel(preset, { models: this.#deps.models, presets: () => this.#presets });
  }

  /** Runs a turn that is at the head of its lane, from its start to the commit of its end. */
  async #run(own: AcceptedTurn): Promise<void> {
    const running = this.#runner.run(own);
    // Begun by an acceptance that came late.
    if (this.#graceIsOver) own.life?.end(interruption());
    const ending = await running;
    if (own.turn.durable && ending.verdict?.status === "interrupted") await this.#keep(own);
    else await this.#end(own, ending);
  }

  async #end(own: AcceptedTurn, ending: Ending): Promise<void> {
    const isRecorded = await this.#marks.end(own, ending);
    const { channel, acceptedAt } = own.turn;
    const seconds = Math.max(0, this.#deps.clock.now() - acceptedAt) / 1_000;
    TURN_SECONDS.record({ channel, status: ending.verdict?.status ?? "done" }, seconds);
    this.#live.delete(own.turn.id);
    if (isRecorded && ending.verdict?.status === "interrupted") this.#interrupted += 1;
  }

  /** Ends a turn that was never run. */
  #endUnrun(own: AcceptedTurn, verdict: Verdict): void {
    const ending = this.#end(own, unrun(verdict)).finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
  }

  /** Leaves a turn that the drain has interrupted to the next start. */
  async #keep(own: AcceptedTurn): Promise<void> {
    const { journal, log } = this.#deps;
    const { id: turnId } = own.turn;
    await journal.requeue(turnId).catch((error) =>
      // The next start goes on with it all the same, and counts a crash.
      log.warning("A turn could not be put back to waiting", { turnId, reason: String(error) })
    );
    this.#letGo(own);
  }

  /** It stays on record; whoever reads it is told that the service stops. */
  #letGo(own: AcceptedTurn): void {
    this.#live.delete(own.turn.id);
    this.#kept += 1;
    own.lose(stopping());
  }

  /** What a drain does with a turn that waits. */
  #dismiss(own: AcceptedTurn): void {
    if (own.turn.durable) this.#letGo(own);
    else this.#endUnrun(own, interruption());
  }
}

function stopping(): ServiceError {
  return new ServiceError("draining", "The service is stopping and takes no new turns");
}
