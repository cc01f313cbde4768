/**
 * Leads from a provider to a model that has answered.
 *
 * @module
 */

import { nearest } from "../../lib/base/nearest.ts";
import type { Env } from "../../lib/config/references.ts";
import { isHttpUrl, type Offer, offerAt, offerOf, OTHER_NAMES } from "../../lib/model/offers.ts";
import { keyProblem, modelsOf, type SetUp, tryOut, wayOut } from "../../lib/model/try_offer.ts";
import type { Dialogue } from "./dialogue.ts";

/** What the steps work with. */
export interface SetUpDeps {
  env: Env;
  fetch: typeof fetch;
}

/** Most models that are listed as a choice; of more, part of the id is typed. */
const MAX_LISTED = 20;

/** Seconds for people, such as `1.2 s`. */
export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/**
 * Lets a person choose until a model has answered; what is `given` is not asked. Undefined for the
 * built-in offline model.
 */
export async function setUpModel(
  dialogue: Dialogue,
  offers: readonly Offer[],
  deps: SetUpDeps,
  given: Partial<SetUp> = {},
): Promise<SetUp | undefined> {
  let offer = given.offer ?? await chooseProvider(dialogue, offers);
  let { key, id } = given;
  while (offer !== undefined) {
    key ??= await askKey(dialogue, offer, deps.env);
    const listed = await modelsOf({ offer, key }, deps.fetch);
    let failed = "failed" in listed ? listed.failed : undefined;
    if (!("failed" in listed)) {
      id ??= await askModel(dialogue, offer, listed.models);
      dialogue.say(`Testing ${offer.provider}/${id} with a short message`);
      const trial = await tryOut({ offer, key, id }, deps.fetch);
      if (trial.ok) {
        dialogue.say(`It works: answered in ${seconds(trial.ms)}`);
        return { offer, key, id, trial };
      }
      failed = trial;
    }
    dialogue.say(wayOut({ offer, id: id ?? "" }, failed!));
    const steps = ["Try again", "Use another key", "Use another model", "Use another provider"];
    if (id !== undefined) steps.push("Save it anyway");
    const usual = { key: 1, model: 2, unreachable: 0, limit: 0, other: 0 }[failed!.why];
    const step = steps[await dialogue.choose("What now?", steps, usual)];
    if (step === "Save it anyway") return { offer, key, id: id!, trial: failed };
    if (step === "Use another key") key = await pasteKey(dialogue, offer);
    if (step === "Use another model") id = undefined;
    if (step === "Use another provider") {
      [key, id] = [undefined, undefined];
      offer = await chooseProvider(dialogue, offers);
    }
  }
}

async function chooseProvider(
  dialogue: Dialogue,
  offers: readonly Offer[],
): Promise<Offer | undefined> {
  const labels = [
    ...offers.map(({ label, found }) => found === undefined ? label : `${label} (${found})`),
    "Another OpenAI-style server",
    "None yet: the built-in offline model, to look around",
  ];
  const usual = offers[0]?.found === undefined ? labels.length - 1 : 0;
  const at = await dialogue.choose("Which provider do you want to use?", labels, usual);
  if (at < offers.length) return offers[at];
  return at === offers.length ? await askServer(dialogue) : undefined;
}

async function askServer(dialogue: Dialogue): Promise<Offer> {
  dialogue.say(`Known by name: ${OTHER_NAMES.join(", ")}`);
  const answer = await dialogue.ask("Name or address, such as http://192.168.1.5:8000/v1", {
    refuse: (text) =>
      isHttpUrl(text) || OTHER_NAMES.includes(text)
        ? undefined
        : `Expected an address that starts with http:// or https://, or one of these names`,
  });
  return isHttpUrl(answer) ? offerAt(answer) : offerOf(answer)!;
}

/** The key in the environment, else one that is pasted; empty for a server that needs none. */
async function askKey(dialogue: Dialogue, offer: Offer, env: Env): Promise<string> {
  const { keyVariable, keyless } = offer;
  if (keyless) return "";
  const known = keyVariable === undefined ? "" : env(keyVariable)?.trim() ?? "";
  if (known === "") return await pasteKey(dialogue, offer);
  dialogue.say(`Using the key in ${keyVariable}`);
  return known;
}

async function pasteKey(dialogue: Dialogue, offer: Offer): Promise<string> {
  const { label, keyPage } = offer;
  if (keyPage !== undefined) dialogue.say(`Create a key at ${keyPage}`);
  const optional = keyPage === undefined ? "; Enter: none" : "";
  return await dialogue.secret(`API key for ${label} (hidden${optional})`, {
    refuse: (key) => key === "" && optional !== "" ? undefined : keyProblem(key),
  });
}

async function askModel(
  dialogue: Dialogue,
  { label, provider, usualModel }: Offer,
  models: readonly string[] | undefined,
): Promise<string> {
  if (models === undefined || models.length === 0) {
    dialogue.say(
      provider === "ollama"
        ? "Ollama has no models yet. Get one with: ollama pull MODEL"
        : `${label} doesn't list its models`,
    );
    return await dialogue.ask("Model ID", {
      fallback: usualModel,
      refuse: (text) => text === "" ? "Type the ID of a model" : undefined,
    });
  }
  const usual = usualModel !== undefined && models.includes(usualModel) ? usualModel : undefined;
  if (models.length <= MAX_LISTED) return await pickFrom(dialogue, models, usual);
  dialogue.say(`There are ${models.length} models. Type an ID, or part of one to search`);
  for (;;) {
    const typed = await dialogue.ask("Model ID", { fallback: usual });
    if (models.includes(typed)) return typed;
    const matching = models.filter((id) => id.toLowerCase().includes(typed.toLowerCase()));
    if (matching.length > 0 && matching.length <= MAX_LISTED) {
      return await pickFrom(dialogue, matching);
    }
    const near = nearest(typed, models);
    dialogue.say(
      matching.length > 0
        ? `  ${matching.length} models match; type more of the ID`
        : `  No model matches "${typed}"${near === undefined ? "" : `; did you mean ${near}?`}`,
    );
  }
}

async function pickFrom(
  dialogue: Dialogue,
  models: readonly string[],
  usual = models[0]!,
): Promise<string> {
  if (models.length === 1) return models[0]!;
  return models[await dialogue.choose("Which model?", models, models.indexOf(usual))]!;
}
