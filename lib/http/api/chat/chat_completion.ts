/**
 * A whole answer: the `chat.completion` object of a request that does not stream.
 *
 * @module
 */

import type { AgentEvent } from "../../../contract/events.ts";
import type { ErrorData } from "../../../base/errors.ts";
import {
  type ChatIdentity,
  chatUsage,
  StepJoiner,
  type TurnEnd,
  turnFailure,
} from "./chat_text.ts";

/** Collects the events of a turn. */
export class ChatCompletion {
  readonly #texts: string[] = [];
  readonly #reasoning: string[] = [];
  readonly #textSteps = new StepJoiner();
  readonly #reasoningSteps = new StepJoiner();
  #error: ErrorData | undefined;
  #end: TurnEnd | undefined;

  add(event: AgentEvent): void {
    switch (event.type) {
      case "text_delta":
        this.#texts.push(this.#textSteps.next(event.streamId, event.text));
        break;
      case "reasoning_delta":
        this.#reasoning.push(this.#reasoningSteps.next(event.streamId, event.text));
        break;
      case "error":
        this.#error = event.error;
        break;
      case "turn_end":
        this.#end = event;
        break;
    }
  }

  /** Whether the turn has ended. */
  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** Why the turn failed; undefined if it did not. Only once it has ended. */
  get failure(): ErrorData | undefined {
    return this.#end && turnFailure(this.#end, this.#error);
  }

  /** The object; only once the turn has ended. */
  toJson({ id, created, model }: ChatIdentity): string {
    const end = this.#end!;
    return JSON.stringify({
      id,
      object: "chat.completion",
      created,
      model,
      choices: [{
        index: 0,
        message: {
          role: "assistant",
          content: this.#texts.join(""),
          // Where servers of reasoning models put it, and where clients look for it.
          reasoning_content: this.#reasoning.length === 0 ? undefined : this.#reasoning.join(""),
          refusal: null,
        },
        logprobs: null,
        finish_reason: end.finishReason,
      }],
      usage: chatUsage(end.usage),
    });
  }
}
