/**
 * `service policy show`.
 *
 * @module
 */

import { ruleSource } from "../../lib/gate/explain.ts";
import { FIXED_RULES } from "../../lib/policy/default_rules.ts";
import type { Rule } from "../../lib/policy/policy.ts";
import { policyTestFile } from "../../lib/config/paths.ts";
import type { Output, Span } from "../output.ts";
import { printParagraph } from "../print_paragraph.ts";
import { type PolicyDeps, readPolicyConfig } from "./deps.ts";
import { withoutSecrets } from "../secrets/without_secrets.ts";
import { commandPolicy } from "./settings.ts";

/** Columns from which on names stand in a column of their own. */
const WIDE = 72;

/** Prints the rules in the order in which they are tried. */
export async function showPolicy(out: Output, deps: PolicyDeps, json: boolean): Promise<void> {
  const config = await readPolicyConfig(deps);
  const { policy, sandbox } = await commandPolicy(config, deps);
  // A host or a target may hold a secret as a part.
  const { privateHosts, messageTargets, mcpTools, workspace, ...shown } = withoutSecrets({
    privateHosts: policy.privateHosts,
    messageTargets: policy.messageTargets,
    mcpTools: policy.mcpTools,
    workspace: policy.workspace,
    commandHosts: policy.commandHosts.map(({ text }) => text),
    rules: [...FIXED_RULES, ...policy.rules].map((rule) => ({
      source: ruleSource(rule.name, policy),
      ...plain(rule),
    })),
  }, deps);
  const { commandHosts, rules } = shown;
  if (json) {
    out.json({
      rules: rules.map((rule, index) => ({ order: index + 1, ...rule })),
      privateHosts,
      messageTargets,
      commandHosts,
      mcpTools,
      workspace,
      sandbox,
      cases: policyTestFile(deps.paths),
    });
    return;
  }
  let source: string | undefined;
  const width = String(rules.length).length;
  const isWide = out.columns === undefined || out.columns >= WIDE;
  const names = isWide ? Math.max(...rules.map(({ name }) => name.length)) : 0;
  for (const [index, rule] of rules.entries()) {
    if (rule.source !== source) out.line({ text: HEADINGS[rule.source], style: "bold" });
    source = rule.source;
    const head: Span[] = [
      { text: `  ${String(index + 1).padStart(width)}  ` },
      { text: rule.effect.padEnd(5), style: COLORS[rule.effect] },
    ];
    printParagraph(out, head, `  ${rule.name.padEnd(names)}  ${describe(rule)}`, { indent: 6 });
  }
  out.line();
  printParagraph(
    out,
    { text: "" },
    "The first matching rule decides. In an unattended turn, an action that would be asked about " +
      "needs a grant for exactly that. A denied capability stays blocked in its session.",
    { indent: 0 },
  );
  const settings: [string, string][] = [
    ["gates.privateHosts", privateHosts.join(", ") || "none"],
    ["gates.messageTargets", messageTargets.join(", ") || "none"],
    ["executor.hosts", commandHosts.join(", ") || "none"],
    ["allow in mcp.servers", mcpTools.join(", ") || "none"],
    ["workspace", workspace],
    ["sandbox", sandbox],
  ];
  for (const [name, value] of settings) printParagraph(out, { text: `${name}: ` }, value);
}

const HEADINGS = {
  "fixed": "No rule can change these",
  "gates.rules": "gates.rules",
  "default": "Default rules",
  "state": "",
};
const COLORS = { allow: "green", ask: "yellow", deny: "red" } as const;

function plain({ name, effect, capabilities, when, targets, channels, actors, reason }: Rule) {
  const texts = targets?.map(({ text }) => text);
  return { name, effect, capabilities, when, targets: texts, channels, actors, reason };
}

function describe(
  { capabilities, targets, channels, actors, reason }: ReturnType<typeof plain>,
): string {
  const parts = [
    capabilities?.join(", ") ?? "anything",
    targets && `on ${targets.join(", ")}`,
    channels && `from ${channels.join(", ")}`,
    actors && `by ${actors.join(", ")}`,
  ].filter((part) => part !== undefined);
  return `${parts.join(" ")}: ${reason}`;
}
