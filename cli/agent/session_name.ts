/**
 * Names of sessions on the command line.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import { operateWith } from "../operator/operate_with.ts";

const CHANNEL = "cli:";

/** Of a new name, without letters that are mistaken for digits. */
const LETTERS = "abcdefghijkmnpqrstuvwxyz23456789";
const NAME_CHARS = 8;

/** Sessions of one look. */
const PAGE = 100;

/** Checks a name by the rule of `session_id`. Throws `usage`. */
export function parseSessionName(name: string): string {
  if (/^[A-Za-z0-9._:-]{1,128}$/.test(name)) return name;
  throw new ServiceError(
    "usage",
    `Invalid session name ${JSON.stringify(name)}: expected 1 to 128 of A-Z a-z 0-9 . _ : -`,
    { param: "session" },
  );
}

/** A name that no session has. */
export function newSessionName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(NAME_CHARS));
  return Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join("");
}

/** The full key of a session of the command line. */
export function sessionKey(name: string): string {
  return CHANNEL + name;
}

/** The name in a full key; the key itself where it is of another channel. */
export function sessionName(key: string): string {
  return key.startsWith(CHANNEL) ? key.slice(CHANNEL.length) : key;
}

/**
 * Name of the command line's newest session that works in a project or, without one, in the workspace.
 * Rejects with `not_found` when it has none.
 */
export async function lastSessionName(
  client: Pick<LocalClient, "call">,
  folder?: string,
): Promise<string> {
  const ask = operateWith(client);
  let before: number | undefined;
  do {
    const page = await ask({ op: "sessions.list", limit: PAGE, before });
    const found = page.sessions.find((each) =>
      each.key.startsWith(CHANNEL) && each.folder === folder
    );
    if (found !== undefined) return sessionName(found.key);
    before = page.before;
  } while (before !== undefined);
  throw new ServiceError(
    "not_found",
    `No conversation to continue in ${folder ?? "the workspace"}: start one without --continue`,
    { param: "continue" },
  );
}
