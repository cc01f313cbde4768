/**
 * What tests of models ask and how they read the answer.
 *
 * @module
 */

import { type Config, configSchema } from "../../config/schema.ts";
import type { PromptMessage } from "../../contract/messages.ts";
import type { Model, ModelEvent, ModelRequest, ToolDescription } from "../port.ts";
import { type ModelRegistry, type RegistryDeps, resolveModels } from "../registry.ts";

/** An answer, taken apart. */
export interface Heard {
  events: ModelEvent[];
  text: string;
  reasoning: string;
  calls: Extract<ModelEvent, { type: "call" }>["call"][];
  notices: string[];
  finish?: Extract<ModelEvent, { type: "finish" }>;
  /** What the stream threw. */
  // deno-lint-ignore no-explicit-any
  error?: any;
}

/** A user message. */
export function says(text: string): PromptMessage {
  return { role: "user", parts: [{ type: "text", text }] };
}

/** A tool that takes a path. */
export const READ_FILE: ToolDescription = {
  name: "read_file",
  description: "Reads a file",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

/** A request that says "hi", or what is given. */
export function requestOf(overrides: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "Be brief.",
    messages: [says("hi")],
    tools: [READ_FILE],
    signal: new AbortController().signal,
    ...overrides,
  };
}

/** Asks and reads to the end; what is thrown is in `error`. */
export async function ask(model: Model, overrides: Partial<ModelRequest> = {}): Promise<Heard> {
  const heard: Heard = { events: [], text: "", reasoning: "", calls: [], notices: [] };
  try {
    for await (const events of model.stream(requestOf(overrides))) {
      for (const event of events) {
        heard.events.push(event);
        if (event.type === "text") heard.text += event.text;
        else if (event.type === "reasoning") heard.reasoning += event.text;
        else if (event.type === "call") heard.calls.push(event.call);
        else if (event.type === "notice") heard.notices.push(event.text);
        else heard.finish = event;
      }
    }
  } catch (error) {
    heard.error = error;
  }
  return heard;
}

/** A configuration with these sections. */
export function configOf(sections: Record<string, unknown>): Config {
  return configSchema.parse(sections);
}

/** The wires, each with a provider at that base URL, under the name `fake`. */
export const WIRES = ["openai-compatible", "openai", "anthropic", "openai responses"] as const;

/** One of {@linkcode WIRES}. */
export type WireName = typeof WIRES[number];

/** A registry whose one provider speaks that wire with a server; its waits take no time. */
export function registryFor(
  wire: WireName,
  baseUrl: string,
  deps: Partial<RegistryDeps> & { agent?: Record<string, unknown> } = {},
): ModelRegistry {
  const responses = wire === "openai responses";
  const config = configOf({
    agent: { model: "fake/some-model", ...deps.agent },
    providers: {
      fake: {
        type: responses ? "openai" : wire,
        apiKey: "sk-very-secret-key",
        ...(responses ? {} : { baseUrl }),
      },
    },
  });
  return resolveModels({
    config,
    // The responses wire is spoken with OpenAI alone, so the test stands in for its address.
    fetch: responses
      ? (input, init) => fetch(String(input).replace("https://api.openai.com/v1", baseUrl), init)
      : fetch,
    random: () => 0,
    sleep: () => Promise.resolve(),
    ...deps,
  });
}
