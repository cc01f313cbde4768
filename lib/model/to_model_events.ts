/**
 * The stream of a provider's package as our events.
 *
 * @module
 */

import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { FinishReason, Usage } from "../contract/events.ts";
import type { ModelEvent } from "./port.ts";
import { cutOff, type ErrorOrigin, ProviderError, toProviderError } from "./provider_error.ts";
import { ReplayCollector } from "./replay.ts";
import { type Said, ThinkTags } from "./think_tags.ts";

/** What {@linkcode toModelEvents} needs beside the stream. */
export interface StreamReading {
  origin: ErrorOrigin;
  /** Look for reasoning between tags in the text. */
  thinkTags: boolean;
  /** Whether the conversation has a call of that id already; servers begin at `call_0` each time. */
  idTaken: (callId: string) => boolean;
}

type FinishPart = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

/**
 * Yields what the model says as it says it, and `finish` last. Throws {@linkcode ProviderError} for
 * an error part, for a stream that ends without a finish, and for a finish that is none: whatever
 * was cut off never looks like an answer.
 */
export async function* toModelEvents(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  { origin, thinkTags, idTaken }: StreamReading,
): AsyncGenerator<ModelEvent> {
  const tags = thinkTags ? new ThinkTags() : undefined;
  const replay = new ReplayCollector(origin.model);
  const callIds = new Set<string>();
  const reader = stream.getReader();
  for (;;) {
    const { done, value: part } = await reader.read();
    if (done) throw cutOff("its stream ended before the answer did", origin, true);
    switch (part.type) {
      case "text-delta":
        if (tags !== undefined) yield* tags.push(part.delta);
        else if (part.delta !== "") yield { type: "text", text: part.delta };
        break;
      case "text-end":
        if (tags !== undefined) yield* tags.end();
        break;
      case "reasoning-start":
      case "reasoning-end":
        replay.reasoning(part.id, "", part.providerMetadata);
        break;
      case "reasoning-delta":
        replay.reasoning(part.id, part.delta, part.providerMetadata);
        if (part.delta !== "") yield { type: "reasoning", text: part.delta } satisfies Said;
        break;
      case "tool-call": {
        if (part.providerExecuted) break;
        const callId = freeId(part.toolCallId, (id) => callIds.has(id) || idTaken(id));
        callIds.add(callId);
        replay.call(callId, part.providerMetadata);
        yield { type: "call", call: { callId, tool: part.toolName, args: readArgs(part.input) } };
        break;
      }
      case "error":
        throw toProviderError(part.error, origin);
      case "finish": {
        if (tags !== undefined) yield* tags.end();
        const reason = finishReason(part, origin);
        const back = replay.finish();
        yield {
          type: "finish",
          model: origin.model,
          reason,
          usage: readUsage(part.usage),
          ...(back !== undefined && { replay: back }),
        };
        return;
      }
    }
  }
}

/** Arguments as a value; the text itself when it is not JSON, an empty object when there is none. */
function readArgs(input: string): unknown {
  if (input.trim() === "") return {};
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

function freeId(callId: string, taken: (id: string) => boolean): string {
  if (!taken(callId)) return callId;
  for (let number = 2;; number++) {
    const id = `${callId}_${number}`;
    if (!taken(id)) return id;
  }
}

/** Words of servers for an answer that they gave up. */
const GIVEN_UP = /^(abort|aborted|error|cancell?ed|insufficient_system_resource|network_error)$/i;

function finishReason({ finishReason }: FinishPart, origin: ErrorOrigin): FinishReason {
  const { unified, raw } = finishReason;
  switch (unified) {
    case "stop":
    case "tool-calls":
      return "stop";
    case "length":
      return "length";
    case "content-filter":
      // A refusal in the model's own words is its answer; a filter takes the answer away.
      if (raw === "stop") return "stop";
      throw new ProviderError(
        "provider_error",
        `the answer of ${origin.model} was stopped by its provider's content filter`,
        false,
      );
    case "other":
      // Servers have words of their own for an ordinary end; none at all is no end.
      if (raw !== undefined && !GIVEN_UP.test(raw)) return "stop";
      break;
    case "error":
    case "interrupted":
      break;
    default:
      unified satisfies never;
  }
  throw cutOff(
    raw === undefined ? "its stream ended before the answer did" : `its server says "${raw}"`,
    origin,
    true,
  );
}

function readUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    reasoningTokens: outputTokens.reasoning ?? 0,
    cachedTokens: inputTokens.cacheRead ?? 0,
  };
}
