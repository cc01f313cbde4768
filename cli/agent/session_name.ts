/**
 * Names of sessions on the command line.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";

/** The session of those who name none. */
export const DEFAULT_SESSION = "default";

/** Checks a name by the rule of `session_id`. Throws `usage`. */
export function parseSessionName(name: string): string {
  if (/^[A-Za-z0-9._:-]{1,128}$/.test(name)) return name;
  throw new ServiceError(
    "usage",
    `${JSON.stringify(name)} is no name of a session: it takes 1 to 128 of A-Z a-z 0-9 . _ : -`,
    { param: "session" },
  );
}

/** The full key of a session of the command line. */
export function sessionKey(name: string): string {
  return `cli:${name}`;
}
