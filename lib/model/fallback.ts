/**
 * A model with others behind it, asked when it cannot answer.
 *
 * @module
 */

import type { Model, ModelEvent, ModelRequest } from "./port.ts";
import { ProviderError } from "./provider_error.ts";

/**
 * The first model; when it cannot be reached, is overloaded, refuses for its limits or stalls, and nothing
 * of its answer was seen, the next one in the list, each after its own retries. A `notice` tells of
 * each change. When none answers, the first one's error is thrown, with the others' in its message.
 */
export function withFallbacks(first: Model, others: readonly Model[]): Model {
  if (others.length === 0) return first;
  const models = [first, ...others];
  return {
    name: first.name,
    contextTokens: Math.min(...models.map(({ contextTokens }) => contextTokens)),
    stream: (request) => firstThatAnswers(models, request),
  };
}

async function* firstThatAnswers(
  models: readonly Model[],
  request: ModelRequest,
): AsyncGenerator<readonly ModelEvent[]> {
  const errors: ProviderError[] = [];
  for (const [index, model] of models.entries()) {
    const next = models[index + 1];
    let answering = false;
    const stalled = new AbortController();
    const signal = AbortSignal.any([request.signal, stalled.signal]);
    request.onStall?.((quietMs) => {
      if (answering || next === undefined || stalled.signal.aborted) return false;
      stalled.abort(silent(model, quietMs));
      return true;
    });
    try {
      for await (const events of model.stream({ ...request, signal })) {
        answering ||= events.some(({ type }) => type !== "notice");
        yield events;
      }
      return;
    } catch (error) {
      if (answering || !(error instanceof ProviderError)) throw error;
      errors.push(error);
      if (!mayWorkElsewhere(error) || next === undefined) throw together(errors);
      yield [{ type: "notice", text: `${error.message}; asking ${next.name} instead` }];
    }
  }
}

function silent({ name }: Model, quietMs: number): ProviderError {
  const message = `${name} has sent nothing for ${quietMs / 1_000} s`;
  return new ProviderError("provider_unreachable", message, false);
}

function mayWorkElsewhere(error: ProviderError): boolean {
  return error.transient || error.code === "provider_rate_limited" ||
    error.code === "provider_unreachable";
}

function together(errors: readonly ProviderError[]): ProviderError {
  const [first, ...others] = errors;
  if (others.length === 0) return first!;
  return new ProviderError(
    first!.code as ConstructorParameters<typeof ProviderError>[0],
    `${first!.message} (and instead: ${others.map(({ message }) => message).join("; ")})`,
    false,
    first!.details,
    { cause: others.at(-1) },
  );
}
