/**
 * From the text of the configuration and a change of one section, mostly a channel's, to the text that would come of
 * it, or why not. Writes nothing.
 *
 * @module
 */

import type { Section } from "../../channel/management.ts";
import { changedKeys } from "../../config/changed_keys.ts";
import { withValue } from "../../config/edit.ts";
import { examine, type Examined } from "../../settings/examine.ts";
import { formatPath, isObject, type KeyPath, valueAt } from "../../base/key_path.ts";
import { misdirectedSecrets } from "../../config/kept_secrets.ts";
import type { HomePaths } from "../../config/paths.ts";
import { configError, type Problem } from "../../config/problem.ts";
import type { Env } from "../../config/references.ts";
import { configText } from "../../config/save.ts";
import { configSchema } from "../../config/schema.ts";
import { ServiceError } from "../../base/errors.ts";
import type { PlannedChange } from "../../settings/plan_change.ts";

/** A section, as the file has it and with its references replaced. */
export interface ReadSections {
  written: Section;
  resolved: Section;
}

/** A change that may be made, as far as the configuration goes by itself. */
export interface PlannedSection extends PlannedChange {
  before: ReadSections;
  after: ReadSections;
}

/** What is to be changed. */
export interface PlanSectionInputs {
  /** The file's text; undefined where there is none. */
  text: string | undefined;
  /** Where the section stands, such as `channels.email`. */
  path: KeyPath;
  /** From the section as the file has it to the one that it is to have. */
  edit: (written: Section) => Section;
  paths: HomePaths;
  env: Env;
  /** Whether a problem is in nobody's way here. */
  tolerates?: (problem: Problem) => boolean;
}

/**
 * The change as a whole. Throws `config_invalid` for a file that is broken, and for one that would be, and
 * what `edit` throws; never repeats a secret.
 */
export function planSection(inputs: PlanSectionInputs): PlannedSection {
  const { text: before, path, edit, paths, env, tolerates = () => false } = inputs;
  const old = examine({ text: before, paths, env });
  // Of a file that does not load nobody can say what a change of it would do.
  requireSound(old, `Cannot change ${paths.configFile}, which is broken`, tolerates);
  const { written } = sectionsAt(old, path);
  const key = formatPath(path);
  const found = valueAt(old.canonical, path);
  if (found !== undefined && !isObject(found)) {
    throw new ServiceError(
      "config_invalid",
      `Cannot change ${key}, which is no section: expected an object in braces`,
      { param: key },
    );
  }
  const edited = edit(written);
  const value = withValue(old.canonical, path, edited);
  if (!isObject(value)) throw new TypeError("The configuration has to be an object");
  const keys = changedKeys(old.canonical, value);
  const text = configText(before, value);
  const next = keys.length === 0 ? old : examine({ text, paths, env });
  requireSound(next, `Cannot change ${key}`, tolerates);
  refuseMisdirected(old, next);
  return {
    keys,
    value,
    text,
    next: next.config!,
    before: sectionsAt(old, path),
    after: sectionsAt(next, path),
  };
}

/** The section of a channel; empty where there is none. */
export function sectionsIn(examined: Examined, name: string): ReadSections {
  return sectionsAt(examined, ["channels", name]);
}

function sectionsAt({ config, canonical }: Examined, path: KeyPath): ReadSections {
  const of = (root: unknown): Section => {
    const section = valueAt(root, path);
    return isObject(section) ? section : {};
  };
  return { written: of(canonical), resolved: of(config) };
}

function requireSound(
  { config, problems }: Examined,
  action: string,
  tolerates: (problem: Problem) => boolean,
): void {
  const inTheWay = problems.filter((problem) => !tolerates(problem));
  if (inTheWay.length > 0 || config === undefined) {
    throw configError(action, config === undefined ? problems : inTheWay, "Nothing was written");
  }
}

/** Of sections that the schema knows; for those of packages see `movedSecret`. */
function refuseMisdirected(old: Examined, next: Examined): void {
  const [elsewhere] = misdirectedSecrets(old.config, next.config, configSchema);
  if (elsewhere === undefined) return;
  const key = formatPath(elsewhere);
  throw new ServiceError(
    "refused",
    `${key} would take a secret that is stored to another place; give the secret anew with it`,
    { param: key },
  );
}
