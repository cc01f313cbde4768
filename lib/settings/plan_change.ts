/**
 * From the text of the configuration and what is to be changed to the text that would come of it, or
 * why not. Writes nothing.
 *
 * @module
 */

import { unknownKey } from "../config/canonicalize.ts";
import { changedKeys } from "../config/changed_keys.ts";
import { withValue } from "../config/edit.ts";
import { examine } from "./examine.ts";
import { misdirectedSecrets } from "../config/kept_secrets.ts";
import {
  formatPath,
  isObject,
  isWithin,
  type KeyPath,
  parsePath,
  valueAt,
} from "../base/key_path.ts";
import type { HomePaths } from "../config/paths.ts";
import { formatProblem, type Problem, type Warning } from "../config/problem.ts";
import { HIDDEN } from "../config/redact.ts";
import { type Env, referencesIn } from "../config/references.ts";
import { configText } from "../config/save.ts";
import { type Config, configSchema } from "../config/schema.ts";
import {
  canonicalPath,
  childNode,
  isForeign,
  keysOf,
  nodeAt,
  type SchemaNode,
} from "../config/schema_tree.ts";
import { withoutCredentials } from "../base/without_credentials.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import { checkModelName, chooseModel } from "../model/choose_model.ts";
import type { SecretStore } from "../state/secret_store.ts";
import { isEditable } from "./editable_keys.ts";
import type { SettingChange } from "./setting_change.ts";

/** A change that may be made. */
export interface PlannedChange {
  /** Keys that get another value, as they are written. */
  keys: KeyPath[];
  value: Record<string, unknown>;
  text: string;
  next: Config;
}

/** What a change is held against. */
export interface PlanInputs {
  /** The file's text; undefined where there is none. */
  before: string | undefined;
  changes: readonly SettingChange[];
  paths: HomePaths;
  env: Env;
  /** Of the home. */
  secrets: Pick<SecretStore, "list">;
}

/**
 * The change as a whole. Throws `refused` for a key that is for the command line alone, and
 * `invalid_request`, naming the key, for everything else; never repeats a secret.
 */
export function planChange(inputs: PlanInputs): PlannedChange {
  const { before, paths, env, secrets } = inputs;
  const old = examine({ text: before, paths, env });
  // Of a file that does not load nobody can say what a change of it would widen.
  if (old.problems.length > 0 || old.config === undefined) {
    throw problems(`Cannot change ${paths.configFile}, which is broken`, old.problems);
  }

  const asked = inputs.changes.map(({ path, value }) => ({ path: readPath(path), value }));
  refuseOverlap(asked.map(({ path }) => path));
  let value: unknown = old.canonical;
  for (const { path, value: wanted } of asked) value = edited(value, path, wanted);
  if (!isObject(value)) throw new TypeError("The configuration has to be an object");
  const keys = changedKeys(old.canonical, value);
  const text = configText(before, value);
  if (keys.length === 0) return { keys, value, text, next: old.config };

  for (const path of keys) refuseKey(path, valueAt(value, path), secrets);
  const next = examine({ text, paths, env });
  const misspelt = next.warnings.filter(({ kind, path }) =>
    kind === "unknown_key" && keys.some((key) => isWithin(path, key) || isWithin(key, path))
  );
  const inTheWay = [...next.problems, ...misspelt];
  if (inTheWay.length > 0 || next.config === undefined) {
    throw problems("Cannot change the settings", inTheWay);
  }
  checkNext(old.config, next.config);
  return { keys, value, text, next: next.config };
}

function readPath(typed: string): KeyPath {
  const parsed = parsePath(typed);
  if (parsed === undefined) {
    throw invalid(typed, `${JSON.stringify(typed)} is no key; one is agent.maxSteps`);
  }
  const path = canonicalPath(configSchema, parsed);
  for (let length = 1; length <= path.length; length++) {
    const here = path.slice(0, length);
    if (nodeAt(configSchema, here) !== undefined) continue;
    const around = nodeAt(configSchema, here.slice(0, -1))!;
    // Part of a section that somebody else checks: it is refused as such.
    if (isForeign(around, {})) break;
    throw invalid(typed, `${formatPath(here)} ${unknownKey(here, keysOf(around) ?? [])}`);
  }
  return path;
}

