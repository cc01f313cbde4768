/**
 * An approval as a person at a terminal is shown it. Everything in it was made harmless by whoever
 * rendered it; what is cut there says so.
 *
 * @module
 */

import type { ApprovalView } from "../../lib/authority/actions.ts";
import type { Span } from "../output.ts";

/** The lines of an approval; `nowMs` for how long it still waits. */
export function approvalLines(view: ApprovalView, nowMs: number): (string | Span)[][] {
  const { id, digest, capability, tool, target, details, session, channel, actor } = view;
  const leftS = Math.max(0, Math.ceil((view.expiresAt - nowMs) / 1000));
  return [
    [{ text: `${capability} of ${target}`, style: "bold" }],
    [`  approval  ${id}, waits ${leftS} s more`],
    [`  asked by  ${tool} in ${session} (${channel}, ${actor})`],
    ...(details === "" ? [] : details.split("\n").map((line) => [`  ${line}`])),
    [`  digest    ${digest.slice(0, 8)} ${digest.slice(8)}`],
  ];
}
