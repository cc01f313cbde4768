/**
 * The wires that the providers' packages speak.
 *
 * @module
 */

import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { AnswerReader } from "./answer_reader.ts";
import type { ModelEvent, ModelRequest } from "./port.ts";
import { toPrompt, toTools } from "./to_prompt.ts";
import { hasCall, type Wire, type WireDeps } from "./wire.ts";

/** A model of a provider's package. */
export interface PackageModel {
  model: LanguageModelV4;
  /** What goes with every call. */
  providerOptions?: SharedV4ProviderOptions;
  /** Its wire leaves reasoning in the text, between tags. */
  thinkTags: boolean;
}

/** Speaks the wire of a package's model. */
export function createPackageWire(
  { model, providerOptions, thinkTags }: PackageModel,
  { origin, settings }: Pick<WireDeps, "origin" | "settings">,
): Wire {
  return async function* (request: ModelRequest): AsyncGenerator<readonly ModelEvent[]> {
    const { stream } = await model.doStream({
      prompt: toPrompt(request, { type: origin.spec.type, model: origin.model }),
      tools: request.tools.length > 0 ? toTools(request.tools) : undefined,
      ...settings,
      providerOptions,
      abortSignal: request.signal,
    });
    const answer = new AnswerReader({
      origin,
      thinkTags,
      idTaken: (callId) => hasCall(request, callId),
    });
    const parts = stream.getReader();
    for (;;) {
      const { done, value } = await parts.read();
      if (done) throw answer.broken();
      const events = answer.read(value);
      if (events.length > 0) yield events;
      if (value.type === "finish") return;
    }
  };
}
