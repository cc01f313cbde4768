/**
 * `service config set`.
 *
 * @module
 */

import type { SetupField } from "../../lib/channel/descriptor.ts";
import { parseValue } from "../../lib/channel/setup/parse_value.ts";
import { classifyChanges } from "../../lib/settings/changes.ts";
import { readConfigText } from "../../lib/config/config_file.ts";
import { withValue } from "../../lib/config/edit.ts";
import { examine, type Examined } from "../../lib/settings/examine.ts";
import { formatPath, isObject, isWithin, type KeyPath, valueAt } from "../../lib/base/key_path.ts";
import { requirePinnedCases } from "../../lib/settings/pinned_cases.ts";
import { configError, formatProblem, type Problem } from "../../lib/config/problem.ts";
import { isReference } from "../../lib/config/references.ts";
import { configText } from "../../lib/config/save.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { kindOf, nodeAt } from "../../lib/config/schema_tree.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { Output } from "../output.ts";
import { channelKey, isChannelKey, withPlainKeys } from "./channel_key.ts";
import type { ConfigDeps } from "./deps.ts";
import { saveSettings } from "./save_settings.ts";
import { parseKey, requireKnown } from "./key.ts";

/** What is to be set. */
export interface SetInputs {
  key: string;
  /** As typed; `-` for standard input. */
  value: string | undefined;
  /** Take the key out instead. */
  unset: boolean;
  json: boolean;
  out: Output;
}

/** Longest value on standard input, bytes. */
const MAX_STDIN_BYTES = 1_000_000;

/**
 * Changes one key. The whole configuration that would come of it is checked first. Throws `usage` for
 * an unknown key and `config_invalid` for a value that does not do; then nothing was written.
 */
export async function set(inputs: SetInputs, deps: ConfigDeps): Promise<void> {
  const { key, out } = inputs;
  const typed = parseKey(key);
  const ofChannel = isChannelKey(typed)
    ? channelKey(await deps.channels(), typed, { anything: inputs.unset })
    : undefined;
  const path = ofChannel?.path ?? typed;
  const value = await takeValue(inputs, path, ofChannel?.field, deps);
  // An unknown key may be taken out, but not put in.
  if (!inputs.unset) requireKnown(path, value);

  const { configFile } = deps.paths;
  const before = await readConfigText(configFile);
  const old = examine({ ...deps, text: before });
  // A key that stands there in two spellings would lose one of them without a word.
  const unreadable = old.problems.filter(({ kind }) => kind === "syntax" || kind === "spelling");
  if (unreadable.length > 0) {
    throw configError(`Cannot change ${configFile}`, unreadable);
  }

  if (inputs.unset && valueAt(old.canonical, path) === undefined) requireKnown(path, undefined);

  const base = ofChannel === undefined ? old.canonical : withPlainKeys(old.canonical, ofChannel);
  const changed = edit(base, path, value);
  const text = configText(before, changed);
  const next = examine({ ...deps, text });
  refuseUnknown(next, path, inputs.unset);
  const { inTheWay, remarks } = sortProblems(next, path);
  if (inTheWay.length > 0) {
    const key = formatPath(path);
    const [first] = inTheWay;
    // The key is named once where it is the one that is wrong.
    const isItself = inTheWay.length === 1 && formatPath(first!.path) === key;
    throw configError(
      isItself ? "Nothing was written" : `Cannot set ${key}`,
      inTheWay,
      isItself ? undefined : "Nothing was written",
    );
  }
  if (next.config !== undefined && next.problems.length === 0) {
    const { paths } = deps;
    await requirePinnedCases(`Cannot set ${formatPath(path)}`, { config: next.config, paths });
  }
  await saveSettings({ keys: [path], before, value: changed }, deps, out);
  for (const each of remarks) out.note(`${configFile}: ${formatProblem(each)}`);
  report(inputs, { path, old, next, written: text !== before, configFile });
}

