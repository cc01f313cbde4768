/**
 * Which tests a change can reach: those whose modules import a changed file, at any distance.
 *
 * @module
 */

import { dirname, join } from "@std/path";
import type { Module } from "../support/module_graph.ts";

type GraphModule = Pick<Module, "path" | "source" | "imports">;

/** Files that every test depends on. */
const EVERYTHING = /^(deno\.json|deno\.lock|imports\.json|tests\/(run\.ts|gate\/))/;

/** A path of a file in a string, which a test or its support opens or starts a process with. */
const NAMED_FILE = /["'`](?:\$\{\w+\})?((?:\.{0,2}\/)*[\w.-]+(?:\/[\w.-]+)*\.\w+)["'`]/g;

/** How a test names the whole folder that it stands in, such as the package of a channel. */
const OWN_FOLDER = /new URL\("\.\/", import\.meta\.url\)/;

const TEST_CODE = /(_test\.ts$|\/testing\/|^tests\/)/;

/**
 * Paths of the tests that changed paths reach. The modules that a running service loads by URL, such
 * as the runtimes of channels, are not followed from the code that starts it: each of them has its own
 * tests, and otherwise every change would reach every test of the whole service.
 */
export function reachedTests(
  modules: ReadonlyMap<string, GraphModule>,
  changed: readonly string[],
): string[] {
  const tests = [...modules.keys()].filter((path) => path.endsWith("_test.ts"));
  if (changed.some((path) => EVERYTHING.test(path))) return tests.sort();
  const dependents = new Map<string, Set<string>>();
  for (const module of modules.values()) {
    for (const target of targetsOf(module, modules)) {
      dependents.set(target, (dependents.get(target) ?? new Set()).add(module.path));
    }
  }
  const reached = new Set<string>();
  const queue = [...changed];
  while (queue.length > 0) {
    const path = queue.pop()!;
    if (reached.has(path)) continue;
    reached.add(path);
    const named = dependents.get(path);
    if (named !== undefined) queue.push(...named);
    // Golden files, fixtures and the like are read by the tests of their folder, or of one above it.
    else if (!path.endsWith(".ts")) queue.push(...nearestTests(tests, dirname(path)));
  }
  return tests.filter((path) => reached.has(path)).sort();
}

function targetsOf(
  { path, source, imports }: GraphModule,
  modules: ReadonlyMap<string, GraphModule>,
): Set<string> {
  const targets = new Set(imports.map(({ resolved }) => resolved));
  if (!TEST_CODE.test(path)) return targets;
  for (const [, file] of source.matchAll(NAMED_FILE)) {
    targets.add(join(dirname(path), file!));
    targets.add(join(file!));
  }
  if (OWN_FOLDER.test(source)) {
    for (const other of modules.keys()) {
      if (other.startsWith(`${dirname(path)}/`) && !other.endsWith("_test.ts")) targets.add(other);
    }
  }
  return targets;
}

function nearestTests(tests: readonly string[], folder: string): string[] {
  const here = tests.filter((path) => dirname(path) === folder);
  if (here.length > 0 || folder === ".") return here;
  return nearestTests(tests, dirname(folder));
}

/** Paths that git has as changed since a revision, and those that it does not track yet. */
export async function changedSince(root: string, revision: string): Promise<string[]> {
  const outputs = await Promise.all([
    git(root, "diff", "--name-only", "-z", "--no-renames", revision, "--"),
    git(root, "ls-files", "--others", "--exclude-standard", "-z"),
  ]);
  return [...new Set(outputs.flatMap((output) => output.split("\0")))].filter((path) =>
    path !== ""
  );
}

async function git(root: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", { args, cwd: root }).output();
  const text = new TextDecoder();
  if (!success) throw new Error(`git ${args.join(" ")}: ${text.decode(stderr).trim()}`);
  return text.decode(stdout);
}
