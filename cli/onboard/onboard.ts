/**
 * Sets up a home: a model that answers, its key as a secret, the workspace. Everything is found out
 * first and written at the end.
 *
 * @module
 */

import { writeFileAtomic } from "../../lib/base/atomic_write.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { formatPath, isObject, type KeyPath, valueAt } from "../../lib/base/key_path.ts";
import { readConfigText } from "../../lib/config/config_file.ts";
import { withValue } from "../../lib/config/edit.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { configError, formatProblem } from "../../lib/config/problem.ts";
import { HIDDEN } from "../../lib/config/redact.ts";
import { type Env, isReference } from "../../lib/config/references.ts";
import { sameJson } from "../../lib/config/rewrite.ts";
import { configText } from "../../lib/config/save.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { nodeAt } from "../../lib/config/schema_tree.ts";
import type { Secret } from "../../lib/contract/secrets.ts";
import { listOffers, type Offer } from "../../lib/model/offers.ts";
import { keyProblem, modelsOf, type SetUp, tryOut, wayOut } from "../../lib/model/try_offer.ts";
import { keySecret, secretNamed } from "../../lib/operations/models/key_secret.ts";
import { examine, type Examined } from "../../lib/settings/examine.ts";
import { saveSettings } from "../config/save_settings.ts";
import { type OperatorDeps, readState } from "../operator/with_state.ts";
import type { Output } from "../output.ts";
import { addChannels, type ChannelDefaults } from "./add_channels.ts";
import { type Dialogue, DialogueEndedError } from "./dialogue.ts";
import { keepSecret } from "./key_secret.ts";
import { makeWorkspace } from "./make_workspace.ts";
import { setUpModel } from "./set_up_model.ts";

/** What {@linkcode onboard} takes. */
export interface OnboardOptions {
  paths: HomePaths;
  env: Env;
  fetch: typeof fetch;
  out: Output;
  operator: OperatorDeps;
  /** What the command line names. */
  given?: { offer?: Offer; key?: string; id?: string; workspace?: string };
  /** Sections of channels with every default; empty: none is written. */
  channels: ChannelDefaults;
  /** Replace a configuration that is there. */
  force: boolean;
  /** Ask the model for a short answer before anything is written. */
  test: boolean;
  /** Asks; without one the first offer is taken. */
  dialogue?: Dialogue;
  /** Called before the first write: what follows is to be finished. */
  onWrite?(): void;
}

/** What was done. */
export interface Onboarded {
  configFile: string;
  /** `kept`: the file had everything; `added`: it lacked something; `changed`: it had another value. */
  outcome: "written" | "replaced" | "added" | "changed" | "kept";
  /** Keys of a file that was there that are new, or have another value now. */
  added: string[];
  /** Copy of the configuration that was replaced. */
  backupFile?: string;
  /** `agent.model` as it is now; empty where a start chooses. */
  model: string;
  /** Whether a provider is there to answer. */
  hasProvider: boolean;
  /** Name of the secret that holds the key. */
  secret?: string;
  /** How the test of the model ended. */
  test?: { ok: true; ms: number } | { ok: false; message: string };
  workspace: string;
  workspaceIsNew: boolean;
}

/** The model that was to be written didn't answer. */
export class ModelTestError extends Error {
  override readonly name = "ModelTestError";
}

/**
 * Throws `config_invalid` for an existing file with problems that is to be kept, ModelTestError
 * where nobody is asked and the model doesn't answer, and DialogueEndedError when the person leaves;
 * then nothing was written.
 */
