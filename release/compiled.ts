/**
 * Makes the compiled binary of a platform: one program that holds the built form, with the launcher's
 * permissions baked in. Its processes narrow themselves (`lib/executor/child.ts`).
 *
 * @module
 */

import { LAUNCHER_GRANTS } from "../lib/executor/command.ts";
import type { Target } from "./targets.ts";

/**
 * Writes it. Resolves with why it can't be made where Deno's runtime for compiled programs, `denort`, can't
 * be had: it is fetched, or named by the variable DENORT_BIN. Rejects with what Deno says for anything else.
 */
export async function makeCompiled(
  path: string,
  { target, built }: { target: Target; built: string },
): Promise<string | undefined> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["compile", "--quiet", "--no-check", "--no-prompt", "--no-code-cache"],
      ...["--no-remote", "--no-npm", "--no-lock", "--config", `${built}/deno.json`],
      ...[...LAUNCHER_GRANTS, "--app-name", "service", "--target", target.triple],
      ...["--include", built, "--output", path, `${built}/cli/main.js`],
    ],
    env: { NO_COLOR: "1" },
    stdout: "null",
  }).output();
  if (success) return undefined;
  const said = new TextDecoder().decode(stderr);
  if (!said.includes("denort")) throw new Error(said);
  return `denort, the runtime of compiled programs, can't be had for ${target.title}. ` +
    "Name one with DENORT_BIN, or try again where it can be downloaded";
}
