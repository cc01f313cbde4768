/**
 * The program from source, as the tasks start it: fetches what the main job lacks of packages, and
 * becomes `main.ts`. In the same process, so that signals and exit codes need nobody to pass them on.
 *
 * Imports no packages, and none of the modules that do, before they are there.
 *
 * @module
 */

import { isProgram } from "../lib/base/is_program.ts";
import { findOwnDenoDir } from "../lib/packages/deno_dir.ts";
import { fetchPackages, namesOf } from "../lib/packages/fetch_packages.ts";
import { lockedPackages } from "../lib/packages/locked_packages.ts";
import { MAIN_JOB } from "../lib/packages/wanted_packages.ts";
import { typedAs } from "./installation/typed_as.ts";
import { pathOf, ROOT } from "../lib/base/layout.ts";
import { progressLine } from "../lib/packages/progress_line.ts";

/** Exit codes of a fetch that is ended from outside, as shells count them. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Fetches what is missing. Ends the process where that fails. */
async function fetchMainJob(): Promise<void> {
  const packages = lockedPackages(findOwnDenoDir((name) => Deno.env.get(name)));
  if (packages === undefined) return;
  const ended = new AbortController();
  let ending = 1;
  const line = progressLine(Deno.stderr);
  const stops = Object.entries(SIGNALS).map(([name, code]) => {
    const signal = name as keyof typeof SIGNALS;
    const stop = () => {
      ending = code;
      ended.abort();
    };
    // Windows knows no SIGTERM.
    if (Deno.build.os === "windows" && signal === "SIGTERM") return () => {};
    Deno.addSignalListener(signal, stop);
    return () => Deno.removeSignalListener(signal, stop);
  });
  const failure = await fetchPackages(MAIN_JOB, {
    packages,
    signal: ended.signal,
    onProgress: line.show,
  });
  line.end();
  for (const remove of stops) remove();
  if (ended.signal.aborted) Deno.exit(ending);
  if (failure === undefined) return;
  await Deno.stderr.write(
    new TextEncoder().encode(`error: Cannot fetch ${namesOf(failure)}: ${failure.advice}\n`),
  );
  Deno.exit(1);
}

/** Tells the program what people type to reach it; a launcher has told. */
function sayTypedAs(): void {
  if (Deno.env.get("SERVICE_COMMAND") !== undefined) return;
  const command = typedAs({
    root: pathOf(ROOT).replace(/\/$/, ""),
    cwd: Deno.cwd(),
    env: (name) => Deno.env.get(name),
    read(path) {
      try {
        return Deno.readTextFileSync(path);
      } catch {
        return undefined;
      }
    },
    isProgram,
    denoVersion: Deno.version.deno,
  });
  Deno.env.set("SERVICE_COMMAND", command);
}

await fetchMainJob();
sayTypedAs();
// Deno reads a literal import before the first line runs, and would miss the packages for good.
const main = new URL("main.ts", import.meta.url).href;
const program: typeof import("./main.ts") = await import(main);
Deno.exit(await program.main(Deno.args));