export async function onboard(options: OnboardOptions): Promise<Onboarded> {
  const { paths, env, dialogue, operator, out } = options;
  const { configFile } = paths;
  const before = await readConfigText(configFile);
  const old = before === undefined ? undefined : examine({ text: before, paths, env });
  const replace = old !== undefined && await wantsReplacing(old, options);
  if (old !== undefined && !replace && old.problems.length > 0) {
    throw configError(`Cannot add to ${configFile}`, old.problems);
  }

  const kept = replace ? undefined : old;
  const { setUp, secret, value } = await fill(kept, options);
  const text = configText(replace ? undefined : before, value);
  const next = examine({ text, paths, env, pending: secret });
  if (next.problems.length > 0) throw configError(`Cannot write ${configFile}`, next.problems);
  const changes = differences(old?.canonical ?? {}, next.canonical);
  if (old !== undefined) await showChanges(changes, options, { asks: !replace });

  options.onWrite?.();
  const { agent, providers } = next.config!;
  const workspaceIsNew = await makeWorkspace(agent.workspace);
  await Deno.mkdir(paths.home, { recursive: true, mode: 0o700 });
  const backupFile = replace ? `${configFile}.bak` : undefined;
  if (backupFile !== undefined) await writeFileAtomic(backupFile, before!, { mode: 0o600 });
  const forget = secret && await keepSecret(secret, operator, out);
  try {
    const keys = changes.map(({ path }) => path);
    await saveSettings({ keys, before, value, anew: replace }, operator, out);
  } catch (error) {
    await forget?.();
    throw error;
  }
  dialogue?.say("");
  const { trial } = setUp ?? {};
  return {
    configFile,
    outcome: before === undefined
      ? "written"
      : replace
      ? "replaced"
      : changes.length === 0
      ? "kept"
      : changes.every(({ line }) => line.startsWith("+"))
      ? "added"
      : "changed",
    added: before === undefined || replace ? [] : shortened(changes, old!),
    backupFile,
    model: agent.model,
    hasProvider: Object.keys(providers).length > 0,
    secret: secret?.name,
    test: trial === undefined || trial.ok ? trial : { ok: false, message: wayOut(setUp!, trial) },
    workspace: agent.workspace,
    workspaceIsNew,
  };
}

/** Says what is wrong with the old file before it asks. */
async function wantsReplacing(
  old: Examined,
  { paths, force, dialogue }: OnboardOptions,
): Promise<boolean> {
  if (force || dialogue === undefined || old.problems.length === 0) return force;
  dialogue.say(`${paths.configFile} doesn't load:`);
  for (const problem of old.problems) dialogue.say(`  problem  ${formatProblem(problem)}`);
  return await dialogue.confirm("Replace it? A copy is kept.");
}

/** What the file is to hold, and the secret that it refers to. */
async function fill(
  kept: Examined | undefined,
  options: OnboardOptions,
): Promise<{ setUp?: SetUp; secret?: Secret; value: Record<string, unknown> }> {
  const { paths, dialogue, given = {}, operator } = options;
  let value: unknown = kept?.canonical ?? {};
  const setUp = await wantsModel(kept, options) ? await chooseModel(options) : undefined;
  let secret: Secret | undefined;
  if (setUp !== undefined) {
    const { offer: { provider, section }, key, id } = setUp;
    const address = valueAt(value, ["providers", provider, "baseUrl"]);
    value = withValue(value, ["agent", "model"], `${provider}/${id}`);
    for (const [name, text] of Object.entries(section)) {
      value = withValue(value, ["providers", provider, name], text);
    }
    const keyPath: KeyPath = ["providers", provider, "apiKey"];
    if (key !== "") {
      const current = secretNamed(valueAt(value, keyPath));
      secret = await readState(
        operator,
        ({ secrets }) => keySecret(setUp, current, { secrets, now: operator.now() }),
      );
      value = withValue(value, keyPath, `\${secret:${secret.name}}`);
    } else if (address !== section.baseUrl && valueAt(value, keyPath) !== undefined) {
      // That key was given for another address.
      value = withValue(value, keyPath, undefined);
    }
  }
  const workspace = given.workspace ??
    (kept === undefined && dialogue !== undefined
      ? await askWorkspace(dialogue, value, options, secret)
      : paths.workspace);
  if (workspace !== paths.workspace) value = withValue(value, ["agent", "workspace"], workspace);
  return { setUp, secret, value: addChannels(value, options.channels) as Record<string, unknown> };
}

/** Whether a model is to be set up: there is none, or somebody wants another one. */
async function wantsModel(
  kept: Examined | undefined,
  { given = {}, dialogue, paths }: OnboardOptions,
): Promise<boolean> {
  if (kept === undefined || given.offer !== undefined || given.id !== undefined) return true;
  const { agent, providers } = kept.config!;
  const hasModel = agent.model !== "" || agent.preset !== "" ||
    // What the environment names is no part of the file yet.
    Object.keys(providers).length > kept.environmentProviders.length;
  if (!hasModel) return true;
  if (dialogue === undefined) return false;
  dialogue.say(`${paths.configFile} is there already, and uses ${agent.model || "a model"}`);
  return await dialogue.confirm("Set up another model?");
}

