/**
 * A model that does as a test tells it.
 *
 * @module
 */

import { type ErrorCode, ServiceError } from "../../base/errors.ts";
import type { Model, ModelEvent, ModelRequest } from "../../model/port.ts";
import { type FinishReason, NO_USAGE, type Usage } from "../../contract/events.ts";
import type { ToolCall } from "../../contract/messages.ts";

/** One answer. */
export type Answer = (request: ModelRequest) => AsyncIterable<ModelEvent>;

/** A model and what it was asked. */
export interface ScriptedModel extends Model {
  readonly requests: ModelRequest[];
  /** Resolves with the request when the model is asked for the `count`th time (from 1). */
  asked(count: number): Promise<ModelRequest>;
}

/** A model that answers each request so. */
export function answering(answer: Answer): Model {
  return {
    name: "fake/model",
    contextTokens: 100_000,
    stream: (request) => oneByOne(answer(request)),
  };
}

/** Answers in this order, and "ok" when there are no more. */
export function scriptedModel(
  answers: readonly Answer[] = [],
  { name = "fake/model", contextTokens = 100_000 } = {},
): ScriptedModel {
  const requests: ModelRequest[] = [];
  const waiters = new Map<number, PromiseWithResolvers<ModelRequest>>();
  const waiter = (count: number) => {
    const found = waiters.get(count) ?? Promise.withResolvers<ModelRequest>();
    waiters.set(count, found);
    return found;
  };
  return {
    name,
    contextTokens,
    requests,
    asked: (count) => waiter(count).promise,
    stream(request) {
      requests.push(request);
      waiter(requests.length).resolve(request);
      return oneByOne((answers[requests.length - 1] ?? says("ok"))(request));
    },
  };
}

async function* oneByOne(events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent[]> {
  for await (const event of events) yield [event];
}

/** The end of an answer. */
export function finish(
  { reason = "stop", usage = {}, model = "fake/model", replay }: {
    reason?: FinishReason;
    usage?: Partial<Usage>;
    model?: string;
    replay?: unknown;
  } = {},
): ModelEvent {
  return { type: "finish", model, reason, usage: { ...NO_USAGE, ...usage }, replay };
}

/** Yields events, then ends or does what `after` does. */
export function yields(events: readonly ModelEvent[], after?: Answer): Answer {
  return async function* (request) {
    for (const event of events) {
      request.signal.throwIfAborted();
      yield event;
    }
    if (after) yield* after(request);
  };
}

/** Says a text, in as many deltas as there are texts. */
export function says(...texts: string[]): Answer {
  return yields([...texts.map((text) => ({ type: "text" as const, text })), finish()]);
}

/** Calls tools, each `[tool, args]`, with the ids `c1`, `c2`, …. */
export function calls(...made: [tool: string, args: unknown][]): Answer {
  return yields([
    ...made.map(([tool, args], index) => ({
      type: "call" as const,
      call: { callId: `c${index + 1}`, tool, args } satisfies ToolCall,
    })),
    finish(),
  ]);
}

/** Fails with a ServiceError of that code. */
export function fails(code: ErrorCode, details = {}): Answer {
  // deno-lint-ignore require-yield
  return async function* () {
    throw new ServiceError(code, `The model says ${code}`, details);
  };
}

/** Waits until it is aborted and throws the reason, as a model does. */
export function hangs(): Answer {
  // deno-lint-ignore require-yield
  return async function* ({ signal }) {
    const { promise, reject } = Promise.withResolvers<never>();
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
    await promise;
  };
}

/** Waits for ever, whatever the signal says, against the port's contract. */
export function ignoresAbort(): Answer {
  return () => ({
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      return: () => new Promise(() => {}),
    }),
  });
}
