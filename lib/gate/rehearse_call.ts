/**
 * A tool call in the turn of a dry run: judged as in a run of the automation, noted, and never run.
 *
 * What the model is told repeats nothing that it chose, such as a URL: as what a tool said, that could be
 * fetched unasked in a later turn of the session.
 *
 * @module
 */

import type { Tool } from "../contract/tool.ts";
import type { ActionContext, ActionResult, Target } from "../contract/actions.ts";
import type { Judge, Previewed } from "./judge.ts";
import { type Needs, usesOf } from "./judge_call.ts";
import { describeTarget } from "../policy/refusal.ts";
import type { Workspace } from "../policy/resolve/resolve.ts";
import { visibleLine } from "../base/visible_text.ts";
import type { Commissions } from "../approvals/commission/commissions.ts";
import type { PreviewedAction, PreviewedEffect } from "../contract/finding.ts";

/** What rehearsing needs. */
export interface RehearseDeps {
  judge: Pick<Judge, "preview">;
  /** Absent: nothing can be rehearsed here. */
  commissions?: Pick<Commissions, "objection" | "note">;
  workspace: Workspace;
}

/** A call with its target and what it needs beside its own action. */
export interface RehearsedCall {
  tool: Pick<Tool, "name" | "capability">;
  args: unknown;
  target: Target;
  needs: Needs;
  context: ActionContext;
}

/** Longest target and reason that a finding keeps in words, characters. */
const MAX_TARGET_CHARS = 1_000;
const MAX_REASON_CHARS = 500;

/** Previews a call and notes what came of it. */
export async function rehearseCall(
  { tool, args, target, needs, context: asked }: RehearsedCall,
  { judge, commissions, workspace }: RehearseDeps,
): Promise<ActionResult> {
  const objection = commissions === undefined
    ? "there are no dry runs here"
    : commissions.objection(asked);
  if (objection !== undefined) {
    const message = `Refused: ${objection}`;
    return {
      status: "refused",
      output: `${message}. Nothing ran.`,
      error: { code: "refused", message },
    };
  }
  // A run of it is never attended, whoever has commissioned this.
  const context = { ...asked, attended: false };
  const whole = { tool, args, target, context };
  const uses = await usesOf(needs, {
    ...whole,
    options: { signal: new AbortController().signal, onProgress() {} },
    resolve: () => Promise.resolve(target),
  }, workspace);
  const previews = [await judge.preview(whole)];
  for (const use of uses) previews.push(await judge.preview(use));
  const effects = previews.map(effectOf);
  const isDenied = effects.includes("deny");
  for (const [at, preview] of previews.entries()) {
    const note = noteOf(preview, effects[at]!);
    // A call that can never run needs no grant for its other parts.
    const useless = isDenied && note.effect === "grant";
    commissions!.note(
      asked.rehearsal!,
      useless
        ? { ...note, effect: "deny", reason: "the same call is denied for another reason" }
        : note,
    );
  }
  return told(previews, effects);
}

function effectOf({ decision, grant }: Previewed): PreviewedEffect {
  if (decision.effect === "allow") return "allow";
  return grant === undefined ? "deny" : "grant";
}

function noteOf(
  { action, decision, grant }: Previewed,
  effect: PreviewedEffect,
): Omit<PreviewedAction, "count"> {
  return {
    tool: action.tool,
    capability: action.capability,
    target: grant ?? cut(describeTarget(action.target), MAX_TARGET_CHARS),
    effect,
    rule: decision.rule,
    reason: cut(visibleLine(decision.reason), MAX_REASON_CHARS),
  };
}

/** The worst of them counts: a call needs all that it asks for. */
function told(
  previews: readonly Previewed[],
  effects: readonly PreviewedEffect[],
): ActionResult {
  const capabilities = (effect: PreviewedEffect) =>
    [
      ...new Set(
        previews.filter((_, at) => effects[at] === effect)
          .map(({ action }) => action.capability),
      ),
    ].join(" and ");
  const denied = capabilities("deny");
  if (denied !== "") {
    const rule = previews[effects.indexOf("deny")]!.decision.rule;
    const message = `Refused: ${denied} (rule ${rule}); no grant can allow it in a run`;
    return {
      status: "refused",
      output: `[Dry run: nothing ran.] ${message}. Go on with the steps that do not need it.`,
      error: { code: "refused", message },
    };
  }
  const needed = capabilities("grant");
  const would = needed === ""
    ? "In a run it would be allowed."
    : `In a run it would need a grant of ${needed} for exactly this, and an operator can give it ` +
      "after this dry run.";
  return {
    status: "ok",
    output:
      `[Dry run: nothing ran, and there is no output.] ${would} Go on with the next steps as ` +
      "if it had succeeded; where you would use its output, say what you would do with it.",
  };
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`;
}
