/**
 * Whose rights children have where the service is root. A user namespace hides that a child is root, but
 * the kernel knows: whatever it asks of the user alone is granted. So where the workspace belongs to
 * another user, children are that user.
 *
 * A root's bubblewrap makes their sandbox then, with no namespace of users, and setpriv gives up the rest.
 *
 * @module
 */

import {
  type ChildUser,
  findConfinement,
  findProgram,
  sandboxBase,
  sandboxView,
} from "./sandbox.ts";
import { EXEC_FILTERED, writeSeccompFilter } from "./seccomp_filter.ts";

/** Whose rights children have, and why. */
export interface FoundChildUser {
  /** Undefined: those of the service's own user. */
  user?: ChildUser;
  reason: string;
}

const PROBE_TIMEOUT_MS = 10_000;

/** Finds it, and tries it out in a sandbox; `folder` is one of ours. */
export async function findChildUser(
  { workspace, folder }: { workspace: string; folder: string },
): Promise<FoundChildUser> {
  if (Deno.uid() !== 0) return { reason: "the service does not run as root" };
  const owner = await Deno.stat(workspace).catch(() => undefined);
  if (owner === undefined) return { reason: `"${workspace}" is not there` };
  const { uid, gid } = owner;
  if (uid === null || gid === null || uid === 0) return { reason: `root owns "${workspace}"` };
  const [{ bwrap, reason }, setpriv] = await Promise.all([
    findConfinement(),
    findProgram("setpriv"),
  ]);
  if (bwrap === undefined) return { reason };
  if (setpriv === undefined) return { reason: "setpriv of util-linux is missing" };
  const user = { uid, gid, setpriv };
  const program = await Deno.realPath(Deno.execPath());
  const view = { readOnly: [], readWrite: [], network: false };
  const { success, stderr } = await new Deno.Command("/bin/sh", {
    args: [
      ...["-c", EXEC_FILTERED, await writeSeccompFilter(folder), bwrap],
      ...await sandboxBase(program, user),
      ...sandboxView(view, {}, { user }),
      ...[program, "--version"],
    ],
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  }).output();
  if (success) return { user, reason: `"${workspace}" belongs to the user ${uid}` };
  const said = new TextDecoder().decode(stderr).trim().split("\n").at(-1) ?? "";
  return { reason: `a child cannot be the user ${uid}: ${said}` };
}
