/**
 * One turn: a loop that asks the model, runs the calls that it makes, and asks again, until it
 * answers without a call.
 *
 * The loop touches nothing but its ports, and waits for them only as long as its {@linkcode Life}
 * lasts. Whatever happens, {@linkcode runTurn} comes back with an ending.
 *
 * @module
 */

import type { ActionPort } from "../contract/actions.ts";
import { ServiceError } from "../base/errors.ts";
import type { Journal, Turn } from "../contract/journal.ts";
import type { Log } from "../base/log.ts";
import type { MediaStore } from "../media/types.ts";
import type { Model, ModelRequest } from "../model/port.ts";
import type { Presence } from "./accepted_turn.ts";
import { actionContext } from "./action_context.ts";
import { askModel, type Draft, type Finish, newDraft } from "./ask_model.ts";
import type { Clock } from "../base/clock.ts";
import { ContextWindow } from "./context_window.ts";
import { emptyAnswer } from "./empty_answer.ts";
import {
  addUsage,
  type AgentEvent,
  type FinishReason,
  NO_USAGE,
  type Usage,
} from "../contract/events.ts";
import type { ImageRoom } from "./image_room.ts";
import { LegalCalls } from "./legal_calls.ts";
import { type Life, settlesWithin, type Verdict } from "../contract/life.ts";
import { imageBytes, loadMessages } from "./load_messages.ts";
import { LoopGuard } from "./loop_guard.ts";
import type { Message, ToolCall } from "../contract/messages.ts";
import { ASKED_AGAIN } from "./notices.ts";
import { outOfSteps } from "./own_results.ts";
import { Recorder } from "./recorder.ts";
import { type CallOutcome, runCalls } from "./run_calls.ts";
import { TokenBudget, usedBefore } from "./token_budget.ts";
import type { TokenScale } from "./token_scale.ts";
import type { Toolbox } from "./toolbox.ts";
import { failure } from "./verdicts.ts";

/** How long the journal may take to commit an answer, milliseconds. */
const ANSWER_MS = 10_000;

/** What every turn of a service shares. */
export interface TurnPorts {
  journal: Journal;
  media: Pick<MediaStore, "read">;
  imageRoom: ImageRoom;
  actions: ActionPort;
  scale: TokenScale;
  clock: Clock;
  log: Log;
}

/** What one run of a turn is given. */
export interface TurnRun {
  turn: Turn;
  /** Project that it works in; undefined: the workspace. */
  folder?: string;
  model: Model;
  /** Said first: what people are to know about the model. */
  notice?: string;
  life: Life;
  toolbox: Toolbox;
  presence: Presence;
  /** The system prompt. Rejections end the turn. */
  system: () => Promise<string>;
  maxSteps: number;
  contextTokens: number;
  reserveTokens: number;
}

/** How a run came out, for the journal. */
export interface Ending {
  verdict?: Verdict;
  finishReason: FinishReason;
  usage: Usage;
  /** Something was done, or may have been. */
  ranTool: boolean;
  /** Some text was said. */
  spoke: boolean;
  /** Its answer, which is written together with its end. */
  answer?: { message: Message; events: AgentEvent[] };
}

/** The ending of a turn that has said and done nothing. */
export function unrun(verdict: Verdict): Ending {
  return { verdict, finishReason: "stop", usage: NO_USAGE, ranTool: false, spoke: false };
}

/**
 * Runs a turn that the journal counts as running, up to but without its end. Never rejects: a port
 * that throws becomes a verdict.
 */
export async function runTurn(ports: TurnPorts, run: TurnRun): Promise<Ending> {
  const loop = new TurnLoop(ports, run);
  try {
    await loop.run();
    return loop.ending(run.life.verdict);
  } catch (error) {
    // What a port throws after the turn was ended is only the echo of that.
    return loop.ending(run.life.verdict ?? failure(error));
  } finally {
    loop.close();
  }
}

class TurnLoop {
  readonly #ports: TurnPorts;
  readonly #run: TurnRun;
  readonly #recorder: Recorder;
  readonly #guard = new LoopGuard();
  readonly #calls = new LegalCalls();
  #usage: Usage = NO_USAGE;
  #finishReason: FinishReason = "stop";
  #ranTool = false;
  #spoke = false;
  #answered: Ending["answer"];
  #streams = 0;
  /** Of a run of an automation. */
  #budget: TokenBudget | undefined;

