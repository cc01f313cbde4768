/**
 * The install script of a release: `install.sh` with what it has to know.
 *
 * @module
 */

import { LATEST_URL } from "./releases_url.ts";
import type { SigningKey } from "./signing_key.ts";

/** The file. */
export const INSTALL_SCRIPT = "install.sh";

/** Its text. */
export async function installScript(
  key: Pick<SigningKey, "publicPem"> | undefined,
  url = LATEST_URL,
): Promise<string> {
  const template = await Deno.readTextFile(new URL(INSTALL_SCRIPT, import.meta.url));
  return template.replace("@LATEST_URL@", url)
    .replace("@PUBLIC_KEY@", (key?.publicPem ?? "").trimEnd());
}
