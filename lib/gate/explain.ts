/**
 * What would change a decision, in a sentence for the operator.
 *
 * @module
 */

import { DEFAULT_RULES, FIXED_RULES } from "../policy/default_rules.ts";
import type { Policy } from "../policy/policy.ts";
import type { Preview } from "./preview.ts";
import type { ActionContext } from "../contract/actions.ts";
import { remedy } from "../policy/refusal.ts";

/** Where a rule stands. */
export type RuleSource = "fixed" | "gates.rules" | "default" | "state";

/** Fixed rules that go by what the operator can set elsewhere. */
const MENDABLE = new Set(["fetch.private", "secret.scope", "secret.unknown"]);

/** Where the rule of a decision stands; `state` for grants, latches and who is there. */
export function ruleSource(name: string, policy: Pick<Policy, "rules">): RuleSource {
  if (FIXED_RULES.some((rule) => rule.name === name)) return "fixed";
  if (DEFAULT_RULES.some((rule) => rule.name === name)) return "default";
  return policy.rules.some((rule) => rule.name === name) ? "gates.rules" : "state";
}

/** What would change the decision. */
export function whatWouldChange(
  { action, decision }: Pick<Preview, "action" | "decision">,
  context: ActionContext,
  policy: Pick<Policy, "rules">,
): string {
  const { effect, rule } = decision;
  const source = ruleSource(rule, policy);
  if (source === "gates.rules") {
    const place = policy.rules.findIndex(({ name }) => name === rule);
    const own = `Another gates.rules[${place}] "${rule}", or a rule before it.`;
    return effect === "ask" ? `${own} ${remedy(action, decision, context)}` : own;
  }
  if (effect === "allow") {
    return source === "state"
      ? "The end of that grant: service grants list."
      : "A rule in gates.rules that asks about it or denies it.";
  }
  if (rule === "exec.off") {
    return "A sandbox that works (service doctor), or executor.allowUnconfined.";
  }
  if (source === "default" && effect === "deny") {
    return "A rule in gates.rules that names it without wildcards. No grant, and no approval.";
  }
  if (source === "fixed" && !MENDABLE.has(rule)) return "Nothing: no rule can change it.";
  return remedy(action, decision, context);
}
