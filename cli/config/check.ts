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
import { judgeConfig } from "../../lib/settings/load.ts";
import { listenProblems } from "./listen_problems.ts";
import { formatProblem, type Problem, type Warning } from "../../lib/config/problem.ts";
import { EXIT, type ExitCode } from "../command.ts";
import type { Output } from "../output.ts";
import type { ConfigDeps } from "./deps.ts";

/** In words for people. */
const TAKES: Readonly<Record<Change["takes"], string>> = {
  live: "applies from the next turn",
  restart: "needs a restart",
};

/**
 * Prints every problem for which a start of the gateway would refuse the configuration, every warning, and what each change against the last configuration that loaded
 * takes. Returns the exit code for a bad configuration if there is a problem.
 */
export async function check(out: Output, deps: ConfigDeps, json: boolean): Promise<ExitCode> {
  const { file, text, examined, ...judged } = await judgeConfig({
    ...deps,
    forStart: { gateway: true },
  });
  const { config } = examined;
  const problems = config === undefined || judged.problems.length > 0
    ? judged.problems
    : await listenProblems(config);
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
  const what = text === undefined ? `${file} doesn't exist; using the defaults` : file;
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
