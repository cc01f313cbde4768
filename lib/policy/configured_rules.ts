/**
 * The operator's own rules, `gates.rules`: from the values of the configuration to rules, with
 * everything that is wrong with them. They stand between what no rule can change and the default rules.
 *
 * @module
 */

import { CAPABILITIES, type Capability, type Decision } from "../contract/actions.ts";
import { DEFAULT_RULES, FIXED_RULES } from "./default_rules.ts";
import type { Rule } from "./policy.ts";
import { parsePattern, PATTERN_FORMS, patternKind, type TargetPattern } from "./target_pattern.ts";

/** One rule as it stands in the configuration. Absent lists mean any. */
export interface ConfiguredRule {
  name: string;
  effect: Decision["effect"];
  capabilities?: Capability[];
  /** Patterns of {@linkcode PATTERN_FORMS}, of the kind that the capabilities have. */
  targets?: string[];
  channels?: string[];
  actors?: string[];
  reason?: string;
}

/** What is wrong with a rule, and where: a path below `gates.rules`. */
export interface RuleProblem {
  path: (string | number)[];
  message: string;
}

/** Names that records use for something else. */
const RESERVED = new Set([
  ...[...FIXED_RULES, ...DEFAULT_RULES].map(({ name }) => name),
  "none",
  "state",
  "latched",
  "unattended",
  "nobody",
]);

/** Reads the rules, in order. With problems, `rules` is not to be used. */
export function readRules(
  configured: readonly ConfiguredRule[],
): { rules: Rule[]; problems: RuleProblem[] } {
  const problems: RuleProblem[] = [];
  const rules: Rule[] = [];
  const named = new Map<string, number>();
  for (const [index, one] of configured.entries()) {
    const first = named.get(one.name);
    if (RESERVED.has(one.name)) {
      problems.push({
        path: [index, "name"],
        message: `"${one.name}" is the name of a rule that is built in; expected another one`,
      });
    } else if (first !== undefined) {
      problems.push({
        path: [index, "name"],
        message: `"${one.name}" is the name of gates.rules[${first}] too; expected one of its own`,
      });
    } else named.set(one.name, index);
    const targets = readTargets(
      one,
      (path, message) => problems.push({ path: [index, ...path], message }),
    );
    rules.push({
      name: one.name,
      effect: one.effect,
      capabilities: one.capabilities,
      when: [],
      targets,
      careful: true,
      channels: one.channels,
      actors: one.actors,
      reason: one.reason ?? `gates.rules says so`,
    });
  }
  return { rules, problems };
}

function readTargets(
  { capabilities, targets }: ConfiguredRule,
  refuse: (path: (string | number)[], message: string) => void,
): TargetPattern[] | undefined {
  if (targets === undefined) return undefined;
  // Only a capability says whether "a:1" is a host with its port or a chat.
  const kinds = new Set((capabilities ?? CAPABILITIES).map(patternKind));
  const [kind] = kinds;
  if (kinds.size > 1 || kind === undefined) {
    const which = capabilities === undefined ? "every capability" : capabilities.join(", ");
    refuse(
      ["targets"],
      `targets of a rule for ${which} could not be told apart; expected capabilities of one kind: ` +
        "fs.read and fs.write, or one of net.fetch, message.send, exec, mcp.call and secret.use",
    );
    return [];
  }
  const patterns: TargetPattern[] = [];
  for (const [at, text] of targets.entries()) {
    const pattern = parsePattern(kind, text);
    if (pattern === undefined) {
      const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
      refuse(["targets", at], `${shown} is not ${PATTERN_FORMS[kind]}`);
    } else patterns.push(pattern);
  }
  return patterns;
}
