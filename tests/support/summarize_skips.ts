/**
 * What a run of the tests says at its end about those that it skipped.
 *
 * @module
 */

import { type Program, PROGRAMS, WORKING_BUBBLEWRAP } from "./needs.ts";
import { FULL_RUN } from "./rounds.ts";

/** What there is to say. */
export interface SkipSummary {
  /** One for each thing that was missing: what, how many tests it skipped, how to get it. */
  lines: string[];
  /** Names of tests that do not say why they were skipped. There should be none. */
  unexplained: string[];
}

/** How conditions are met, where that can be said in a sentence. */
const ADVICE: Readonly<Record<string, string>> = {
  [WORKING_BUBBLEWRAP]:
    "Allow this user to create user namespaces, and use bubblewrap 0.8 or later",
  [FULL_RUN.what]: "Run them with: deno task test:full",
  root: "Run the tests as root to include them",
};

/** Reads the names that `needs` gave, and those of a channel's rules that are exempt. */
export function summarizeSkips(names: readonly string[]): SkipSummary {
  const counts = new Map<string, number>();
  const unexplained: string[] = [];
  let leftOut = 0;
  for (const name of names) {
    const needed = / \(needs ([^()]+)\)$/.exec(name)?.[1];
    if (needed !== undefined) {
      for (const one of needed.split(/, | and /)) counts.set(one, (counts.get(one) ?? 0) + 1);
    } else if (/ \(left out: .+\)$/s.test(name)) leftOut++;
    else unexplained.push(name);
  }
  const missing = [...counts].toSorted(([a], [b]) => a < b ? -1 : 1);
  const programs = missing.flatMap(([name, count]) => {
    const program = programOf(name);
    return program === undefined ? [] : [{ name, count, ...program }];
  });
  const packages = [...new Set(programs.map((program) => program.package))].toSorted();
  const lines = [
    ...programs.map(({ name, count, inSystemFolder, package: from }) =>
      `${name} is missing${inSystemFolder ? " from the system's folders" : ""}: ` +
      `${skipped(count)}. Install it: apt-get install ${from}`
    ),
    ...(packages.length > 1 ? [`Install all of these: apt-get install ${packages.join(" ")}`] : []),
    ...missing.filter(([name]) => programOf(name) === undefined).map(([name, count]) =>
      [`needs ${name}: ${skipped(count)}`, ...(ADVICE[name] ? [ADVICE[name]] : [])].join(". ")
    ),
    ...(leftOut > 0 ? [`exempt from a check of channels: ${skipped(leftOut)}`] : []),
  ];
  return { lines, unexplained };
}

function programOf(name: string): Program | undefined {
  return Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name as keyof typeof PROGRAMS] : undefined;
}

function skipped(count: number): string {
  return `${count} ${count === 1 ? "test" : "tests"} skipped`;
}
