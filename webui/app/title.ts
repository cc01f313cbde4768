/**
 * What the window is called: the page, behind how many actions wait for a person.
 *
 * @module
 */

import { effect, signal } from "@preact/signals";
import { pendingApprovals } from "./pending_approvals.ts";

/** What is in sight; empty for a chat without a title. */
export const pageTitle = signal("");

effect(() => {
  const count = pendingApprovals.value?.length ?? 0;
  const named = pageTitle.value === "" ? "service" : `${pageTitle.value} · service`;
  document.title = count === 0 ? named : `(${count}) ${named}`;
});
