/**
 * Which model the first configuration names.
 *
 * @module
 */

import type { Env } from "../../lib/config/references.ts";
import type { Dialogue } from "./dialogue.ts";
import { isHttpUrl, modelsAt, type Offer } from "./offers.ts";

/** A provider and one of its models. */
export interface Choice {
  provider: string;
  section: Record<string, string>;
  /** `<provider>/<id>`. */
  model: string;
}

/** Most models that are listed as a choice; of more the id is typed. */
const MAX_LISTED = 20;

/** The first offer whose model is known; undefined leaves the built-in offline model. */
export function firstChoice(offers: readonly Offer[]): Choice | undefined {
  const offer = offers.find(({ models }) => models.length > 0);
  return offer && choiceOf(offer, offer.models[0]!);
}

/** Lets a person choose; undefined for the built-in offline model. */
export async function chooseModel(
  dialogue: Dialogue,
  offers: readonly Offer[],
  deps: { env: Env; fetch: typeof fetch },
): Promise<Choice | undefined> {
  const labels = [
    ...offers.map(({ label }) => label),
    "Another server that speaks the OpenAI wire, by its address",
    "None yet: the built-in offline model, to look around",
  ];
  // Where nothing was found, Enter goes on without a model.
  if (offers.length === 0) labels.reverse();
  const picked = labels[await dialogue.choose("Which model is to answer?", labels)]!;
  if (picked.startsWith("None yet")) return undefined;
  const offer = offers.find(({ label }) => label === picked) ?? await askServer(dialogue, deps);
  return choiceOf(offer, await askModel(dialogue, offer.models));
}

function choiceOf({ provider, section }: Offer, id: string): Choice {
  return { provider, section, model: `${provider}/${id}` };
}

async function askServer(
  dialogue: Dialogue,
  { env, fetch }: { env: Env; fetch: typeof globalThis.fetch },
): Promise<Offer> {
  const baseUrl = await dialogue.ask("Address, such as http://192.168.1.5:8000/v1", {
    refuse: (text) =>
      isHttpUrl(text) ? undefined : "An address that begins with http:// or https://, please",
  });
  const variable = await dialogue.ask("Environment variable that holds its key (Enter: no key)", {
    refuse(text) {
      if (text === "") return undefined;
      // What is typed here may be the key itself, so it is not repeated.
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return "The name of a variable, please";
      return env(text) ? undefined : "That variable is not set here";
    },
  });
  const apiKey = variable === "" ? "" : env(variable)!;
  const section: Record<string, string> = { type: "openai-compatible", baseUrl };
  if (variable !== "") section.apiKey = `\${${variable}}`;
  const models = await modelsAt({ baseUrl, apiKey, fetch });
  if (models.length === 0) dialogue.say("  It does not say which models it has");
  return { label: baseUrl, provider: "server", section, models };
}

async function askModel(dialogue: Dialogue, models: readonly string[]): Promise<string> {
  if (models.length > 1 && models.length <= MAX_LISTED) {
    return models[await dialogue.choose("Which of its models?", models)]!;
  }
  return await dialogue.ask("Id of its model", {
    fallback: models[0],
    refuse: (text) => text === "" ? "The id, please; the server's own pages list them" : undefined,
  });
}
