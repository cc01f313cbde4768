/**
 * What a chat is told in words that no model has said.
 *
 * @module
 */

import type { ApprovalBrief, ApprovalOutcome, ApprovalView } from "../contract/actions.ts";
import type { TurnStatus } from "../contract/events.ts";

/** What waits for a person, and how to answer it. What isn't shown whole isn't approved here. Markdown. */
export function approvalWords(
  { id, digest, capability, tool, createdAt, expiresAt }: ApprovalView,
  { text, isWhole }: ApprovalBrief,
): string {
  const seconds = Math.max(1, Math.round((expiresAt - createdAt) / 1_000));
  return [
    `**Approval needed**: ${tool} (${capability})`,
    fenced(text),
    isWhole
      ? `Allow it within ${seconds} s: \`/approve ${id} ${digest.slice(0, 8)}\``
      : `Too long to be approved from a chat. Within ${seconds} s, see all of it with ` +
        `\`service approvals show ${id}\`, and allow it with \`service approvals approve ${id}\``,
    `Refuse it: \`/deny ${id}\``,
  ].join("\n\n");
}

/** How an approval came out, however that came: in this chat, in another, on the page, by the clock. */
export function resolvedWords(id: string, outcome: ApprovalOutcome): string {
  switch (outcome) {
    case "approved":
      return `Approved: ${id}.`;
    case "denied":
      return `Denied: ${id}.`;
    case "expired":
      return `Not answered in time: ${id}.`;
    case "void":
      return `Not needed any more: ${id}.`;
  }
}

/** How a turn came out that gave no whole answer; undefined for one that did. */
export function outcomeWords(status: TurnStatus, message: string | undefined): string | undefined {
  const reason = message?.trim().replace(/\.$/, "") ?? "";
  const because = reason === "" ? "." : `: ${reason}.`;
  switch (status) {
    case "done":
      return undefined;
    case "cancelled":
      return "Cancelled.";
    case "failed":
      return `This could not be answered${because}`;
    case "timed_out":
      return `This took too long and was ended${because}`;
    case "interrupted":
      return `This was interrupted${because} Please send it again.`;
  }
}

/** A block of code that nothing in the text can end. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
