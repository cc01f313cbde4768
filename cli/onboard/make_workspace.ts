/**
 * The agent's folder.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";

/** First AGENTS.md: it is read before each turn, so it says little. */
const AGENTS_MD = `# About this folder

<!-- The agent reads this file at the beginning of each turn. Write here what it has to know about
this folder, and how you want it to work. -->
`;

/**
 * Makes the folder if it is not there, with a first AGENTS.md. What exists is left alone. Returns
 * whether the folder is new. Throws `config_invalid` where it cannot be made.
 */
export async function makeWorkspace(path: string): Promise<boolean> {
  try {
    const info = await Deno.stat(path).catch((error) => {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    });
    if (info?.isDirectory === false) throw new Error("it isn't a folder");
    if (info !== undefined) return false;
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
    await Deno.writeTextFile(`${path}/AGENTS.md`, AGENTS_MD, { createNew: true });
    return true;
  } catch (cause) {
    throw new ServiceError(
      "config_invalid",
      `Cannot make the workspace "${path}": ${(cause as Error).message}`,
      { param: "agent.workspace" },
      { cause },
    );
  }
}
