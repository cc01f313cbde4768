/**
 * The chunks of one answer of chat completions as the parts that it is made of.
 *
 * @module
 */

import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { generateId, StreamingToolCallTracker } from "@ai-sdk/provider-utils";
import { type ErrorOrigin, toProviderError, unknownData } from "../provider_error.ts";
import { type Fields, Shape } from "./shape.ts";

/** Under which data of calls is kept; under the package's own name it would leak onto the wire. */
export const CALL_DATA = "chat";

type FinishPart = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

/** A piece of a call, as servers send it. */
interface CallDelta {
  index?: number;
  id?: string;
  function: { name?: string; arguments?: string };
  signature?: string;
}

/** Reads one answer. Every method may throw a `ProviderError`. */
export class ChatAnswer {
  readonly #origin: ErrorOrigin;
  readonly #take: (part: LanguageModelV4StreamPart) => void;
  #calls: Calls | undefined;
  #speaks = false;
  #refuses = false;
  #finishReason: string | undefined;
  #usage: LanguageModelV4Usage = toUsage(undefined);

  /** `take` is given the parts in their order. */
  constructor(origin: ErrorOrigin, take: (part: LanguageModelV4StreamPart) => void) {
    this.#origin = origin;
    this.#take = take;
  }

  /** Takes the data of an event. */
  push(data: unknown): void {
    const shape = new Shape(() => unknownData(data, this.#origin));
    const chunk = shape.fields(data) ?? shape.fail();
    // Also beside choices, which then say nothing.
    if (chunk.error !== undefined && chunk.error !== null) {
      throw chunk.choices === undefined
        ? unknownData(data, this.#origin)
        : toProviderError(chunk.error, this.#origin);
    }
    const choice = shape.fields((shape.list(chunk.choices) ?? shape.fail())[0]);
    const usage = shape.fields(chunk.usage);
    if (usage !== undefined) this.#usage = toUsage(usage, shape);
    if (choice === undefined) return;
    this.#finishReason = shape.text(choice.finish_reason) ?? this.#finishReason;
    const delta = shape.fields(choice.delta);
    if (delta !== undefined) this.#pushDelta(delta, shape);
  }

  /** The answer is over. */
  end(): void {
    if (this.#speaks) this.#take({ type: "text-end", id: "" });
    this.#calls?.end();
    if (this.#finishReason === undefined) return;
    this.#take({
      type: "finish",
      finishReason: {
        unified: toFinish(this.#finishReason, this.#refuses),
        raw: this.#finishReason,
      },
      usage: this.#usage,
    });
  }

  #pushDelta(delta: Fields, shape: Shape): void {
    this.#think(shape.text(delta.reasoning_content) ?? shape.text(delta.reasoning));
    if (typeof delta.content === "string") this.#say(delta.content);
    else for (const part of shape.list(delta.content) ?? []) this.#pushPart(part, shape);
    // What a model says when it refuses to answer; some servers send `false` for nothing.
    if (typeof delta.refusal === "string" && delta.refusal !== "") {
      this.#refuses = true;
      this.#say(delta.refusal);
    }
    for (const call of shape.list(delta.tool_calls) ?? []) {
      this.#calls ??= new Calls(this.#take);
      this.#calls.push(toCallDelta(shape.fields(call) ?? shape.fail(), shape));
    }
  }

  /** A part of a content that is a list; Mistral's models think in such ones. */
  #pushPart(data: unknown, shape: Shape): void {
    const part = shape.fields(data) ?? shape.fail();
    if (part.type === "text" && typeof part.text === "string") this.#say(part.text);
    if (part.type !== "thinking" || !Array.isArray(part.thinking)) return;
    for (const one of part.thinking) {
      if (one?.type === "text" && typeof one.text === "string") this.#think(one.text);
    }
  }

  #say(text: string): void {
    if (text === "") return;
    this.#speaks = true;
    this.#take({ type: "text-delta", id: "", delta: text });
  }

  #think(text = ""): void {
    if (text === "") return;
    if (this.#speaks) this.#take({ type: "text-end", id: "" });
    this.#speaks = false;
    this.#take({ type: "reasoning-delta", id: "", delta: text });
  }
}

/**
 * The calls of an answer from their pieces. Which piece belongs to which call is told by the package that
 * knows the habits of servers; it takes no call whose first piece has no name, as some send it.
 */
class Calls {
  readonly #tracker: StreamingToolCallTracker<CallDelta>;
  /** Pieces of calls that have no name yet, by index. */
  readonly #unnamed = new Map<number, CallDelta>();
  readonly #named = new Set<number>();

  constructor(take: (part: LanguageModelV4StreamPart) => void) {
    this.#tracker = new StreamingToolCallTracker<CallDelta>({ enqueue: take }, {
      generateId,
      extractMetadata: ({ signature }) =>
        signature === undefined ? undefined : { [CALL_DATA]: { thoughtSignature: signature } },
      buildToolCallProviderMetadata: (metadata) => metadata,
    });
  }

  push(delta: CallDelta): void {
    const { index } = delta;
    if (index === undefined || this.#named.has(index)) return this.#tracker.processDelta(delta);
    const before = this.#unnamed.get(index);
    const call: CallDelta = {
      index,
      id: before?.id ?? delta.id,
      function: {
        name: delta.function.name,
        arguments: (before?.function.arguments ?? "") + (delta.function.arguments ?? ""),
      },
      signature: before?.signature ?? delta.signature,
    };
    if (call.function.name === undefined) return void this.#unnamed.set(index, call);
    this.#unnamed.delete(index);
    this.#named.add(index);
    this.#tracker.processDelta(call);
  }

  /** Throws for a call that has no name. */
  end(): void {
    for (const call of this.#unnamed.values()) this.#tracker.processDelta(call);
    this.#tracker.flush();
  }
}

function toCallDelta(call: Fields, shape: Shape): CallDelta {
  const { name, arguments: args } = shape.fields(call.function) ?? shape.fail();
  const google = shape.fields(shape.fields(call.extra_content)?.google);
  return {
    index: shape.number(call.index),
    id: shape.text(call.id),
    function: { name: shape.text(name), arguments: shape.text(args) },
    signature: shape.text(google?.thought_signature) || undefined,
  };
}

function toFinish(reason: string, refuses: boolean): FinishPart["finishReason"]["unified"] {
  switch (reason) {
    case "stop":
      return refuses ? "content-filter" : "stop";
    case "length":
      return "length";
    case "content_filter":
      return "content-filter";
    case "function_call":
    case "tool_calls":
      return "tool-calls";
    default:
      return "other";
  }
}

function toUsage(usage: Fields | undefined, shape?: Shape): LanguageModelV4Usage {
  const count = (value: unknown) => shape?.number(value) ?? 0;
  const input = count(usage?.prompt_tokens);
  const output = count(usage?.completion_tokens);
  const cached = count(shape?.fields(usage?.prompt_tokens_details)?.cached_tokens);
  const reasoning = count(shape?.fields(usage?.completion_tokens_details)?.reasoning_tokens);
  return {
    inputTokens: {
      total: input,
      noCache: input - cached,
      cacheRead: cached,
      cacheWrite: undefined,
    },
    outputTokens: { total: output, text: Math.max(0, output - reasoning), reasoning },
  };
}
