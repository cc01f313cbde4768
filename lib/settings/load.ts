/**
 * Loads the configuration.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../base/errors.ts";
import { formatPath, type KeyPath } from "../base/key_path.ts";
import { checkModelName, chooseModel } from "../model/choose_model.ts";
import { writeFileAtomic } from "../base/atomic_write.ts";
import { readConfigText } from "../config/config_file.ts";
import { examine, type Examined } from "./examine.ts";
import type { HomePaths } from "../config/paths.ts";
import { describeFailure, runPinnedCases } from "./pinned_cases.ts";
import { configError, formatProblem, type Problem } from "../config/problem.ts";
import { hasLiteralSecret } from "../config/redact.ts";
import type { Env } from "../config/references.ts";
import { type Config, configSchema } from "../config/schema.ts";

/** What {@linkcode loadConfig} takes. */
export interface LoadInputs {
  paths: HomePaths;
  env: Env;
  /** Load the last configuration that loaded instead of the file. */
  lastGood?: boolean;
  /** Keep a copy of what loaded; by default yes. */
  keepLastGood?: boolean;
  /** A service is to start with it, so what only a start trips over counts too. */
  forStart?: { gateway: boolean };
}

/** A configuration, and everything for which it doesn't load. */
export interface Judged {
  file: string;
  /** Undefined where there is no file and the defaults hold. */
  text: string | undefined;
  examined: Examined;
  /** Those of `examined` first; without one it loads. */
  problems: Problem[];
}

/** Problems of pinned cases that are named. */
const MAX_CASES = 20;

/**
 * Reads the configuration to its end, whatever is wrong: `loadConfig` refuses exactly what has a
 * problem here. Throws `config_invalid` for a file that can't be read, or is named and not there.
 */
export async function judgeConfig(inputs: LoadInputs): Promise<Judged> {
  const { paths, env, forStart } = inputs;
  const { file, text } = await readConfig(inputs);
  const examined = examine({ text, paths, env });
  const { config } = examined;
  if (config === undefined || examined.problems.length > 0) {
    return { file, text, examined, problems: examined.problems };
  }
  const problems = forStart === undefined ? [] : await startProblems(config, forStart);
  // Cases are looked at in the workspace, which is made for them.
  if (!problems.some(({ path }) => formatPath(path) === "agent.workspace")) {
    problems.push(...await caseProblems(config, paths));
  }
  return { file, text, examined, problems };
}

async function caseProblems(config: Config, paths: HomePaths): Promise<Problem[]> {
  try {
    const run = await runPinnedCases({ config, paths });
    const broken = (run?.results ?? []).filter(({ passed }) => !passed);
    const told = broken.slice(0, MAX_CASES).map((each): Problem => ({
      path: ["gates", "rules"],
      kind: "conflict",
      message: `${run!.file}: ${describeFailure(each)}`,
    }));
    const more = broken.length - told.length;
    return more === 0
      ? told
      : [...told, { path: [], kind: "conflict", message: `and ${more} more cases` }];
  } catch (error) {
    return [{ path: [], kind: "conflict", message: toErrorData(error).message }];
  }
}

/** A configuration that may be used. */
export interface Loaded {
  /**
   * References replaced, defaults filled in, paths absolute, providers of the environment among the
   * others.
   */
  config: Config;
  /** One line each. */
  warnings: string[];
  source: "file" | "defaults" | "last-good";
}

/**
 * Loads the configuration, or the defaults where there is no file, and keeps a copy of what loaded.
 * Throws `config_invalid`, naming every problem that {@linkcode judgeConfig} finds.
 */
export async function loadConfig(inputs: LoadInputs): Promise<Loaded> {
  const { paths } = inputs;
  const { file, text, examined, problems } = await judgeConfig(inputs);
  if (problems.length > 0 || examined.config === undefined) {
    throw configError(`Cannot load ${file}`, problems, await lastGoodHint(inputs));
  }
  const warnings = examined.warnings.map(formatProblem);
  if (text !== undefined) {
    const readable = await readableByOthers(file);
    if (readable !== undefined && hasLiteralSecret(examined.canonical, configSchema)) {
      warnings.push(
        `${file} holds a secret and can be read by others (mode ${readable}); chmod 600`,
      );
    }
    if (!inputs.lastGood && inputs.keepLastGood !== false) {
      const failure = await keepLastGood(paths, text);
      if (failure !== undefined) warnings.push(failure);
    }
  }
  return {
    config: examined.config,
    warnings,
    source: text === undefined ? "defaults" : inputs.lastGood ? "last-good" : "file",
  };
}

/**
 * The text of the file that is to be loaded; undefined if there is none and the defaults do. Throws
 * `config_invalid` where somebody named a file that is not there.
 */
