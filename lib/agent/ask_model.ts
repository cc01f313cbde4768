/**
 * One call of a model: its events become events of the turn as they arrive.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Model, ModelEvent, ModelRequest } from "../model/port.ts";
import type { AgentEvent, FinishReason, Usage } from "../contract/events.ts";
import type { Life } from "../contract/life.ts";
import type { ToolCall } from "../contract/messages.ts";
import { metrics } from "../telemetry/metrics.ts";
import { traced } from "../telemetry/trace.ts";

/** Characters of text and reasoning in one answer; no model means to say more. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024;
/** Calls in one answer. */
const MAX_CALLS = 128;

const CALL_SECONDS = metrics.histogram({
  name: "service_model_call_duration_seconds",
  help: "Calls of models, by the model that was asked and how it ended",
  labels: ["model", "outcome"],
});

const TOKENS = metrics.counter({
  name: "service_model_tokens_total",
  help: "Tokens of models, by the model that answered and their direction",
  labels: ["model", "direction"],
});

/** An answer as far as it has come; readable also when {@linkcode askModel} threw. */
export interface Draft {
  text: string;
  reasoning: string;
  calls: ToolCall[];
  /** Stream of the text, once there was some. Still open: its end is committed with the message. */
  textStreamId?: string;
}

/** How a model call ended. */
export interface Finish {
  /** `<provider>/<id>` of the model that answered. */
  model: string;
  reason: FinishReason;
  usage: Usage;
  /** What the provider wants back with the message. */
  replay?: unknown;
}

/** What a model call needs. */
export interface AskDeps {
  model: Model;
  /** Where what is said goes; a `Recorder`, or nowhere. */
  recorder: {
    readonly full: boolean;
    room(): Promise<void>;
    sayAll(events: readonly AgentEvent[]): unknown;
  };
  life: Life;
  newStreamId: () => string;
}

/** A draft of nothing. */
export function newDraft(): Draft {
  return { text: "", reasoning: "", calls: [] };
}

/**
 * Asks the model and writes the answer into `draft`. Closes the streams of its reasoning; leaves the
 * text's open. Throws what the model throws, `provider_error` for an answer that breaks the port's
 * contract or is beyond all bounds, and the verdict's error when the turn is ended.
 */
export async function askModel(
  deps: AskDeps,
  request: Omit<ModelRequest, "signal">,
  draft: Draft,
): Promise<Finish> {
  const { name } = deps.model;
  const startedMs = performance.now();
  let outcome = "failed";
  try {
    // https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
    return await traced(`chat ${name}`, {
      kind: "client",
      attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": name },
    }, async (span) => {
      const finish = await readAnswer(deps, request, draft);
      const { model, reason, usage: { inputTokens, outputTokens } } = finish;
      outcome = reason;
      TOKENS.add({ model, direction: "input" }, inputTokens);
      TOKENS.add({ model, direction: "output" }, outputTokens);
      span.set({
        "gen_ai.response.model": model,
        "gen_ai.response.finish_reasons": [reason],
        "gen_ai.usage.input_tokens": inputTokens,
        "gen_ai.usage.output_tokens": outputTokens,
      });
      return finish;
    });
  } finally {
    CALL_SECONDS.record({ model: name, outcome }, (performance.now() - startedMs) / 1_000);
  }
}

async function readAnswer(
  deps: AskDeps,
  request: Omit<ModelRequest, "signal">,
  draft: Draft,
): Promise<Finish> {
  const { model, recorder, life, newStreamId } = deps;
  life.begin(`the model ${model.name}`);
  const onStall = (rescue: (quietMs: number) => boolean) => life.onStall(rescue);
  const answer = model.stream({ ...request, signal: life.signal, onStall })[Symbol.asyncIterator]();
  /** What came together is said together. */
  let said: AgentEvent[] = [];
  const say = (event: AgentEvent) => void said.push(event);
  const tell = () => {
    recorder.sayAll(said);
    said = [];
  };
  const reasoning = new ReasoningStream({ say, newStreamId });
  try {
    for (;;) {
      const next = await life.wait(answer.next());
      if (next.done) break;
      life.touch();
      for (const event of next.value) {
        if (event.type !== "reasoning" && event.type !== "notice") reasoning.close();
        if (event.type === "finish") return event;
        take(deps, event, draft, reasoning, say);
      }
      tell();
      if (recorder.full) await life.wait(recorder.room());
    }
    reasoning.close();
    throw new ServiceError(
      "provider_error",
      `The answer of ${model.name} was cut off: its stream ended without a finish`,
    );
  } finally {
    tell();
    // Not awaited: a model that does not let go must not hold the lane.
    Promise.resolve(answer.return?.()).catch(() => {});
  }
}

function take(
  { model, newStreamId }: AskDeps,
  event: Exclude<ModelEvent, { type: "finish" }>,
  draft: Draft,
  reasoning: ReasoningStream,
  say: (event: AgentEvent) => void,
): void {
  switch (event.type) {
    case "text":
      if (event.text === "") return;
      draft.text += event.text;
      draft.textStreamId ??= newStreamId();
      say({ type: "text_delta", streamId: draft.textStreamId, text: event.text });
      break;
    case "reasoning":
      if (event.text === "") return;
      draft.reasoning += event.text;
      reasoning.say(event.text);
      break;
    case "call":
      draft.calls.push(event.call);
      break;
    case "notice":
      say({ type: "notice", text: event.text });
      break;
  }
  if (
    draft.text.length + draft.reasoning.length > MAX_ANSWER_CHARS ||
    draft.calls.length > MAX_CALLS
  ) {
    throw new ServiceError(
      "provider_error",
      `The answer of ${model.name} went on beyond ${MAX_ANSWER_CHARS} characters or ${MAX_CALLS} calls`,
    );
  }
}

interface ReasoningDeps extends Pick<AskDeps, "newStreamId"> {
  say(event: AgentEvent): void;
}

/** Reasoning comes in stretches; each is a stream of its own. */
class ReasoningStream {
  readonly #deps: ReasoningDeps;
  #streamId: string | undefined;

  constructor(deps: ReasoningDeps) {
    this.#deps = deps;
  }

  say(text: string): void {
    this.#streamId ??= this.#deps.newStreamId();
    this.#deps.say({ type: "reasoning_delta", streamId: this.#streamId, text });
  }

  close(): void {
    if (this.#streamId === undefined) return;
    this.#deps.say({ type: "reasoning_end", streamId: this.#streamId });
    this.#streamId = undefined;
  }
}
