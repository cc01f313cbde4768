/**
 * `service config check`.
 *
 * @module
 */

import { channelProblems } from "../../lib/registry/channel_problems.ts";
import { type Change, classifyChanges } from "../../lib/settings/changes.ts";
import { readConfigText } from "../../lib/config/config_file.ts";
import { examine, type Examined } from "../../lib/settings/examine.ts";
import { formatPath } from "../../lib/base/key_path.ts";
import { readConfig } from "../../lib/settings/load.ts";
import { describeFailure, runPinnedCases } from "../../lib/settings/pinned_cases.ts";
import { formatProblem, type Problem, type Warning } from "../../lib/config/problem.ts";
import { toErrorData } from "../../lib/base/errors.ts";
import { EXIT, type ExitCode } from "../command.ts";
import type { Output } from "../output.ts";
import type { ConfigDeps } from "./deps.ts";

/** In words for people. */
const TAKES: Readonly<Record<Change["takes"], string>> = {
  live: "works from the next turn on",
  restart: "takes a restart",
};

/**
 * Prints every problem and warning, and what each change against the last configuration that loaded
 * takes. Returns the exit code for a bad configuration if there is a problem.
 */
export async function check(out: Output, deps: ConfigDeps, json: boolean): Promise<ExitCode> {
  const { file, text } = await readConfig(deps);
  const examined = examine({ ...deps, text });
  const problems = [...examined.problems, ...await brokenCases(examined, deps)];
  const warnings = [...examined.warnings, ...await channelWarnings(examined, deps)];
  const changes = await changesSinceLastGood(examined, deps);
  const ok = problems.length === 0;
  if (json) {
    const plain = (found: Problem | Warning) => ({ ...found, path: formatPath(found.path) });
    out.json({
      ok,
      file,
      exists: text !== undefined,
      problems: problems.map(plain),
      warnings: warnings.map(plain),
      changes,
    });
    return ok ? EXIT.done : EXIT.config;
  }
  for (const each of problems) {
    out.line({ text: "problem", style: "red" }, `  ${formatProblem(each)}`);
  }
  for (const each of warnings) {
    out.line({ text: "warning", style: "yellow" }, `  ${formatProblem(each)}`);
  }
  for (const { path, takes } of changes) {
    out.line({ text: "changed", style: "dim" }, `  ${path}: ${TAKES[takes]}`);
  }
  const what = text === undefined ? `There is no ${file}; the defaults hold` : file;
  out.line(`${what}: ${count(problems.length, "problem")}, ${count(warnings.length, "warning")}`);
  return ok ? EXIT.done : EXIT.config;
}

/** What keeps a channel from starting keeps nothing else from it. */
async function channelWarnings(
  { config, problems }: Examined,
  { channels, paths: { dataDir } }: ConfigDeps,
): Promise<Warning[]> {
  if (config === undefined || problems.length > 0) return [];
  return channelProblems({ registry: await channels(), config, dataDir }).map((message) => ({
    path: [],
    kind: "conflict",
    message,
  }));
}

/** What the cases of `policy.test.json` say; they can be run only on a configuration that is whole. */
async function brokenCases(
  { config, problems }: Examined,
  { paths }: ConfigDeps,
): Promise<Problem[]> {
  if (config === undefined || problems.length > 0) return [];
  try {
    const run = await runPinnedCases({ config, paths });
    return (run?.results ?? []).filter(({ passed }) => !passed).map((each) => ({
      path: ["gates", "rules"],
      kind: "conflict",
      message: `${run!.file}: ${describeFailure(each)}`,
    }));
  } catch (error) {
    return [{ path: [], kind: "conflict", message: toErrorData(error).message }];
  }
}

/** Changes can be told only between two configurations that are whole. */
async function changesSinceLastGood(next: Examined, deps: ConfigDeps): Promise<Change[]> {
  const text = await readConfigText(deps.paths.lastGoodFile).catch(() => undefined);
  if (text === undefined || next.config === undefined || next.problems.length > 0) return [];
  const last = examine({ ...deps, text });
  return last.config === undefined || last.problems.length > 0
    ? []
    : classifyChanges(last.config, next.config);
}

function count(number: number, what: string): string {
  return `${number === 0 ? "no" : number} ${what}${number === 1 ? "" : "s"}`;
}
