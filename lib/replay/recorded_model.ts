import { fromErrorData, ServiceError } from "../base/errors.ts";
import type { Model } from "../model/port.ts";
import type { TurnRecording } from "./recording.ts";

/**
 * A model that answers as recorded, whatever it is asked. `onOver` is called when no more of an answer is
 * on record: there the turn was ended, or it wasn't and asks for more than before.
 */
export function recordedModel(
  { settings, answers }: Pick<TurnRecording, "settings" | "answers">,
  onOver: () => void,
): Model {
  let asked = 0;
  return {
    name: settings.model,
    contextTokens: Number.MAX_SAFE_INTEGER,
    async *stream({ signal }) {
      const answer = answers[asked++] ?? [];
      for (const said of answer) {
        if (said.type === "error") throw fromErrorData(said.error);
        yield [said];
        if (said.type === "finish") return;
      }
      onOver();
      signal.throwIfAborted();
      throw new ServiceError("provider_error", `Nothing more is on record of model call ${asked}`);
    },
  };
}
