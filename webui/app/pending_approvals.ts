/**
 * What waits for a person to approve, looked at again and again: the window says so out of sight, too.
 *
 * @module
 */

import { effect, signal } from "@preact/signals";
import { type Answer, ask } from "../api/client.ts";
import { may } from "../api/session.ts";

/** Those that wait, oldest first; undefined until it is known. */
export const pendingApprovals = signal<Answer<"approvals.list">["approvals"] | undefined>(
  undefined,
);

const LOOK_MS = 10_000;

/** Looks now. */
export async function lookAtApprovals(): Promise<void> {
  if (!may("approvals.list")) return;
  const answer = await ask("approvals.list", {}).catch(() => undefined);
  if (answer !== undefined) pendingApprovals.value = answer.approvals;
}

effect(() => {
  if (!may("approvals.list")) return;
  void lookAtApprovals();
  const timer = setInterval(lookAtApprovals, LOOK_MS);
  document.addEventListener("visibilitychange", lookAtApprovals);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", lookAtApprovals);
  };
});
