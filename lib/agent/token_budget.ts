/**
 * The tokens that a run of an automation may use, over all its model calls and over restarts.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Journal, Turn } from "../contract/journal.ts";
import type { ModelRequest } from "../model/port.ts";
import type { Draft } from "./ask_model.ts";
import type { Usage } from "../contract/events.ts";
import type { Message, PromptMessage } from "../contract/messages.ts";
import { estimateTokens } from "../model/tokens.ts";

/** A model call as far as it is estimated. */
export interface EstimatedRequest extends Pick<ModelRequest, "system" | "tools"> {
  messages: readonly (Message | PromptMessage)[];
}

export class TokenBudget {
  readonly #tokens: number;
  #used: number;

  /** `used`: by earlier attempts of the turn. */
  constructor(tokens: number, used: number) {
    this.#tokens = tokens;
    this.#used = used;
  }

  /** Counts a call: as the provider did, or by estimate when it said nothing. */
  count(usage: Usage, request: EstimatedRequest, draft: Draft): void {
    this.#used += usage.inputTokens + usage.outputTokens ||
      requestTokens(request) + draftTokens(draft);
  }

  /** Before a call: throws `token_budget` when nothing is left for it. */
  checkLeft(): void {
    if (this.#used >= this.#tokens) throw this.#error();
  }

  /** After a call. */
  get isExceeded(): boolean {
    return this.#used > this.#tokens;
  }

  /** Throws `token_budget` when more was used than there is. */
  checkUsed(): void {
    if (this.isExceeded) throw this.#error();
  }

  #error(): ServiceError {
    return new ServiceError(
      "token_budget",
      `The run has used ${this.#used} tokens of its budget of ${this.#tokens}`,
      { param: "tokenBudget" },
    );
  }
}

/**
 * What earlier attempts of a turn have used, by what they said of it: model calls that ended, and their
 * tokens. One whose tokens nobody counted is taken for the whole context as it is now, so that a crash
 * makes no budget larger.
 */
export async function usedBefore(
  journal: Pick<Journal, "follow" | "contextTokens">,
  { id, sessionId, afterSeq, attempts }: Turn,
): Promise<{ calls: number; tokens: number }> {
  const used = { calls: 0, tokens: 0 };
  if (attempts === 0) return used;
  for await (const { turnId, event } of journal.follow(sessionId, { afterSeq, live: false })) {
    if (turnId !== id || event.type !== "usage") continue;
    const { inputTokens, outputTokens } = event.usage;
    used.calls += 1;
    used.tokens += inputTokens + outputTokens || journal.contextTokens(sessionId);
  }
  return used;
}

function requestTokens({ system, messages, tools }: EstimatedRequest): number {
  let tokens = textTokens(system);
  if (tools.length > 0) tokens += textTokens(JSON.stringify(tools));
  for (const message of messages) tokens += estimateTokens(message);
  return tokens;
}

function draftTokens({ text, reasoning, calls }: Draft): number {
  return estimateTokens({ role: "assistant", text, reasoning, calls });
}

function textTokens(text: string): number {
  return estimateTokens({ role: "summary", text });
}
