import type { Model } from "../model/port.ts";

/** The model of a session, as far as the configuration has it. */
export interface SessionModel {
  model: Model;
  /** The preset it comes from; absent for the configured model. */
  preset?: string;
  /** Why it is not the one that was chosen, for people. */
  notice?: string;
}

/** Where models come from. */
export interface SessionModelDeps {
  models: {
    default: Model;
    /** Throws when there is none of that name. */
    pick(name: string): Model;
  };
  presets: () => readonly string[];
}

/**
 * The model that answers in a session for which that preset was chosen. A preset that is gone, or can
 * not be used, does not stop the session: the configured model answers, and the notice says so.
 */
export function sessionModel(
  preset: string | undefined,
  { models, presets }: SessionModelDeps,
): SessionModel {
  if (preset === undefined) return { model: models.default };
  const instead = `"${preset}" was chosen for this conversation and`;
  const answers = `${models.default.name} answers; /model shows what there is.`;
  if (!presets().includes(preset)) {
    const notice = `The model preset ${instead} is not in the configuration: ${answers}`;
    return { model: models.default, notice };
  }
  try {
    return { model: models.pick(preset), preset };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const notice = `The model preset ${instead} cannot be used (${reason}): ${answers}`;
    return { model: models.default, notice };
  }
}
