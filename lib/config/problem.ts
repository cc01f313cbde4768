/**
 * What can be wrong with a configuration, in words for people.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { formatPath, type KeyPath } from "../base/key_path.ts";

/** Something for which a configuration refuses to load. */
export interface Problem {
  /** Where; empty for the whole file. */
  path: KeyPath;
  /** What is there and what was wanted. Holds no secret. */
  message: string;
  kind: "syntax" | "spelling" | "unknown_key" | "reference" | "value" | "conflict";
  /** Line in the file, from 1. */
  line?: number;
}

/** Something that works, but is hardly meant. */
export interface Warning {
  path: KeyPath;
  message: string;
  kind: "unknown_key" | "old_name" | "environment" | "conflict";
  line?: number;
}

/** One line: `api.port (line 3): 70000 is not an integer from 0 to 65535`. */
export function formatProblem({ path, message, line }: Problem | Warning): string {
  const where = formatPath(path);
  const at = line === undefined ? "" : where === "" ? `line ${line}` : ` (line ${line})`;
  return where + at === "" ? message : `${where}${at}: ${message}`;
}

/**
 * The error for an `action`, such as `Cannot load config.json`, that has problems in its way; names
 * every one, the first as `param`.
 */
export function configError(
  action: string,
  problems: readonly Problem[],
  hint?: string,
): ServiceError {
  const lines = problems.map(formatProblem);
  const first = problems[0];
  const list = lines.length === 1
    ? `${action}: ${lines[0]}`
    : [`${action}: ${lines.length} problems`, ...lines].join("\n  ");
  return new ServiceError(
    "config_invalid",
    `${list}${hint === undefined ? "" : `\n  ${hint}`}`,
    first === undefined || first.path.length === 0 ? {} : { param: formatPath(first.path) },
  );
}
