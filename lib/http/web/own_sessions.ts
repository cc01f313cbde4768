/**
 * Which sessions a caller may see and touch: those of the own workspace. What is in another one is
 * answered exactly as what is not there.
 *
 * @module
 */

import { CHAT_CHANNEL, chatOwner } from "../../contract/chat_session.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Journal, Session } from "../../contract/journal.ts";
import type { Caller } from "./web_route.ts";

/** The beginning of every key in the workspace of a person. */
const OF_PERSON = new RegExp(`^${CHAT_CHANNEL}:([0-9a-f]{32})\\.`);

/** Characters of a key that are repeated in an error. */
const MAX_SHOWN_CHARS = 200;

/** Whose sessions are listed for a caller, as `Journal.sessions` takes it. */
export function ownerOf({ workspaceKey }: Pick<Caller, "workspaceKey">): string | null {
  return chatOwner(workspaceKey) ?? null;
}

/** The session of that key. Throws `not_found`, alike for one that is not there and one of others. */
export function ownSession(
  journal: Pick<Journal, "session">,
  key: string,
  caller: Pick<Caller, "workspaceKey">,
): Session {
  const session = isOwn(key, ownerOf(caller)) ? journal.session(key) : undefined;
  if (session === undefined) throw noSession(key);
  return session;
}

/** That there is no such session. */
export function noSession(key: string): ServiceError {
  const shown = JSON.stringify(key.slice(0, MAX_SHOWN_CHARS).toWellFormed());
  return new ServiceError("not_found", `There is no session ${shown}`, { param: "key" });
}

/** By the key alone, exactly as `Journal.sessions` lists them. Other channels have no workspaces. */
function isOwn(key: string, owner: string | null): boolean {
  return (OF_PERSON.exec(key)?.[1] ?? null) === owner;
}
