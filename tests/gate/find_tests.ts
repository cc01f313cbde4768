/**
 * Which test files there are, and how they are shared out among processes.
 *
 * @module
 */

import { join, relative } from "@std/path";

const SKIPPED = new Set([".git", "node_modules", "dist", "coverage"]);

/** Files that one process runs one after the other, of those that are quick and of those that are not. */
const QUICK_FILES = 64;
const SLOW_FILES = 4;
const WHOLE_FILES = 2;

/** Tests of the whole service under faults and attacks and on every platform. The full run alone has them. */
const FULL_FOLDER = "tests/full/";

/** What a test file says when its tests start processes, and so take seconds. */
const STARTS_PROCESSES =
  /\bDeno\.Command\b|support\/project_copy\.ts|commandsFixture|withCommands|gateFixture|testing\/test_with/;

/** What runs against the whole service or a whole channel, and so takes tens of seconds. */
const RUNS_WHOLE = /^tests\/(full\/)?[^/]+$|conformance_test\.ts$|^channels\/email\/runtime/;

/** A test file. */
export interface TestFile {
  /** Relative to the root. */
  path: string;
  cost: "quick" | "slow" | "whole";
  /** Length of its source. */
  chars: number;
}

/** Whether the short run leaves the file out, unless it is named. */
export function isOfFullRun({ path }: TestFile): boolean {
  return path.startsWith(FULL_FOLDER);
}

/** Every `*_test.ts` below the root, or of the files and folders that are named. */
export async function findTests(root: string, places: readonly string[]): Promise<TestFile[]> {
  const files: TestFile[] = [];
  for (const place of places.length === 0 ? ["."] : places) {
    for await (const path of testFilesAt(join(root, place))) {
      files.push(testFile(relative(root, path), await Deno.readTextFile(path)));
    }
  }
  return files;
}

async function* testFilesAt(path: string): AsyncGenerator<string> {
  if ((await Deno.stat(path)).isFile) return yield path;
  const entries = await Array.fromAsync(Deno.readDir(path));
  for (const { name, isDirectory } of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
    if (isDirectory && !SKIPPED.has(name)) yield* testFilesAt(join(path, name));
    else if (name.endsWith("_test.ts")) yield join(path, name);
  }
}

function testFile(path: string, source: string): TestFile {
  const cost = RUNS_WHOLE.test(path) ? "whole" : STARTS_PROCESSES.test(source) ? "slow" : "quick";
  return { path, cost, chars: source.length };
}

/**
 * What takes long comes first, so that it is not begun last; the length of the source is a fair guess.
 * The others share processes, so that what they import is loaded once.
 */
export function batchesOf(files: readonly TestFile[]): string[][] {
  const of = (cost: TestFile["cost"]) => files.filter((file) => file.cost === cost);
  const whole = of("whole").toSorted((a, b) => b.chars - a.chars);
  return [
    ...chunksOf(whole, WHOLE_FILES),
    ...chunksOf(of("slow"), SLOW_FILES),
    ...chunksOf(of("quick"), QUICK_FILES),
  ].map((chunk) => chunk.map(({ path }) => path));
}

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from(
    { length: Math.ceil(items.length / size) },
    (_, at) => items.slice(at * size, (at + 1) * size),
  );
}