/** Which of two changes of one key is meant cannot be known. */
function refuseOverlap(paths: readonly KeyPath[]): void {
  for (const [at, path] of paths.entries()) {
    const other = paths.findIndex((each) => isWithin(path, each) || isWithin(each, path));
    if (other !== at) {
      const both = `${formatPath(paths[other]!)} and ${formatPath(path)}`;
      throw invalid(formatPath(path), `${both} are changes of the same key`);
    }
  }
}

function edited(root: unknown, path: KeyPath, wanted: unknown): unknown {
  const node = nodeAt(configSchema, path);
  try {
    return withValue(root, path, kept(wanted, valueAt(root, path), node));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw invalid(formatPath(path), `Cannot set ${formatPath(path)}: ${error.message}`);
  }
}

/** What is to stand there: without what is null, and with the secrets that were sent blank. */
function kept(wanted: unknown, stored: unknown, node: SchemaNode | undefined): unknown {
  if (wanted === null) return node?.nullable ? null : undefined;
  if (node?.meta.secret && (wanted === "" || wanted === HIDDEN)) return stored;
  // As it was shown, without what stands in it for nobody to see.
  if (typeof stored === "string" && wanted === withoutCredentials(stored)) return stored;
  if (!isObject(wanted)) return wanted;
  const within = isObject(stored) ? stored : {};
  return Object.fromEntries(
    Object.entries(wanted).map(([key, value]) => {
      const inner = Object.hasOwn(within, key) ? within[key] : undefined;
      return [key, kept(value, inner, node && childNode(node, key))] as const;
    }).filter(([, value]) => value !== undefined),
  );
}

function refuseKey(path: KeyPath, value: unknown, secrets: PlanInputs["secrets"]): void {
  const name = formatPath(path);
  const instead = `change it at the command line: service config set ${name}`;
  if (!isEditable(path)) {
    throw refused(
      name,
      `${name} has a part in what is allowed, who comes in or what is reached; ${instead}`,
    );
  }
  const references = textsOf(value).flatMap(referencesIn);
  if (references.length === 0) return;
  const isSecret = nodeAt(configSchema, path)?.meta.secret === true;
  // A secret that is for hosts goes nowhere else, which the check of the whole sees to. A variable, or
  // a secret without hosts, would be sent to whatever address is set.
  const bound = new Set(
    secrets.list().filter(({ hosts }) => hosts.length > 0).map((secret) => secret.name),
  );
  if (isSecret && references.every(({ secret }) => secret !== undefined && bound.has(secret))) {
    return;
  }
  throw refused(
    name,
    `${name} takes no reference from here, but \${secret:NAME} where a secret belongs and NAME is ` +
      `for certain hosts; ${instead}`,
  );
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** What a start would not survive, and what would take a key elsewhere. */
function checkNext(old: Config, next: Config): void {
  const [elsewhere] = misdirectedSecrets(old, next, configSchema);
  if (elsewhere !== undefined) {
    const name = formatPath(elsewhere);
    throw refused(
      name,
      `${name} would take a secret that is stored to another place; give the secret anew with it, ` +
        `or change it at the command line: service config set ${name} …`,
    );
  }
  try {
    chooseModel(next);
    for (const [at, name] of next.agent.fallbacks.entries()) {
      checkModelName(next, name, `agent.fallbacks[${at}]`);
    }
  } catch (error) {
    const { message, param = "agent.model" } = toErrorData(error);
    throw invalid(param, message);
  }
}

function problems(action: string, found: readonly (Problem | Warning)[]): ServiceError {
  const lines = found.map((each) => formatProblem(each));
  const [first] = found;
  const param = first === undefined ? "changes" : formatPath(first.path) || "changes";
  return invalid(param, `${action}: ${lines.join("; ")}. Nothing was written`);
}

function invalid(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { param });
}

function refused(param: string, message: string): ServiceError {
  return new ServiceError("refused", message, { param });
}
