/**
 * Whose rights children have where the service is root. A user namespace hides that a child is root, but
 * the kernel knows: whatever it asks of the user alone is granted. So where the workspace belongs to
 * another user, children are that user.
 *
 * A root's bubblewrap makes their sandbox then, with no namespace of users, and setpriv gives up the rest.
 *
 * @module
 */

import { type ChildUser, findProgram } from "./sandbox.ts";
import type { TriedSandboxes } from "./tried_sandboxes.ts";

/** Whose rights children have, and why. */
export interface FoundChildUser {
  /** Undefined: those of the service's own user. */
  user?: ChildUser;
  reason: string;
}

/** Finds it, and tries it out in a sandbox. */
export async function findChildUser(
  workspace: string,
  sandboxes: TriedSandboxes,
): Promise<FoundChildUser> {
  if (Deno.uid() !== 0) return { reason: "the service does not run as root" };
  const owner = await Deno.stat(workspace).catch(() => undefined);
  if (owner === undefined) return { reason: `"${workspace}" is not there` };
  const { uid, gid } = owner;
  if (uid === null || gid === null || uid === 0) return { reason: `root owns "${workspace}"` };
  const [{ bwrap, reason }, setpriv] = await Promise.all([
    sandboxes.find(),
    findProgram("setpriv"),
  ]);
  if (bwrap === undefined) return { reason };
  if (setpriv === undefined) return { reason: "setpriv of util-linux is missing" };
  const user = { uid, gid, setpriv };
  const tried = await sandboxes.of(user);
  if (!("problem" in tried)) return { user, reason: `"${workspace}" belongs to the user ${uid}` };
  return { reason: `a child cannot be the user ${uid}: ${tried.problem}` };
}
