/**
 * What an answer says, as one text.
 *
 * @module
 */

import type { Answer } from "../../contract/turns.ts";

/** All text of an answer, once it has ended. */
export async function answerText(answer: Answer): Promise<string> {
  let text = "";
  for await (const { event } of answer.events()) {
    if (event.type === "text_delta") text += event.text;
  }
  return text;
}
