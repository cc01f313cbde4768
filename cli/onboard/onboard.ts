/**
 * Writes a first configuration and makes the workspace.
 *
 * @module
 */

import { writeFileAtomic } from "../../lib/base/atomic_write.ts";
import { readConfigText } from "../../lib/config/config_file.ts";
import { withValue } from "../../lib/config/edit.ts";
import { examine, type Examined } from "../../lib/settings/examine.ts";
import { formatPath, isObject, valueAt } from "../../lib/base/key_path.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { configError, formatProblem } from "../../lib/config/problem.ts";
import type { Env } from "../../lib/config/references.ts";
import { sameJson } from "../../lib/config/rewrite.ts";
import { configText, saveConfig } from "../../lib/config/save.ts";
import { addChannels, type ChannelDefaults } from "./add_channels.ts";
import { type Choice, chooseModel, firstChoice } from "./choose_model.ts";
import type { Dialogue } from "./dialogue.ts";
import { makeWorkspace } from "./make_workspace.ts";
import { findOffers } from "./offers.ts";

/** What {@linkcode onboard} takes. */
export interface OnboardOptions {
  paths: HomePaths;
  env: Env;
  fetch: typeof fetch;
  /** Sections of channels with every default. */
  channels: ChannelDefaults;
  /** Replace a configuration that is there. */
  force: boolean;
  /** Asks; without one the first offer is taken. */
  dialogue?: Dialogue;
}

/** What was done. */
export interface Onboarded {
  configFile: string;
  /** `kept`: the file had everything; `added`: it lacked something. */
  outcome: "written" | "replaced" | "added" | "kept";
  /** Keys that were added. */
  added: string[];
  /** Copy of the configuration that was replaced. */
  backupFile?: string;
  /** `agent.model` as it is now; empty where a start chooses. */
  model: string;
  /** Whether a provider is there to answer. */
  hasProvider: boolean;
  workspace: string;
  workspaceIsNew: boolean;
}

/**
 * Throws `config_invalid` for an existing file with problems that is to be kept, and
 * DialogueEndedError when the person leaves; then nothing was written.
 */
export async function onboard(options: OnboardOptions): Promise<Onboarded> {
  const { paths, env, dialogue } = options;
  const { configFile } = paths;
  const before = await readConfigText(configFile);
  const old = before === undefined ? undefined : examine({ text: before, paths, env });
  const replace = old !== undefined && await wantsReplacing(old, options);
  if (old !== undefined && !replace && old.problems.length > 0) {
    throw configError(`Cannot add to ${configFile}`, old.problems);
  }

  const base = old === undefined || replace ? {} : old.canonical;
  const value = await fill(base, old !== undefined && !replace ? old : undefined, options);
  const text = configText(replace ? undefined : before, value);
  const next = examine({ text, paths, env });
  if (next.problems.length > 0) throw configError(`Cannot write ${configFile}`, next.problems);

  await Deno.mkdir(paths.home, { recursive: true, mode: 0o700 });
  const backupFile = replace ? `${configFile}.bak` : undefined;
  if (backupFile !== undefined) await writeFileAtomic(backupFile, before!, { mode: 0o600 });
  await saveConfig({ paths, before, value, anew: replace });
  const { agent, providers } = next.config!;
  const added = before === undefined || replace ? [] : difference(old!, next);
  dialogue?.say("");
  return {
    configFile,
    outcome: before === undefined
      ? "written"
      : replace
      ? "replaced"
      : added.length > 0
      ? "added"
      : "kept",
    added,
    backupFile,
    model: agent.model,
    hasProvider: Object.keys(providers).length > 0,
    workspace: agent.workspace,
    workspaceIsNew: await makeWorkspace(agent.workspace),
  };
}

/** Says what is wrong with the old file before it asks. */
async function wantsReplacing(
  old: Examined,
  { paths, force, dialogue }: OnboardOptions,
): Promise<boolean> {
  if (force || dialogue === undefined) return force;
  dialogue.say(`There is a configuration already: ${paths.configFile}`);
  for (const problem of old.problems) dialogue.say(`  problem  ${formatProblem(problem)}`);
  return await dialogue.confirm("Replace it? (No keeps it and adds what it lacks; a copy is kept)");
}

/**
 * Puts in what is not there: a model with its provider, a workspace of the person's choice, and what can
 * be set of channels.
 */
async function fill(
  base: unknown,
  kept: Examined | undefined,
  options: OnboardOptions,
): Promise<Record<string, unknown>> {
  const { paths, env, dialogue } = options;
  let value = base;
  const config = kept?.config;
  const hasModel = config !== undefined &&
    (config.agent.model !== "" || config.agent.preset !== "" ||
      // What the environment names is no part of the file yet.
      Object.keys(config.providers).length > kept!.environmentProviders.length);
  if (!hasModel) {
    const choice = await choose(options);
    if (choice !== undefined || kept === undefined) {
      value = withValue(value, ["agent", "model"], choice?.model ?? "");
    }
    for (const [key, text] of Object.entries(choice?.section ?? {})) {
      const path = ["providers", choice!.provider, key];
      if (valueAt(value, path) === undefined) value = withValue(value, path, text);
    }
  }
  if (kept === undefined && dialogue !== undefined) {
    const answer = await dialogue.ask("Folder that the agent works in", {
      fallback: paths.workspace,
      refuse: (text) => {
        const tried = withValue(value, ["agent", "workspace"], text);
        const [problem] = examine({ text: JSON.stringify(tried), paths, env }).problems;
        return problem && formatProblem({ ...problem, line: undefined });
      },
    });
    if (answer !== paths.workspace) value = withValue(value, ["agent", "workspace"], answer);
  }
  return addChannels(value, options.channels) as Record<string, unknown>;
}

async function choose(
  { env, fetch, dialogue }: OnboardOptions,
): Promise<Choice | undefined> {
  const offers = await findOffers({ env, fetch });
  return dialogue === undefined
    ? firstChoice(offers)
    : await chooseModel(dialogue, offers, { env, fetch });
}

/** Keys that the file has now and had not before; of a channel's section that is new, the section. */
function difference(old: Examined, next: Examined): string[] {
  const changed = leaves(next.canonical, [])
    .filter((path) => !sameJson(valueAt(old.canonical, path), valueAt(next.canonical, path)))
    .map((path) => {
      const section = path.slice(0, 2);
      const isNew = path[0] === "channels" && valueAt(old.canonical, section) === undefined;
      return formatPath(isNew ? section : path);
    });
  return [...new Set(changed)];
}

function leaves(value: unknown, path: string[]): string[][] {
  return isObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]))
    : [path];
}
