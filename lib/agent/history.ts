/**
 * The messages that a model is given, as plain data: whole steps only, and within a budget.
 *
 * @module
 */

import type { Message, UserPart } from "../contract/messages.ts";
import { estimateTokens } from "../model/tokens.ts";

/** A message of a turn's context. */
export interface Entry {
  /** Its id in the journal; undefined for one that this turn has added since it read the context. */
  id?: number;
  turnId: string;
  message: Message;
  /** Estimated tokens. */
  tokens: number;
}

/** What stands for the result of a call that has none on record. */
export const NO_RESULT =
  "[No result is on record: the call was interrupted. It may or may not have run.]";

/** Fewest tokens to which one message is cut. */
const MIN_CUT_TOKENS = 60;

/** An entry for a message that was just added. */
export function newEntry(turnId: string, message: Message): Entry {
  return { turnId, message, tokens: estimateTokens(message) };
}

/** Sum of the estimates. */
export function totalTokens(entries: readonly Entry[]): number {
  return entries.reduce((sum, { tokens }) => sum + tokens, 0);
}

/**
 * The messages with every call answered exactly once, right after the step that made it. Providers
 * refuse a context in which a call has no result or a result no call.
 */
export function wholeSteps(messages: readonly Message[]): Message[] {
  const whole: Message[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]!;
    // A tool message that belongs to a step is taken with that step, below.
    if (message.role === "tool") continue;
    whole.push(message);
    if (message.role !== "assistant" || message.calls.length === 0) continue;
    const next = messages[at + 1];
    const results = new Map(
      next?.role === "tool" ? next.results.map((result) => [result.callId, result]) : [],
    );
    const complete = next?.role === "tool" && next.results.length === message.calls.length &&
      message.calls.every((call, index) => next.results[index]!.callId === call.callId);
    whole.push(
      complete ? next : {
        role: "tool",
        results: message.calls.map(({ callId, tool }) =>
          results.get(callId) ?? { callId, tool, output: NO_RESULT, failed: true }
        ),
      },
    );
  }
  return whole;
}

/**
 * The entries cut to a budget by shortening the largest ones, each cut stated in the text; undefined
 * when even that is not enough.
 */
export function cutToFit(entries: readonly Entry[], maxTokens: number): Entry[] | undefined {
  if (totalTokens(entries) <= maxTokens) return [...entries];
  const cap = capFor(entries.map(({ tokens }) => tokens), maxTokens);
  if (cap < MIN_CUT_TOKENS) return undefined;
  const fitted = entries.map((entry) => entry.tokens <= cap ? entry : cutEntry(entry, cap));
  return totalTokens(fitted) <= maxTokens ? fitted : undefined;
}

/** The text with its middle left out and that said, at most `maxChars` long (at least the note). */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const note = `\n[… ${text.length - maxChars} characters or more left out to fit the context …]\n`;
  const kept = Math.max(0, maxChars - note.length);
  const head = Math.ceil(kept * 2 / 3);
  const tail = kept - head;
  return (text.slice(0, head).toWellFormed() + note +
    (tail === 0 ? "" : text.slice(-tail).toWellFormed()));
}

/** The largest cap under which the sizes, each cut to it, sum up to at most `max`. */
function capFor(sizes: readonly number[], max: number): number {
  const sorted = [...sizes].sort((a, b) => a - b);
  let left = max;
  for (let at = 0; at < sorted.length; at++) {
    const share = Math.floor(left / (sorted.length - at));
    if (sorted[at]! > share) return share;
    left -= sorted[at]!;
  }
  return max;
}

/** The entry with its texts shortened until it is within the cap, as far as that can be. */
function cutEntry(entry: Entry, maxTokens: number): Entry {
  let { message, tokens } = entry;
  let ratio = 1;
  // An estimate is not exactly linear in the text; a few rounds come close enough.
  for (let round = 0; round < 6 && tokens > maxTokens; round++) {
    ratio *= maxTokens / tokens * 0.95;
    message = cutMessage(entry.message, ratio);
    tokens = estimateTokens(message);
  }
  return { ...entry, message, tokens };
}

function cutMessage(message: Message, ratio: number): Message {
  const shorter = (text: string) => cutText(text, Math.floor(text.length * ratio));
  switch (message.role) {
    case "user":
      return { role: "user", parts: cutParts(message.parts, shorter) };
    case "assistant":
      // Arguments stay whole: cut ones would be no arguments any more.
      return { role: "assistant", text: shorter(message.text), calls: message.calls };
    case "tool":
      return {
        role: "tool",
        results: message.results.map((result) => ({ ...result, output: shorter(result.output) })),
      };
    case "summary":
      return { role: "summary", text: shorter(message.text) };
  }
}

/** Texts are shortened; where there is only an image, its place is kept in words. */
function cutParts(parts: readonly UserPart[], shorter: (text: string) => string): UserPart[] {
  const hasText = parts.some((part) => part.type !== "image" && part.text.length > 200);
  return parts.map((part) => {
    if (part.type !== "image") return { ...part, text: shorter(part.text) };
    if (hasText) return part;
    return {
      type: "text",
      text: `[An image (${part.mediaType}) was left out to fit the context.]`,
    };
  });
}
