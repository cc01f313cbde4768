/**
 * From the text of a configuration to the configuration, with everything that is wrong with it.
 *
 * @module
 */

import type { Secret } from "../contract/secrets.ts";
import { readSecrets } from "../state/operator_state.ts";
import { SECRETS_KEY_VARIABLE } from "../state/secret_key.ts";
import { canonicalize } from "../config/canonicalize.ts";
import { channelSectionProblems } from "../config/channel_sections.ts";
import { crossCheck } from "./cross_checks.ts";
import {
  type EnvironmentProvider,
  withEnvironmentProviders,
} from "../config/environment_providers.ts";
import {
  type JsonNode,
  JsonSyntaxError,
  membersOf,
  parseJsonc,
  positionOf,
  toValue,
} from "../config/jsonc.ts";
import type { KeyPath } from "../base/key_path.ts";
import { migrate, type Migration, MIGRATIONS } from "../config/migrations.ts";
import type { HomePaths } from "../config/paths.ts";
import type { Problem, Warning } from "../config/problem.ts";
import { type Env, resolveReferences, type RevealSecret } from "../config/references.ts";
import { type Config, configSchema } from "../config/schema.ts";
import { hideSecrets } from "../config/hide_secrets.ts";
import { checkSecretScopes } from "./secret_scopes.ts";
import { toSnake } from "../base/spelling.ts";
import { validate } from "../config/validate.ts";

/** What {@linkcode examine} takes. */
export interface ExamineInputs {
  /** Text of the file; undefined where there is none. */
  text: string | undefined;
  paths: HomePaths;
  env: Env;
  migrations?: readonly Migration[];
  /** A secret that is about to be kept: it counts as if it were. */
  pending?: Secret;
}

/** A configuration and what is wrong with it. */
export interface Examined {
  /**
   * References replaced, defaults filled in, paths absolute, providers of the environment
   * among the others. With problems, wrong values are replaced by defaults; undefined if nothing can
   * be made of the file.
   */
  config?: Config;
  /** The value as it stands in the file. */
  raw: unknown;
  /** The same in the newest version and in camelCase, references unresolved: what a save writes. */
  canonical: unknown;
  /** Every problem, as they stand in the file. Without one the configuration may be used. */
  problems: Problem[];
  warnings: Warning[];
  /** Which key refers to which secret, also to one that is not there. */
  secretReferences: { path: KeyPath; name: string }[];
  environmentProviders: EnvironmentProvider[];
}

/**
 * Reads a configuration to its end, whatever is wrong. Touches no file but to resolve links, and those
 * of the secrets that it names.
 */
export function examine(inputs: ExamineInputs): Examined {
  const { text = "{}", paths, env, migrations = MIGRATIONS } = inputs;
  const reveal = revealFromHome(inputs);
  let tree: JsonNode;
  try {
    tree = parseJsonc(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return broken(error.message, error.position);
  }
  if (tree.type !== "object") return broken("the file does not hold an object in braces");

  const raw = toValue(tree);
  const migrated = migrate(raw, migrations);
  const canonical = canonicalize(migrated.value, configSchema);
  const resolved = resolveReferences(canonical.value, configSchema, { env, reveal });
  const validated = validate(resolved.value, canonical.value, configSchema);
  // A reference that cannot be replaced has been named; what stands there instead is no value.
  const unresolved = resolved.problems.map(({ path }) => path);
  const problems = [
    ...canonical.problems,
    ...resolved.problems,
    ...[...validated.problems, ...channelSectionProblems(resolved.value, canonical.value)]
      .filter((each) => !contains(unresolved, each.path)),
  ];
  const withEnv = validated.value && withEnvironmentProviders(validated.value, env);
  const checked = withEnv && crossCheck(withEnv.config, paths, problems.map(({ path }) => path));

  const conflicts = checked === undefined ? [] : [
    ...hideSecrets(checked.problems, resolved.secrets),
    ...checkSecretScopes(checked.config, resolved.secrets),
  ];
  const inOrder = <T extends Problem | Warning>(found: T[]): T[] =>
    found.map((each) => ({ each, offset: offsetOf(tree, each.path) ?? Infinity }))
      .sort((a, b) => a.offset < b.offset ? -1 : a.offset > b.offset ? 1 : 0)
      .map(({ each, offset }) =>
        offset === Infinity ? each : { ...each, line: positionOf(text, offset).line }
      );
  return {
    config: checked?.config,
    raw,
    canonical: canonical.value,
    problems: inOrder([...problems, ...conflicts]),
    warnings: inOrder([
      ...migrated.warnings,
      ...canonical.warnings,
      ...withEnv?.warnings ?? [],
      ...checked?.warnings ?? [],
    ]),
    secretReferences: resolved.secretNames,
    environmentProviders: withEnv?.environmentProviders ?? [],
  };
}

/** The files are opened with the first reference that there is. */
function revealFromHome({ paths, env, pending }: ExamineInputs): RevealSecret {
  let secrets: ReturnType<typeof readSecrets> | undefined;
  return (name) => {
    if (name === pending?.name) return pending;
    secrets ??= readSecrets({
      dir: paths.operatorDir,
      keysDir: paths.keysDir,
      secretsKey: env(SECRETS_KEY_VARIABLE),
    });
    return secrets.reveal(name);
  };
}

function broken(message: string, position?: { line: number; column: number }): Examined {
  const problem: Problem = {
    path: [],
    kind: "syntax",
    message: position === undefined ? message : `column ${position.column}: ${message}`,
    line: position?.line,
  };
  return {
    raw: undefined,
    canonical: undefined,
    problems: [problem],
    warnings: [],
    secretReferences: [],
    environmentProviders: [],
  };
}

function contains(paths: readonly KeyPath[], path: KeyPath): boolean {
  return paths.some((each) =>
    each.length === path.length && each.every((key, at) => key === path[at])
  );
}

/** Where the key of a path stands, in either spelling; undefined for a key that is not there. */
function offsetOf(tree: JsonNode, path: KeyPath): number | undefined {
  let node = tree;
  let offset: number | undefined;
  for (const key of path) {
    if (node.type === "object") {
      const members = membersOf(node);
      const member = members.find((each) => each.key.value === key) ??
        members.find((each) => each.key.value === toSnake(String(key)));
      if (member === undefined) return undefined;
      [node, offset] = [member.value, member.key.offset];
    } else if (node.type === "array" && node.children![Number(key)] !== undefined) {
      node = node.children![Number(key)]!;
      offset = node.offset;
    } else return undefined;
  }
  return offset;
}
