/**
 * How many files this process may have open at once, connections among them.
 *
 * @module
 */

const PROBE_TIMEOUT_MS = 5_000;

/** The bound; undefined where there is none, or where it cannot be learnt. */
export async function maxOpenFiles(): Promise<number | undefined> {
  if (Deno.build.os === "windows") return undefined;
  try {
    // A child has the bound of its parent; to read one's own takes every permission that there is.
    const { stdout } = await new Deno.Command("/bin/sh", {
      args: ["-c", "ulimit -n"],
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    }).output();
    const said = new TextDecoder().decode(stdout).trim();
    return /^\d{1,15}$/.test(said) ? Number(said) : undefined;
  } catch {
    return undefined;
  }
}
