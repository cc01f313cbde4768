/**
 * What a check of the doctor is.
 *
 * @module
 */

/** What a check found. */
export interface Finding {
  /** `warn`: it works, but not as well as it could; `fail`: something is broken; `skip`: not looked at. */
  status: "ok" | "warn" | "fail" | "skip";
  /** What is so. */
  detail: string;
  /** What to do about it; with every `warn` and `fail`. */
  fix?: string;
  /**
   * Does what `--fix` may: rights, folders that are missing, leftovers; deletes no data. Resolves with
   * what it did; undefined when there was nothing to do any more.
   */
  repair?(): Promise<string | undefined>;
}

/** A check: its name and its findings, one at least. */
export interface Check {
  name: string;
  /** Its findings may be repaired. */
  repairs?: true;
  /** Throwing counts as a `fail` with the error's message. */
  run(): Promise<Finding | Finding[]>;
}

/** A finding with the name of its check. */
export interface CheckResult extends Finding {
  name: string;
}

/** Longest time for one check. */
const TIMEOUT_MS = 45_000;

/** Runs every check, all at once, and returns their findings in the order of the checks. */
export async function runChecks(
  checks: readonly Check[],
  timeoutMs = TIMEOUT_MS,
): Promise<CheckResult[]> {
  const results = await Promise.all(checks.map(async ({ name, run }) => {
    const timeout = Promise.withResolvers<Finding>();
    const timer = setTimeout(() =>
      timeout.resolve({
        status: "fail",
        detail: `the check took longer than ${timeoutMs / 1_000} s`,
        fix: "Try again when the machine is less busy",
      }), timeoutMs);
    try {
      const found = await Promise.race([run(), timeout.promise]);
      return [found].flat().map((finding) => ({ name, ...finding }));
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      return [{ name, status: "fail" as const, detail, fix: "Try again with --verbose" }];
    } finally {
      clearTimeout(timer);
    }
  }));
  return results.flat();
}

/** Repairs what can be; a line for each thing that was done, or could not be. */
export async function repairAll(checks: readonly Check[]): Promise<string[]> {
  const done: string[] = [];
  for (const { repair } of await runChecks(checks.filter(({ repairs }) => repairs))) {
    if (repair === undefined) continue;
    try {
      const line = await repair();
      if (line !== undefined) done.push(line);
    } catch (error) {
      done.push(`Could not fix: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return done;
}