  constructor(ports: TurnPorts, run: TurnRun) {
    this.#ports = ports;
    this.#run = run;
    this.#recorder = new Recorder({
      journal: ports.journal,
      turn: run.turn,
      clock: ports.clock,
      onFailure: (cause) =>
        run.life.end({
          status: "failed",
          error: new ServiceError("turn_failed", "The turn could not be recorded"),
          cause,
        }),
    });
  }

  ending(verdict?: Verdict): Ending {
    return {
      verdict,
      finishReason: this.#finishReason,
      usage: this.#usage,
      ranTool: this.#ranTool,
      spoke: this.#spoke,
      ...verdict === undefined && { answer: this.#answered },
    };
  }

  /** Nothing more is said and done. */
  close(): void {
    this.#recorder.flush();
    if (this.#ranTool) this.#ports.actions.turnEnded(this.#run.turn.id);
  }

  async run(): Promise<void> {
    const { maxSteps, life, system, notice } = this.#run;
    if (notice !== undefined) this.#notice(notice);
    life.begin("the instructions of the workspace");
    const context = this.#openContext(await life.wait(system()));
    this.#resume(context);
    let emptyAnswers = 0;
    for (let step = 1 + await this.#openBudget(); step <= maxSteps; step++) {
      const draft = newDraft();
      const finish = await this.#ask(context, draft);
      this.#finishReason = finish.reason;
      if (this.#budget?.isExceeded) {
        for (const event of this.#closing(draft, finish, "cut")) this.#recorder.say(event);
        this.#budget.checkUsed();
      }
      if (draft.calls.length > 0) {
        await this.#step(context, draft, finish, step === maxSteps);
        emptyAnswers = 0;
      } else if (draft.text.trim() !== "") {
        return await this.#answer(draft, finish);
      } else {
        for (const event of this.#closing(draft, finish, "resuming")) this.#recorder.say(event);
        if (++emptyAnswers > 1 || finish.reason === "length") {
          throw emptyAnswer(finish, emptyAnswers);
        }
        this.#notice(ASKED_AGAIN);
      }
    }
    throw new ServiceError("max_steps", `The turn took more than ${maxSteps} model calls`);
  }

  /** Opens the budget of a run of an automation. How many model calls earlier attempts have made. */
  async #openBudget(): Promise<number> {
    const { turn, life } = this.#run;
    if (turn.automation === undefined) return 0;
    const { calls, tokens } = await life.wait(usedBefore(this.#ports.journal, turn));
    this.#budget = new TokenBudget(turn.automation.tokenBudget, tokens);
    return calls;
  }

  #openContext(system: string): ContextWindow {
    const { journal, scale } = this.#ports;
    const { turn, model, life, toolbox, contextTokens, reserveTokens } = this.#run;
    return new ContextWindow({
      journal,
      turnId: turn.id,
      sessionId: turn.sessionId,
      request: turn.input,
      model,
      scale,
      system,
      tools: toolbox.descriptions,
      contextTokens,
      reserveTokens,
      wait: (promise) => life.wait(promise),
      ask: (request) => this.#askAside(request),
      notice: (text) => this.#notice(text),
      isOver: () => life.verdict !== undefined,
    });
  }

  /** Takes up what an earlier run has left. */
  #resume(context: ContextWindow): void {
    for (const message of context.messages) {
      if (message.role !== "assistant") continue;
      for (const { callId } of message.calls) this.#calls.note(callId);
    }
    this.#ranTool = context.ownMessages.some(({ role }) => role === "tool");
  }

  /** One model call, again with less context while the model says that it is too long. */
  async #ask(context: ContextWindow, draft: Draft): Promise<Finish> {
    const { model, life } = this.#run;
    for (;;) {
      const fitted = await context.fit();
      this.#budget?.checkLeft();
      const bytes = imageBytes(fitted.messages);
      const place = bytes === 0 ? undefined : this.#ports.imageRoom.take(bytes);
      try {
        if (place !== undefined) await this.#waitFor(place.entered);
        const messages = await life.wait(loadMessages(fitted.messages, this.#ports.media));
        const finish = await askModel(
          { model, recorder: this.#recorder, life, newStreamId: () => this.#newStreamId() },
          { ...fitted, messages },
          draft,
        );
        this.#budget?.count(finish.usage, fitted, draft);
        if (finish.model === model.name) context.answered(finish.usage.inputTokens);
        return finish;
      } catch (error) {
        const tooLong = error instanceof ServiceError && error.code === "context_overflow";
        const begun = draft.text !== "" || draft.reasoning !== "" || draft.calls.length > 0;
        if (!tooLong || begun || !context.shrink()) throw error;
      } finally {
        place?.leave();
        this.#spoke ||= draft.text !== "";
      }
    }
  }

  /** Like a place in the lane, this counts against no time-out. */
  async #waitFor(promise: Promise<void>): Promise<void> {
    const { life } = this.#run;
    const resume = life.pause();
    try {
      await life.wait(promise);
    } finally {
      resume();
    }
  }

  /** A model call beside the conversation; its text is no part of what the turn says. */
  async #askAside(request: Omit<ModelRequest, "signal">): Promise<string> {
    const { model, life } = this.#run;
    this.#budget?.checkLeft();
    const draft = newDraft();
    const silent = { full: false, room: () => Promise.resolve(), sayAll: () => {} };
    const finish = await askModel(
      { model, recorder: silent, life, newStreamId: () => "" },
      request,
      draft,
    );
    this.#recorder.say(this.#count(finish));
    this.#budget?.count(finish.usage, request, draft);
    return draft.text;
  }

  /** Records the calls, runs them, and records their results before the model is asked again. */
  async #step(
    context: ContextWindow,
    draft: Draft,
    finish: Finish,
    isLast: boolean,
  ): Promise<void> {
    const { turn, folder, life, toolbox, presence } = this.#run;
    // Before the calls are on record: another crash in this wait leaves none of unknown outcome.
    const back = presence.returning;
    if (back !== undefined) await this.#waitFor(back);
    const calls = draft.calls = draft.calls.map((call) => this.#calls.make(call));
    const asked = toMessage(draft, finish);
    const events = this.#closing(draft, finish, "resuming");
    for (const { callId, tool, args } of calls) {
      events.push({ type: "tool_call", callId, tool, args, hint: toolbox.hint(tool, args) });
    }
    // What has effects must be on the disk before it happens, or a crash would hide that it did.
    const effects = calls.some(({ tool }) => toolbox.find(tool)?.readOnly === false);
    await life.wait(this.#recorder.add(asked, events, effects ? "full" : "normal"));
    context.push(asked);

    const answer: Extract<Message, { role: "tool" }> = { role: "tool", results: [] };
    const stops: string[] = [];
    let last: AgentEvent | undefined;
    const onOutcome = (call: ToolCall, outcome: CallOutcome) => {
      const { status, output, ran, tookMs, remedy } = outcome;
      this.#ranTool ||= ran;
      const { callId, tool, args } = call;
      const advice = this.#guard.observe({ tool, args, output });
      if (advice.kind === "stop") stops.push(advice.reason);
      const told = advice.kind === "warn" ? `${output}\n\n${advice.note}` : output;
      const took = tookMs === undefined ? {} : { tookMs };
      answer.results.push({ callId, tool, output: told, failed: status !== "ok", ...took });
      const event: AgentEvent = {
        type: "tool_result",
        callId,
        tool,
        status,
        output: told,
        ...took,
        ...remedy && { remedy },
      };
      if (answer.results.length === calls.length) last = event;
      else this.#recorder.say(event, toolbox.find(tool)?.readOnly === false ? "full" : "normal");
    };
    if (isLast) {
      const output = outOfSteps(this.#run.maxSteps);
      for (const call of calls) onOutcome(call, { status: "failed", output, ran: false });
    } else {
      const messages = () => context.messages;
      await runCalls(
        {
          ...this.#ports,
          recorder: this.#recorder,
          life,
          toolbox,
          presence,
          context(call) {
            const { attended, asks } = presence;
            return actionContext({ turn, folder, attended, asks, toolbox, messages, call });
          },
        },
        calls,
        onOutcome,
      );
    }
    await life.wait(this.#recorder.add(answer, [last!], "full"));
    context.push(answer);
    if (stops.length > 0) throw new ServiceError("tool_loop", stops[0]!);
  }

  /**
   * Leaves the answer to be recorded with the turn's end, which it is: nothing ends the turn otherwise
   * from here on. All that was said before it is on record by then.
   */
  async #answer(draft: Draft, finish: Finish): Promise<void> {
    const { life } = this.#run;
    life.signal.throwIfAborted();
    life.close();
    const recorded = this.#recorder.settled();
    if (!await settlesWithin(this.#ports.clock, recorded, ANSWER_MS)) {
      throw new Error(`The journal did not commit the answer within ${ANSWER_MS} ms`);
    }
    await recorded;
    const closing = this.#closing(draft, finish, "answer");
    const events = [...this.#recorder.takeHeld(), ...closing];
    this.#answered = { message: toMessage(draft, finish), events };
  }

  /** Ends the text's stream, if there is one, and counts the call. */
  #closing(draft: Draft, finish: Finish, as: "answer" | "resuming" | "cut"): AgentEvent[] {
    const { textStreamId: streamId } = draft;
    const usage = this.#count(finish);
    if (streamId === undefined) return [usage];
    const cut = as === "cut" && { cut: true as const };
    return [{ type: "segment_end", streamId, resuming: as === "resuming", ...cut }, usage];
  }

  #count({ model, usage }: Finish): AgentEvent {
    this.#usage = addUsage(this.#usage, usage);
    return { type: "usage", model, usage };
  }

  #notice(text: string): void {
    this.#recorder.say({ type: "notice", text });
  }

  #newStreamId(): string {
    const { id, attempts } = this.#run.turn;
    return `${id}.${attempts + 1}.${++this.#streams}`;
  }
}

function toMessage({ text, reasoning, calls }: Draft, { replay }: Finish): Message {
  return {
    role: "assistant",
    text,
    ...reasoning !== "" && { reasoning },
    calls,
    ...replay !== undefined && { replay },
  };
}