/** The value that was typed; undefined to take the key out. */
async function takeValue(
  { value, unset, key, out }: SetInputs,
  path: KeyPath,
  field: SetupField | undefined,
  { stdin }: ConfigDeps,
): Promise<unknown> {
  const usage = (message: string) => new ServiceError("usage", message, { param: key });
  if (unset) {
    if (value !== undefined) throw usage(`--unset takes ${key} out, so it needs no value`);
    return undefined;
  }
  if (value === undefined) {
    throw usage(
      `service config set ${key} needs a value. To remove it: service config unset ${key}`,
    );
  }
  const node = nodeAt(configSchema, path);
  if (value === "-") {
    if (stdin.isTerminal()) out.note(`Value of ${formatPath(path)}, ended by Ctrl-D:`);
    value = (await readAll(stdin.readable)).replace(/\r?\n$/, "");
  } else if (
    (node?.meta.secret || field?.kind === "secret") && value !== "" && !isReference(value)
  ) {
    out.note(
      "Shells keep what is typed in their history. Keep it with service secrets set NAME and write " +
        "'${secret:NAME}' here, or '${NAME}' for an environment variable, or give it with - on standard " +
        "input",
    );
  }
  const kind = node === undefined ? field?.kind : kindOf(node);
  if (kind !== undefined && ["string", "secret", "enum"].includes(kind)) return value;
  // Who may write has to be a list in the file, and a list may be typed with commas.
  if (field?.kind === "list" && !value.trimStart().startsWith("[")) {
    const parsed = parseValue(field, value);
    return "value" in parsed ? parsed.value : value;
  }
  try {
    return JSON.parse(value);
  } catch {
    // The schema says what was wanted; where it does not know the key, text it is.
    return value;
  }
}

function edit(canonical: unknown, path: KeyPath, value: unknown): Record<string, unknown> {
  try {
    const changed = withValue(canonical, path, value);
    if (isObject(changed)) return changed;
    throw new TypeError("The configuration has to be an object");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new ServiceError("usage", `Cannot set ${formatPath(path)}: ${error.message}`, {
      param: formatPath(path),
    });
  }
}

/** A section that was given as JSON may hold unknown keys, too. */
function refuseUnknown(next: Examined, path: KeyPath, unset: boolean): void {
  const unknown = next.warnings.find(({ kind, path: at }) =>
    kind === "unknown_key" && isWithin(at, path)
  );
  if (unknown === undefined || unset) return;
  throw new ServiceError("usage", `${formatPath(unknown.path)} ${unknown.message}`, {
    param: formatPath(unknown.path),
  });
}

/**
 * A variable that is not set in this shell may be set where the service runs, so it is in the way
 * only where it was just typed.
 */
function sortProblems(
  { problems }: Examined,
  path: KeyPath,
): { inTheWay: Problem[]; remarks: Problem[] } {
  const elsewhere = (each: Problem) => each.kind === "reference" && !isWithin(each.path, path);
  return {
    // What was just typed has no line in the file.
    inTheWay: problems.filter((each) => !elsewhere(each))
      .map((each) => isWithin(each.path, path) ? { ...each, line: undefined } : each),
    remarks: problems.filter(elsewhere),
  };
}

function report(
  { json, unset, out }: SetInputs,
  { path, old, next, written, configFile }: {
    path: KeyPath;
    old: Examined;
    next: Examined;
    written: boolean;
    configFile: string;
  },
): void {
  const key = formatPath(path);
  const changes = old.config !== undefined && next.config !== undefined
    ? classifyChanges(old.config, next.config)
    : [];
  const restart = changes.some(({ takes }) => takes === "restart");
  if (json) {
    out.json({ key, file: configFile, written, changes });
    return;
  }
  if (!written) {
    out.note(`${key} ${unset ? "isn't set" : "had that value already"}; nothing was written`);
  } else {
    const isSet = valueAt(next.canonical, path) !== undefined;
    out.note(`${key} is ${isSet ? "set" : "no longer set"} in ${configFile}`);
    if (restart) out.note("Restart a running service to apply it: service restart");
  }
}

async function readAll(readable: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of readable) {
    bytes += chunk.length;
    if (bytes > MAX_STDIN_BYTES) {
      throw new ServiceError("usage", `Standard input has more than ${MAX_STDIN_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return await new Blob(chunks as BlobPart[]).text();
}
