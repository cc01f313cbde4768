/**
 * What waits for a person to approve, looked at again and again: the window says so out of sight, too.
 *
 * @module
 */

import { effect, signal } from "@preact/signals";
import { type Answer, ask } from "../api/client.ts";
import { may } from "../api/session.ts";
import { t } from "../locale.ts";
import { go } from "./router.ts";

/** Those that wait, oldest first; undefined until it is known. */
export const pendingApprovals = signal<Answer<"approvals.list">["approvals"] | undefined>(
  undefined,
);

const LOOK_MS = 10_000;

/** What is allowed in a session until this window is closed, each exactly as it was. */
const allowed = new Set<string>();

/** Ids that were looked at. */
let seen: ReadonlySet<string> = new Set();

/** Looks now. */
export async function lookAtApprovals(): Promise<void> {
  if (!may("approvals.list")) return;
  const answer = await ask("approvals.list", {}).catch(() => undefined);
  if (answer === undefined) return;
  const { approvals } = answer;
  pendingApprovals.value = approvals;
  const before = seen;
  seen = new Set(approvals.map(({ id }) => id));
  for (const { id, target } of approvals.filter(({ id }) => !before.has(id))) {
    if (!await isAllowed(id)) notify(target);
  }
}

/** Approves an action, and from now on each one like it in its session. */
export async function allowInSession(approval: Answer<"approvals.get">): Promise<void> {
  await ask("approvals.approve", { id: approval.id, digest: approval.digest });
  allowed.add(keyOf(approval));
}

/** Whether it was allowed before, and is approved by that. */
async function isAllowed(id: string): Promise<boolean> {
  if (allowed.size === 0) return false;
  try {
    const approval = await ask("approvals.get", { id });
    if (!allowed.has(keyOf(approval))) return false;
    await ask("approvals.approve", { id, digest: approval.digest });
    void lookAtApprovals();
    return true;
  } catch {
    // It was answered elsewhere.
    return false;
  }
}

function keyOf({ session, capability, grant }: Answer<"approvals.get">): string {
  return JSON.stringify([session, capability, grant]);
}

/** Says it outside of the window, where the person has asked for that. */
function notify(target: string): void {
  if (!document.hidden || globalThis.Notification?.permission !== "granted") return;
  try {
    const notification = new Notification(t.approvals.ask, { body: target });
    notification.onclick = () => {
      focus();
      go("approvals");
    };
  } catch {
    // Browsers of phones show none of a page.
  }
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
