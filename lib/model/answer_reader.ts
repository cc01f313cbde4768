/**
 * The parts of an answer, as the providers' packages have them, as our events.
 *
 * @module
 */

import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { FinishReason, Usage } from "../contract/events.ts";
import type { ModelEvent } from "./port.ts";
import { cutOff, type ErrorOrigin, ProviderError, toProviderError } from "./provider_error.ts";
import { ReplayCollector } from "./replay.ts";
import { ThinkTags } from "./think_tags.ts";

/** What {@linkcode AnswerReader} needs. */
export interface AnswerReading {
  origin: ErrorOrigin;
  /** Look for reasoning between tags in the text. */
  thinkTags: boolean;
  /** Whether the conversation has a call of that id already; servers begin at `call_0` each time. */
  idTaken: (callId: string) => boolean;
}

type FinishPart = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

/**
 * The parts of one answer as what the model says, and `finish` last. Throws {@linkcode ProviderError} for
 * an error part, for an answer that ends without a finish, and for a finish that is none: whatever
 * was cut off never looks like an answer.
 */
export class AnswerReader {
  readonly #reading: AnswerReading;
  readonly #tags: ThinkTags | undefined;
  readonly #replay: ReplayCollector;
  readonly #callIds = new Set<string>();

  constructor(reading: AnswerReading) {
    this.#reading = reading;
    this.#tags = reading.thinkTags ? new ThinkTags() : undefined;
    this.#replay = new ReplayCollector(reading.origin.model);
  }

  /** What a part says; nothing follows `finish`. */
  read(part: LanguageModelV4StreamPart): readonly ModelEvent[] {
    switch (part.type) {
      case "text-delta":
        if (this.#tags !== undefined) return this.#tags.push(part.delta);
        return part.delta === "" ? [] : [{ type: "text", text: part.delta }];
      case "text-end":
        return this.#tags?.end() ?? [];
      case "reasoning-start":
      case "reasoning-end":
        this.#replay.reasoning(part.id, "", part.providerMetadata);
        return [];
      case "reasoning-delta":
        this.#replay.reasoning(part.id, part.delta, part.providerMetadata);
        return part.delta === "" ? [] : [{ type: "reasoning", text: part.delta }];
      case "tool-call": {
        if (part.providerExecuted) return [];
        const { idTaken } = this.#reading;
        const callId = freeId(part.toolCallId, (id) => this.#callIds.has(id) || idTaken(id));
        this.#callIds.add(callId);
        this.#replay.call(callId, part.providerMetadata);
        return [{
          type: "call",
          call: { callId, tool: part.toolName, args: readArgs(part.input) },
        }];
      }
      case "error":
        throw toProviderError(part.error, this.#reading.origin);
      case "finish":
        return this.#finish(part);
      default:
        return [];
    }
  }

  /** The error of an answer that has ended without a finish. */
  broken(): ProviderError {
    return cutOff("its stream ended before the answer did", this.#reading.origin, true);
  }

  #finish(part: FinishPart): ModelEvent[] {
    const { origin } = this.#reading;
    const back = this.#replay.finish();
    return [...this.#tags?.end() ?? [], {
      type: "finish",
      model: origin.model,
      reason: finishReason(part, origin),
      usage: readUsage(part.usage),
      ...(back !== undefined && { replay: back }),
    }];
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
