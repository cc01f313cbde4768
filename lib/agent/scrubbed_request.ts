/**
 * What people send, with secrets taken out. The bytes of files are kept as they are: their text is what
 * models are given.
 *
 * @module
 */

import type { InputPart } from "../contract/messages.ts";
import type { TurnRequest } from "../contract/turns.ts";
import type { Scrubber } from "../secrets/scrubber.ts";

/** A request, scrubbed. */
export function scrubbedRequest(
  request: TurnRequest,
  scrubber: Pick<Scrubber, "text" | "value">,
): TurnRequest {
  const { input, response, automation } = request;
  return {
    ...request,
    input: scrubbedInput(input, scrubber),
    response: scrubber.value(response),
    ...automation?.lastResult !== undefined && {
      automation: { ...automation, lastResult: scrubber.text(automation.lastResult) },
    },
  };
}

/** The parts of a message, scrubbed. */
export function scrubbedInput(
  input: readonly InputPart[],
  { text }: Pick<Scrubber, "text">,
): InputPart[] {
  return input.map((part) => {
    switch (part.type) {
      case "text":
        return {
          ...part,
          text: text(part.text),
          ...part.from !== undefined && { from: text(part.from) },
        };
      case "document":
        return { ...part, name: text(part.name), text: text(part.text) };
      case "image":
        return part;
    }
  });
}
