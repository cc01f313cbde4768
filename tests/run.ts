// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * Everything that has to pass: format, lint and types, and beside them the tests, in several processes.
 * Ends with `N passed, N failed, N skipped`; exits with 1 when anything failed.
 *
 *     deno task test [--full [--rest]] [--built] [--changed [--since REVISION]] [--again] [--jobs N] [--timings FILE] [path …]
 *
 * `--rest` leaves out what a short run has done just as well.
 *
 * `--built` has homes start the built form, as a short run of everything does; else they start the sources.
 *
 * `--again` runs files that failed once more, alone, and lists those that pass then as unstable.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { parseArgs } from "@std/cli/parse-args";
import { join } from "@std/path";
import { changedSince, reachedTests } from "./gate/changed_tests.ts";
import { findOwnDenoDir } from "../lib/packages/deno_dir.ts";
import { fetchPackages, namesOf } from "../lib/packages/fetch_packages.ts";
import { lockedPackages } from "../lib/packages/locked_packages.ts";
import { progressLine } from "../lib/packages/progress_line.ts";
import { batchesOf, findTests, isOfFullRun } from "./gate/find_tests.ts";
import { Report } from "./gate/report.ts";
import { runTests } from "./gate/run_tests.ts";
import { gatewayCacheOf } from "./support/gateway_cache.ts";
import { readModules } from "./support/module_graph.ts";
import { testProject } from "./support/talk_channels.ts";

const ROOT = new URL("../", import.meta.url).pathname;

const CHECKS = [
  ["fmt", "--check", "--quiet"],
  ["lint", "--quiet"],
  ["check", "--quiet", "--frozen", "--lock=deno.lock", "."],
];

const { imports: IMPORTS } = JSON.parse(await Deno.readTextFile(`${ROOT}imports.json`)) as {
  imports: Record<string, string>;
};

/** Has everything that tests and checks import on this machine. */
async function fetchEverything(): Promise<void> {
  const wanted = Object.values(IMPORTS).flatMap((target) =>
    /^npm:\/?(@?[^@]+@[^/]+)/.exec(target)?.[1] ?? []
  );
  const packages = lockedPackages(findOwnDenoDir((name) => Deno.env.get(name)))!;
  const line = progressLine(Deno.stderr);
  const failure = await fetchPackages([...new Set(wanted)].map((id) => `npm:${id}`), {
    packages,
    onProgress: line.show,
  });
  line.end();
  if (failure === undefined) return;
  console.error(`Cannot fetch ${namesOf(failure)}: ${failure.advice}`);
  Deno.exit(1);
}

async function runChecks(report: Report): Promise<void> {
  for (const args of CHECKS) await runCheck(report, args);
}

/** Whether it succeeded. */
async function runCheck(report: Report, args: readonly string[], cwd = ROOT): Promise<boolean> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    // A fifth less time for the types, most of which live long.
    env: { DENO_V8_FLAGS: "--max-semi-space-size=128,--initial-heap-size=3000" },
  }).output();
  const text = new TextDecoder();
  report.addCheck(
    `deno ${args.join(" ")}`,
    success ? undefined : text.decode(stdout) + text.decode(stderr),
  );
  return success;
}

/** The folder of the built form of sources, for this run; undefined where it could not be built. */
async function buildOnce(report: Report, sources: string): Promise<string | undefined> {
  const folder = `${await Deno.makeTempDir({ prefix: "built-" })}/`;
  // In a process of its own: it imports packages, and this one has to run before they are there.
  const args = ["run", "-A", "--cached-only", "--lock=deno.lock", "--frozen", "release/build.ts"];
  return await runCheck(report, [...args, folder], sources) ? folder : undefined;
}

async function testsOfChange(revision: string): Promise<string[]> {
  return reachedTests(await readModules(ROOT, IMPORTS), await changedSince(ROOT, revision));
}

/** The tests that do more in a full run than in a short one. */
async function testsThatDoMore(): Promise<Set<string>> {
  return new Set(reachedTests(await readModules(ROOT, IMPORTS), ["tests/support/rounds.ts"]));
}

if (import.meta.main) {
  const flags = parseArgs(Deno.args, {
    boolean: ["full", "rest", "built", "changed", "again"],
    string: ["since", "jobs", "timings"],
  });
  if (flags.timings === "") {
    console.error(
      "--timings is empty: expected the file to write to, as in --timings /tmp/timings",
    );
    Deno.exit(2);
  }
  const places = flags.changed
    ? await testsOfChange(String(flags.since ?? "HEAD"))
    : flags._.map(String);
  const lost = flags._.map(String).find((place) => !existsSync(join(ROOT, place)));
  if (lost !== undefined) {
    console.error(`Cannot find "${lost}": expected a test file or a folder, relative to ${ROOT}`);
    Deno.exit(2);
  }
  const found = flags.changed && places.length === 0 ? [] : await findTests(ROOT, places);
  const leavesOut = !flags.full && flags._.length === 0;
  const doesMore = flags.rest ? await testsThatDoMore() : undefined;
  const files = found.filter((file) =>
    leavesOut
      ? !isOfFullRun(file)
      : doesMore === undefined || isOfFullRun(file) || doesMore.has(file.path)
  );
  await fetchEverything();
  const report = new Report(files.length, { leftOut: found.length - files.length });
  // Short: the built form, which starts in two thirds of the time. Full, or by name: the sources.
  const isShort = !flags.full && !flags.changed && flags._.length === 0;
  const wantsBuilt = flags.built || isShort;
  // Beside all that follows. Who names files wants to know of these alone.
  const checked = flags._.length === 0 ? runChecks(report) : undefined;
  const built = wantsBuilt ? await buildOnce(report, ROOT) : undefined;
  // Of the full run alone. Where it cannot be made, each test that needs it says why.
  const isWhole = flags.full && flags._.length === 0;
  const project = isWhole ? await testProject().catch(() => undefined) : undefined;
  const builtProject = wantsBuilt && project !== undefined
    ? await buildOnce(report, project.root)
    : undefined;
  const env: Record<string, string> = {
    ...flags.full ? { SERVICE_TEST_FULL: "1" } : {},
    ...built === undefined ? {} : { SERVICE_TEST_BUILT: built },
    ...project === undefined ? {} : { SERVICE_TEST_PROJECT: builtProject ?? project.root },
  };
  const options = { root: ROOT, env };
  const unstable: string[] = [];
  await Promise.all([
    checked,
    runTests(batchesOf(files), {
      ...options,
      // Many tests wait as long as they compute; those of the full run wait less.
      jobs: Number(flags.jobs ?? (flags.full ? 2 : 3) * navigator.hardwareConcurrency),
      onResult(batch, result) {
        if (!flags.again || result.failure === undefined) return report.addBatch(batch, result);
        report.tellFailure(batch.join(" "), result.failure);
        unstable.push(...batch);
      },
    }),
  ]);
  await runTests(unstable.map((file) => [file]), {
    ...options,
    jobs: 1,
    onResult([file], result) {
      report.addBatch([file!], result);
      if (result.failure === undefined) report.addUnstable(file!);
    },
  });
  if (flags.timings !== undefined) {
    await Deno.writeTextFile(String(flags.timings), report.timings());
  }
  for (const folder of [built, builtProject]) {
    if (folder === undefined) continue;
    await Deno.remove(folder, { recursive: true });
    await Deno.remove(gatewayCacheOf(folder), { recursive: true }).catch(() => {});
  }
  await project?.[Symbol.asyncDispose]();
  Deno.exit(report.close() ? 0 : 1);
}
