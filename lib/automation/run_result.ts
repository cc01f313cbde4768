/**
 * What came of a turn of an automation.
 *
 * @module
 */

import type { StoredEvent } from "../contract/events.ts";
import type { OutFile } from "../contract/messages.ts";
import type { RunResult } from "./delivery_decision.ts";

/** Longest answer that is kept in memory of one run, characters. */
const MAX_ANSWER_CHARS = 200_000;

/**
 * What a turn came to, by its events: the text that it said last, without what it said on the way to
 * that. Undefined when they stop before its end.
 */
export async function runResult(
  events: AsyncIterable<StoredEvent>,
): Promise<RunResult | undefined> {
  let answer = "";
  let streamId: string | undefined;
  const files: OutFile[] = [];
  let error = "The turn ended without an answer";
  for await (const { event } of events) {
    switch (event.type) {
      case "text_delta":
        if (event.streamId !== streamId) answer = "";
        streamId = event.streamId;
        if (answer.length < MAX_ANSWER_CHARS) answer += event.text;
        break;
      case "files":
        files.push(...event.files);
        break;
      case "error":
        error = event.error.message;
        break;
      case "turn_end":
        return event.status === "done"
          ? {
            status: "done",
            answer: cutText(answer.trim(), MAX_ANSWER_CHARS),
            ...files.length > 0 && { files },
          }
          : { status: "failed", error };
    }
  }
  return undefined;
}

/** The text, or its beginning with a line that says so. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars).toWellFormed()}\n\n[It goes on; the rest was cut here.]`;
}
