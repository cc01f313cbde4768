/**
 * An approval as a person at a terminal is shown it. Everything in it was made harmless by whoever
 * rendered it; what is cut there says so.
 *
 * @module
 */

import type { OperationResult } from "../../lib/operations/operations.ts";
import { lineEnds } from "../../lib/base/visible_text.ts";
import type { Span } from "../output.ts";
import { relativeTime } from "../time_text.ts";

/** Characters of the first line. */
const MAX_HEADLINE_CHARS = 300;

/** Lines of details after which the first line has scrolled away, and stands there again. */
const MANY_LINES = 20;

type Approval = OperationResult<"approvals.get">;

type Lines = (string | Span)[][];

/** What will happen, for the person in whose turn it is. */
export function actionLines(
  { capability, target, details }: Pick<Approval, "capability" | "target" | "details">,
): Lines {
  const headline: Span[] = [{
    text: `${capability} of ${lineEnds(target, MAX_HEADLINE_CHARS)}`,
    style: "bold",
    isData: true,
  }];
  const lines = details === "" ? [] : details.split("\n").map((line) => data(`  ${line}`));
  return [
    headline,
    ...lines,
    ...target.length > MAX_HEADLINE_CHARS ? [data(`  target: ${target}`)] : [],
    ...lines.length > MANY_LINES ? [headline] : [],
  ];
}

/** All of an approval, for somebody who answers from elsewhere. */
export function approvalLines(view: Approval, nowMs: number): Lines {
  const { id, digest, tool, session, channel, actor } = view;
  const [headline, ...action] = actionLines(view);
  return [
    headline!,
    [`  approval: ${id}, expires ${relativeTime(view.expires_at * 1000, nowMs)}`],
    data(`  asked by: ${tool} in ${session} (${channel}, ${actor})`),
    ...action,
    [`  digest: ${digest.slice(0, 8)} ${digest.slice(8)}`],
  ];
}

function data(text: string): Span[] {
  return [{ text, isData: true }];
}
