/**
 * An approval as a person at a terminal is shown it. Everything in it was made harmless by whoever
 * rendered it; what is cut there says so.
 *
 * @module
 */

import type { OperationResult } from "../../lib/operations/operations.ts";
import { lineEnds } from "../../lib/base/visible_text.ts";
import type { Span } from "../output.ts";

/** Characters of the first line. */
const MAX_HEADLINE_CHARS = 300;

/** Lines of details after which the first line has scrolled away, and stands there again. */
const MANY_LINES = 20;

/** The lines of an approval; `nowMs` for how long it still waits. */
export function approvalLines(
  view: OperationResult<"approvals.get">,
  nowMs: number,
): (string | Span)[][] {
  const { id, digest, capability, tool, target, details, session, channel, actor } = view;
  const leftS = Math.max(0, Math.ceil(view.expires_at - nowMs / 1000));
  const headline: Span[] = [{
    text: `${capability} of ${lineEnds(target, MAX_HEADLINE_CHARS)}`,
    style: "bold",
    isData: true,
  }];
  const data = (text: string): Span[] => [{ text, isData: true }];
  const lines = details === "" ? [] : details.split("\n").map((line) => data(`  ${line}`));
  return [
    headline,
    [`  approval  ${id}, waits ${leftS} s more`],
    data(`  asked by  ${tool} in ${session} (${channel}, ${actor})`),
    ...lines,
    ...target.length > MAX_HEADLINE_CHARS ? [data(`  target    ${target}`)] : [],
    ...lines.length > MANY_LINES ? [headline] : [],
    [`  digest    ${digest.slice(0, 8)} ${digest.slice(8)}`],
  ];
}
