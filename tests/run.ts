// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * Everything that has to pass, in the order of how fast it fails: format, lint, types, tests.
 * Ends with `N passed, N failed, N skipped`; exits with 1 when anything failed.
 *
 * @module
 */

const ROOT = new URL("../", import.meta.url).pathname;

async function deno(...args: string[]): Promise<boolean> {
  console.log(`> deno ${args.join(" ")}`);
  const { success } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output()
    .then(async (result) => {
      if (!result.success) {
        await Deno.stdout.write(result.stdout);
        await Deno.stderr.write(result.stderr);
      }
      return result;
    });
  return success;
}

/** Runs the tests, shows them as they go, and reads the counts from the machine-readable report. */
async function test(
  filters: string[],
): Promise<{ passed: number; failed: number; skipped: number }> {
  const report = await Deno.makeTempFile({ suffix: ".xml" });
  try {
    const args = ["test", "-A", "--cached-only", "--frozen", `--junit-path=${report}`, ...filters];
    console.log(`> deno ${args.join(" ")}`);
    const { success } = await new Deno.Command(Deno.execPath(), {
      args,
      cwd: ROOT,
      stdout: "inherit",
      stderr: "inherit",
    }).spawn().status;
    const head = (await Deno.readTextFile(report)).match(/<testsuites[^>]*>/)?.[0] ?? "";
    const body = await Deno.readTextFile(report);
    const count = (name: string) => Number(head.match(new RegExp(` ${name}="(\\d+)"`))?.[1] ?? 0);
    const skipped = body.match(/<skipped/g)?.length ?? 0;
    const failed = count("failures") + count("errors");
    const passed = count("tests") - failed - skipped;
    // A run that broke off, by a failing import say, may have counted no failure.
    return { passed, failed: success ? failed : Math.max(failed, 1), skipped };
  } finally {
    await Deno.remove(report);
  }
}

if (import.meta.main) {
  const checks = [
    await deno("install", "--frozen", "--quiet"),
    await deno("fmt", "--check"),
    await deno("lint", "--quiet"),
    await deno("check", "--quiet", "."),
  ];
  const brokenChecks = checks.filter((passed) => !passed).length;
  const counts = await test(Deno.args);
  const failed = counts.failed + brokenChecks;
  console.log(
    `${
      counts.passed + checks.length - brokenChecks
    } passed, ${failed} failed, ${counts.skipped} skipped`,
  );
  Deno.exit(failed === 0 ? 0 : 1);
}