export async function readConfig(
  { paths, lastGood }: Pick<LoadInputs, "paths" | "lastGood">,
): Promise<{ file: string; text: string | undefined }> {
  const file = lastGood ? paths.lastGoodFile : paths.configFile;
  const text = await readConfigText(file);
  if (text === undefined && lastGood) {
    throw new ServiceError(
      "config_invalid",
      `There is no ${file}: no configuration has loaded yet`,
    );
  }
  if (text === undefined && paths.configFrom !== "home") {
    throw new ServiceError(
      "config_invalid",
      `There is no ${file}, which ${paths.configFrom} names`,
    );
  }
  return { file, text };
}

async function lastGoodHint({ paths, lastGood }: LoadInputs): Promise<string | undefined> {
  if (lastGood) return undefined;
  const kept = await readConfigText(paths.lastGoodFile).catch(() => undefined);
  return kept === undefined
    ? undefined
    : "To start with the last configuration that loaded, add --last-good";
}

/** Keeps the text, references unresolved, where it differs from what is kept. Returns a failure. */
async function keepLastGood(
  { lastGoodFile }: HomePaths,
  text: string,
): Promise<string | undefined> {
  try {
    if (await readConfigText(lastGoodFile).catch(() => undefined) === text) return undefined;
    await writeFileAtomic(lastGoodFile, text, { mode: 0o600 });
  } catch (error) {
    return `Cannot keep a copy of the configuration as ${lastGoodFile}: ${
      (error as Error).message
    }`;
  }
}

/** The mode of a file that others than its owner may read. */
async function readableByOthers(file: string): Promise<string | undefined> {
  const mode = (await Deno.stat(file).catch(() => undefined))?.mode ?? 0;
  return (mode & 0o044) === 0 ? undefined : (mode & 0o777).toString(8);
}

/** What every start, and that of a gateway, refuses to go on with. */
async function startProblems(
  config: Config,
  { gateway }: { gateway: boolean },
): Promise<Problem[]> {
  const { websocket } = config.channels;
  const tls = gateway && websocket.enabled && websocket.sslCertfile !== "";
  return [
    ...modelProblems(config),
    ...await workspaceProblems(config.agent.workspace),
    ...tls ? await tlsProblems(websocket) : [],
  ];
}

function modelProblems(config: Config): Problem[] {
  const { preset, fallbacks } = config.agent;
  const main: KeyPath = preset === "" ? ["agent", "model"] : ["agent", "presets", preset, "model"];
  const checks: [KeyPath, () => void][] = [
    [main, () => chooseModel(config)],
    ...fallbacks.map((name, at): [KeyPath, () => void] => [
      ["agent", "fallbacks", at],
      () => checkModelName(config, name, `agent.fallbacks.${at}`),
    ]),
  ];
  return checks.flatMap(([path, check]) => {
    try {
      check();
      return [];
    } catch (error) {
      return [problemOf(error, path)];
    }
  });
}

/** A folder that is there, or can be made where its nearest parent is. */
async function workspaceProblems(workspace: string): Promise<Problem[]> {
  let path = workspace;
  const refuse = (reason: string): Problem[] => [{
    path: ["agent", "workspace"],
    kind: "conflict",
    message: `cannot make the folder "${workspace}": ${reason}`,
  }];
  for (;;) {
    try {
      const { isDirectory } = await Deno.stat(path);
      if (!isDirectory) return refuse(`"${path}" is a file`);
      if (path !== workspace) {
        const { access, constants } = await import("node:fs/promises");
        await access(path, constants.W_OK | constants.X_OK);
      }
      return [];
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) return refuse((error as Error).message);
    }
    const dangling = await Deno.readLink(path).catch(() => undefined);
    if (dangling !== undefined) {
      return refuse(`"${path}" is a link to "${dangling}", which is missing`);
    }
    path = path.replace(/[/\\][^/\\]*$/, "") || "/";
  }
}

async function tlsProblems(
  { sslCertfile: cert, sslKeyfile: key }: Config["channels"]["websocket"],
): Promise<Problem[]> {
  const { readTlsIdentity } = await import("../listen/tls_identity.ts");
  const setting = "channels.websocket";
  try {
    await readTlsIdentity({ cert, key }, setting);
    return [];
  } catch (error) {
    return [problemOf(error, ["channels", "websocket", "sslCertfile"])];
  }
}

/** The error as a problem; its message names the key already, which a problem has beside it. */
function problemOf(error: unknown, usual: KeyPath): Problem {
  const { message, param } = toErrorData(error);
  const named = param !== undefined && message.startsWith(`${param}: `);
  return {
    path: param?.startsWith("channels.") ? param.split(".") : usual,
    kind: "conflict",
    message: named ? message.slice(param.length + 2) : message,
  };
}
