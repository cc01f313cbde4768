/**
 * Words that are for the authority and not for the model: `/approve ID DIGEST` and `/deny ID REASON`.
 * They are no turn, and nothing of them or their answer is on record in a conversation (decisions E4,
 * spec 5 G12).
 *
 * @module
 */

import type { Credential, OperatorAnswer, OperatorRequest } from "../authority/operator.ts";
import { ServiceError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import { type AgentEvent, NO_USAGE, type StoredEvent } from "./events.ts";
import type { Answer } from "./turns.ts";

/** Asks the authority; rejects with its ServiceError. */
export type Operate = (
  request: OperatorRequest,
  credential: Credential,
) => Promise<OperatorAnswer>;

/** What was typed. */
export type WordsRequest = Extract<OperatorRequest, { op: "approvals.approve" | "approvals.deny" }>;

/** A part of a message; one that is no text has none. */
export interface Said {
  readonly type: string;
  readonly text?: string;
}

/**
 * Where the words stand, in any writing of them that somebody could mean: a chat may put the name of the
 * bot after them, and what was pasted may begin with characters that nobody sees.
 */
const WORDS = /^[\s\p{Cf}]*\/(approve|deny)(?:@\S*)?(?=\s|$)\s*(\S*)\s*([^]*)$/iu;

/**
 * What a message asks of the authority: undefined for one that is for the model, `usage` for one that
 * is not, but lacks something. A message that only begins so is caught whole, files and all.
 */
export function readWords(
  input: readonly Said[],
): WordsRequest | { usage: string } | undefined {
  const first = input.find(({ text }) => text !== undefined && text.trim() !== "");
  const match = first?.text === undefined ? null : WORDS.exec(first.text);
  if (!match) return undefined;
  const [, word, id, rest] = match;
  if (word!.toLowerCase() === "deny") {
    if (id === "") return { usage: "Expected: /deny ID [REASON]" };
    return { op: "approvals.deny", id: id!.slice(0, 100), reason: rest!.trim().slice(0, 10_000) };
  }
  const digest = rest!.trim();
  if (id === "" || !/^[0-9a-f]{8,64}$/i.test(digest)) {
    return { usage: "Expected: /approve ID DIGEST, the first 8 digits of it or more" };
  }
  return { op: "approvals.approve", id: id!.slice(0, 100), digest };
}

/** The answer to such words, as events that are on no record. */
export class Words implements Answer {
  readonly acceptedAt: number;
  readonly #text: Promise<string>;

  constructor(readonly id: string, text: Promise<string>, clock: Pick<Clock, "now">) {
    this.acceptedAt = clock.now();
    this.#text = text;
  }

  async *events(signal?: AbortSignal): AsyncGenerator<StoredEvent> {
    const streamId = `${this.id}.1`;
    const text = await this.#text;
    const events: AgentEvent[] = [
      { type: "turn_start", model: "service" },
      { type: "text_delta", streamId, text },
      { type: "segment_end", streamId, resuming: false },
      { type: "turn_end", status: "done", finishReason: "stop", usage: NO_USAGE },
    ];
    for (const [at, event] of events.entries()) {
      if (signal?.aborted) return;
      yield { seq: at + 1, turnId: this.id, event };
    }
  }

  /** Nothing is left to be cancelled: the authority has the words. */
  cancel(): void {}
}

/** Asks the authority as that sender and says in a sentence what came of it. Never rejects. */
export async function sayWords(
  words: WordsRequest | { usage: string },
  { operate, sender }: { operate: Operate; sender: string },
): Promise<string> {
  if ("usage" in words) return `${words.usage}.`;
  try {
    await operate(words, { kind: "sender", sender });
    return words.op === "approvals.approve" ? `Approved ${words.id}.` : `Denied ${words.id}.`;
  } catch (error) {
    const why = error instanceof ServiceError ? error.message : "something went wrong inside";
    return `Not ${words.op === "approvals.approve" ? "approved" : "denied"}: ${why}.`;
  }
}
