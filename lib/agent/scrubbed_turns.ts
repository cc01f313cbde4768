/**
 * The way in to the agent, with secrets taken out of what people send before any of it is on record.
 * The bytes of files are kept as they are: their text is what models are given.
 *
 * @module
 */

import type { Scrubber } from "../secrets/scrubber.ts";
import type { InputPart } from "../contract/messages.ts";
import { scrubbedError } from "./scrubbed_model.ts";
import type { Turns } from "../contract/turns.ts";

/** The turns, scrubbed. */
export function scrubbedTurns<T extends Turns>(turns: T, scrubber: Scrubber): T {
  return {
    ...turns,
    async submit(request) {
      const { input, response, automation } = request;
      try {
        return await turns.submit({
          ...request,
          input: input.map((part) => scrubbedPart(part, scrubber)),
          response: scrubber.value(response),
          ...automation?.lastResult !== undefined && {
            automation: { ...automation, lastResult: scrubber.text(automation.lastResult) },
          },
        });
      } catch (error) {
        throw scrubbedError(error, scrubber);
      }
    },
    aside: ({ input, timeoutMs }) =>
      turns.aside({ input: input.map((part) => scrubbedPart(part, scrubber)), timeoutMs }),
  };
}

function scrubbedPart(part: InputPart, { text }: Pick<Scrubber, "text">): InputPart {
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
}
