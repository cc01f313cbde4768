/**
 * Asks a program what it is, which shows that it starts on this machine.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";

/** How long it may take: the first start unpacks. */
const START_MS = 120_000;

/** What it says of itself (`service version --json`). */
export interface ProgramFacts {
  version: string;
  /** The schema of the database that it knows. */
  databaseVersion: number;
}

/** Asks it. Throws `conflict` for one that doesn't start, or says another version. */
export async function tryProgram(path: string, version?: string): Promise<ProgramFacts> {
  const { code, stdout, stderr } = await run(path);
  try {
    const facts = JSON.parse(stdout);
    if (code === 0 && facts.version === (version ?? facts.version)) return facts;
  } catch {
    // Told below.
  }
  const reason = (stderr || stdout).trim().split("\n")[0]!.replace(/^error: /, "");
  throw new ServiceError(
    "conflict",
    `${version === undefined ? path : `service ${version}`} doesn't start on this machine: ` +
      `${reason || `it ended with exit code ${code}`}. Nothing was changed`,
  );
}

async function run(path: string): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const { code, stdout, stderr } = await new Deno.Command(path, {
      args: ["version", "--json"],
      stdin: "null",
      signal: AbortSignal.timeout(START_MS),
    }).output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  } catch (error) {
    return { code: 127, stdout: "", stderr: (error as Error).message };
  }
}
