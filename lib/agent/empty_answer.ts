/**
 * The error of a model that ended its answer and said nothing in it.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Finish } from "./ask_model.ts";

/** `tries` is how often it was asked. */
export function emptyAnswer({ model, reason }: Finish, tries: number): ServiceError {
  return new ServiceError(
    "empty_answer",
    reason === "length"
      ? `The model ${model} used up its output limit before it wrote any text. ` +
        "Raise agent.maxOutputTokens, or use a model that reasons less."
      : `The model ${model} gave an empty answer${tries > 1 ? " twice" : ""}. Ask again, or use ` +
        "another model. If it never answers, check that its server serves it as a chat model.",
  );
}
