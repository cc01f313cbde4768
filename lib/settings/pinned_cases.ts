/**
 * Holds a configuration against the cases that pin its policy down, `policy.test.json` beside the
 * configuration file. One that breaks a case does not load.
 *
 * @module
 */

import type { CaseResult } from "../gate/policy_cases.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import { readConfigText } from "../config/config_file.ts";
import { type HomePaths, policyTestFile } from "../config/paths.ts";
import type { Config } from "../config/schema.ts";

/** What the check is made of. */
export interface PinnedInputs {
  /** With `agent.workspace` as an absolute path. */
  config: Config;
  paths: HomePaths;
  /** Instead of the file beside the configuration. */
  file?: string;
}

/**
 * Runs the cases; undefined where there is no file of them. Makes the workspace if it is not there yet,
 * since targets are resolved in it. Throws `config_invalid` for a file that holds no cases.
 */
export async function runPinnedCases(
  { config, paths, file = policyTestFile(paths) }: PinnedInputs,
): Promise<{ file: string; results: CaseResult[] } | undefined> {
  const text = await readConfigText(file);
  if (text === undefined) return undefined;
  const [{ parsePolicyCases, runPolicyCases }, { policySettings }, { createTools }] = await Promise
    .all([
      import("../gate/policy_cases.ts"),
      import("../policy/policy_settings.ts"),
      import("../tools/mod.ts"),
    ]);
  const parsed = parsePolicyCases(text);
  if ("problem" in parsed) {
    throw new ServiceError("config_invalid", `Cannot use ${file}: ${parsed.problem}`);
  }
  const { workspace: path } = config.agent;
  const real = await realWorkspace(path);
  const settings = await policySettings({
    gates: config.gates,
    commandHosts: config.executor.hosts,
    mcp: config.mcp,
    tools: config.tools,
    paths,
    workspace: real,
    confined: true,
    exec: { mode: "sandboxed" },
  });
  const results = await runPolicyCases(parsed.cases, {
    settings,
    workspace: { path, real },
    tools: createTools(config.tools),
    mcpServers: Object.keys(config.mcp.servers),
  });
  return { file, results };
}

/** One line: `case 3 "no uploads": expected deny, got allow (rule team.pages: …)`. */
export function describeFailure({ index, name, expected, got, rule, reason }: CaseResult): string {
  const outcome = got === undefined ? `nothing (${reason})` : `${got} (rule ${rule}: ${reason})`;
  return `case ${index + 1} ${JSON.stringify(name)}: expected ${expected}, got ${outcome}`;
}

/** Failed cases that an error names. */
const MAX_NAMED = 20;

/** Throws `config_invalid`, naming the cases that a configuration breaks. `action` as in `Cannot load x`. */
export async function requirePinnedCases(action: string, inputs: PinnedInputs): Promise<void> {
  const run = await runPinnedCases(inputs);
  const broken = run?.results.filter(({ passed }) => !passed) ?? [];
  if (run === undefined || broken.length === 0) return;
  const lines = broken.slice(0, MAX_NAMED).map(describeFailure);
  if (broken.length > MAX_NAMED) lines.push(`and ${broken.length - MAX_NAMED} more`);
  throw new ServiceError(
    "config_invalid",
    [`${action}: its policy breaks ${broken.length} of the cases in ${run.file}`, ...lines]
      .join("\n  "),
    { param: "gates.rules" },
  );
}

async function realWorkspace(path: string): Promise<string> {
  try {
    await Deno.mkdir(path, { recursive: true });
    return await Deno.realPath(path);
  } catch (cause) {
    throw new ServiceError(
      "config_invalid",
      `agent.workspace: cannot make the folder "${path}": ${toErrorData(cause).message}`,
      { param: "agent.workspace" },
      { cause },
    );
  }
}