async function chooseModel(options: OnboardOptions): Promise<SetUp | undefined> {
  const { given = {}, dialogue, fetch, env, test } = options;
  const offers = given.offer === undefined ? await listOffers(options) : [given.offer];
  if (dialogue !== undefined) return await setUpModel(dialogue, offers, options, given);

  const offer = given.offer ?? offers.find(({ found }) => found !== undefined);
  if (offer === undefined) {
    if (given.id === undefined && given.key === undefined) return undefined;
    throw new ServiceError("usage", "Name the provider too: --provider NAME", {
      param: "--provider",
    });
  }
  const { keyVariable } = offer;
  const key = given.key ?? (keyVariable === undefined ? "" : env(keyVariable)?.trim() ?? "");
  if (key === "" && offer.keyPage !== undefined) {
    throw new ServiceError(
      "usage",
      `${offer.label} needs a key: set ${keyVariable}, or add --key-env VARIABLE or --key-stdin`,
      { param: "--key-env" },
    );
  }
  const wrong = key === "" ? undefined : keyProblem(key);
  if (wrong !== undefined) throw new ServiceError("usage", wrong, { param: "--key-env" });
  const id = given.id ?? await firstModel({ offer, key }, fetch);
  const setUp: SetUp = { offer, key, id };
  if (!test) return setUp;
  const trial = await tryOut(setUp, fetch);
  if (trial.ok) return { ...setUp, trial };
  throw new ModelTestError(wayOut(setUp, trial));
}

/** The model to begin with where nobody names one. */
async function firstModel(
  { offer, key }: Pick<SetUp, "offer" | "key">,
  fetch: typeof globalThis.fetch,
): Promise<string> {
  if (offer.usualModel !== undefined) return offer.usualModel;
  const listed = await modelsOf({ offer, key }, fetch);
  if ("failed" in listed) throw new ModelTestError(wayOut({ offer, id: "" }, listed.failed));
  const first = listed.models?.[0];
  if (first !== undefined) return first;
  throw new ServiceError("usage", `${offer.label} lists no models; add --model ID`, {
    param: "--model",
  });
}

async function askWorkspace(
  dialogue: Dialogue,
  value: unknown,
  { paths, env }: OnboardOptions,
  pending: Secret | undefined,
): Promise<string> {
  return await dialogue.ask("Folder that the agent works in", {
    fallback: paths.workspace,
    refuse: (text) => {
      const tried = withValue(value, ["agent", "workspace"], text);
      const [problem] = examine({ text: JSON.stringify(tried), paths, env, pending }).problems;
      return problem && formatProblem({ ...problem, line: undefined });
    },
  });
}

/** One key that differs, as people are shown it. */
interface Difference {
  path: string[];
  line: string;
}

/** Shows what changes in a file that is there. Throws DialogueEndedError for a no. */
async function showChanges(
  changes: readonly Difference[],
  { paths, out, dialogue }: OnboardOptions,
  { asks }: { asks: boolean },
): Promise<void> {
  if (changes.length === 0) return;
  out.note(`Changes to ${paths.configFile}:`);
  for (const { line } of changes) out.note(`  ${line}`);
  if (!asks || dialogue === undefined) return;
  if (!await dialogue.confirm("Write them?")) throw new DialogueEndedError();
}

/** Every key that differs, removed ones too; secrets that stand in a file are not shown. */
function differences(old: unknown, next: unknown): Difference[] {
  const paths = new Map([...leaves(old, []), ...leaves(next, [])]
    .map((path) => [JSON.stringify(path), path]));
  return [...paths.values()].flatMap((path) => {
    const [from, to] = [valueAt(old, path), valueAt(next, path)];
    if (sameJson(from, to)) return [];
    const key = formatPath(path);
    const line = from === undefined
      ? `+ ${key}: ${shown(to, path)}`
      : to === undefined
      ? `- ${key}: ${shown(from, path)}`
      : `~ ${key}: ${shown(from, path)} -> ${shown(to, path)}`;
    return [{ path, line }];
  });
}

function shown(value: unknown, path: KeyPath): string {
  const isSecret = nodeAt(configSchema, path)?.meta.secret ?? path[0] === "channels";
  if (isSecret && typeof value === "string" && value !== "" && !isReference(value)) return HIDDEN;
  return JSON.stringify(value);
}

/** The keys; of a channel's section that is new, the section. */
function shortened(changes: readonly Difference[], { canonical }: Examined): string[] {
  return [
    ...new Set(changes.map(({ path }) => {
      const section = path.slice(0, 2);
      const isNew = path[0] === "channels" && valueAt(canonical, section) === undefined;
      return formatPath(isNew ? section : path);
    })),
  ];
}

function leaves(value: unknown, path: string[]): string[][] {
  return isObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]))
    : [path];
}
