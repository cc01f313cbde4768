/**
 * A whole answer: the `chat.completion` object of a request that does not stream.
 *
 * @module
 */

import type { ErrorData } from "../../../base/errors.ts";
import { approvalCall } from "./approval_call.ts";
import type { ApprovalAsked, ChatEvent } from "./chat_segment.ts";
import {
  type ChatIdentity,
  chatUsage,
  finishReason,
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
  #end: TurnEnd | ApprovalAsked | undefined;

  add(event: ChatEvent): void {
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
      case "approval_asked":
        this.#end = event;
        break;
    }
  }

  /** Whether there is nothing more to add. */
  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** Why the turn failed; undefined if it did not. Only once it has ended. */
  get failure(): ErrorData | undefined {
    return this.#end?.type === "turn_end" ? turnFailure(this.#end, this.#error) : undefined;
  }

  /** The object; only once it has ended. */
  toJson({ id, created, model }: ChatIdentity): string {
    const end = this.#end!;
    const asked = end.type === "approval_asked" ? end.approval : undefined;
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
          tool_calls: asked && [approvalCall(asked)],
        },
        logprobs: null,
        finish_reason: finishReason(end),
      }],
      usage: chatUsage(end.usage),
    });
  }
}
