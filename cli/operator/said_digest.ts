/**
 * Whoever allows something says the digest of what they have read, so that nothing else is allowed.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { Invocation } from "../command.ts";
import type { ConfirmDeps } from "../confirm.ts";

/** What is to be allowed. */
interface Asked {
  digest: string;
  /** In words, such as `the report`. */
  what: string;
  /** Such as `approve`. */
  verb: string;
  /** Shows all of it, where the digest is asked for at the terminal. */
  show(): void;
  /** Thrown for another digest. */
  other: ServiceError;
}

/**
 * The whole digest once its first digits were said, with `--digest` or at the terminal; undefined when the
 * person gave up. Throws `usage` where there is nobody to ask, and `other`.
 */
export async function saidDigest(
  { options, globals, out }: Invocation,
  { digest, what, verb, show, other }: Asked,
  { isTerminal, readLine }: Pick<ConfirmDeps, "isTerminal" | "readLine">,
): Promise<string | undefined> {
  let said = options["digest"] as string | undefined;
  if (said === undefined) {
    if (!isTerminal || globals.json) {
      throw new ServiceError(
        "usage",
        `Nobody to ask: add --digest with the digest of ${what}, at least its first 8 digits`,
        { param: "digest" },
      );
    }
    show();
    out.writeNote(`Type the first 8 digits of the digest to ${verb} exactly this: `);
    said = await readLine() ?? "";
    if (said.trim() === "") return undefined;
  }
  const typed = said.trim().toLowerCase();
  if (!/^[0-9a-f]{8,64}$/.test(typed) || !digest.startsWith(typed)) throw other;
  return digest;
}
