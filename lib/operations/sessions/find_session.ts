/**
 * Which sessions a caller may see and touch. What is another's is answered exactly as what is not there.
 *
 * @module
 */

import { CHAT_CHANNEL } from "../../contract/chat_session.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Journal, Session, SessionFilter } from "../../contract/journal.ts";

/** The beginning of every key in the workspace of a person. */
const OF_PERSON = new RegExp(`^${CHAT_CHANNEL}:([0-9a-f]{32})\\.`);

/** Characters of a key that are repeated in an error. */
const MAX_SHOWN_CHARS = 200;

/** The session of that key. Throws `not_found`, alike for one that is not there and one of others. */
export function findSession(
  journal: Pick<Journal, "session">,
  key: string,
  sees: SessionFilter,
): Session {
  const session = seenSession(journal, key, sees);
  if (session === undefined) throw noSession(key);
  return session;
}

/** The same; undefined where it isn't. */
export function seenSession(
  journal: Pick<Journal, "session">,
  key: string,
  sees: SessionFilter,
): Session | undefined {
  return isSeen(key, sees) ? journal.session(key) : undefined;
}

/** That there is no such session. */
export function noSession(key: string): ServiceError {
  const shown = JSON.stringify(key.slice(0, MAX_SHOWN_CHARS).toWellFormed());
  return new ServiceError("not_found", `There is no session ${shown}`, { param: "key" });
}

/** By the key alone, exactly as `Journal.sessions` lists them. Other channels have no workspaces. */
function isSeen(key: string, { owner, channel }: SessionFilter): boolean {
  if (channel !== undefined) return key.startsWith(`${channel}:`);
  return owner === undefined || (OF_PERSON.exec(key)?.[1] ?? null) === owner;
}
