/**
 * `service policy explain`: what the gate would say of a tool call, and why.
 *
 * @module
 */

import type { ActionContext, Target } from "../../lib/contract/actions.ts";
import { ruleSource, whatWouldChange } from "../../lib/gate/explain.ts";
import { automationFacts } from "../../lib/policy/automation_words.ts";
import type { Policy } from "../../lib/policy/policy.ts";
import { type Preview, previewAction } from "../../lib/gate/preview.ts";
import { describeRecipient, describeTarget } from "../../lib/policy/refusal.ts";
import { visibleLine } from "../../lib/base/visible_text.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { Output } from "../output.ts";
import { type PolicyDeps, readPolicyConfig } from "./deps.ts";
import { commandPolicy } from "./settings.ts";

/** What is asked. */
export interface ExplainInputs {
  tool: string;
  /** JSON, as typed. */
  args: string;
  /** The turn that would call it. */
  context: ActionContext;
  /** Look up the addresses of a URL's host. */
  resolve: boolean;
  json: boolean;
}

/** Prints the decision, the rule and what would change it. Throws `usage` for arguments that are no JSON. */
export async function explainPolicy(
  { tool, args, context, resolve, json }: ExplainInputs,
  out: Output,
  deps: PolicyDeps,
): Promise<void> {
  const config = await readPolicyConfig(deps);
  const { sandbox, ...by } = await commandPolicy(config, deps);
  const { policy } = by;
  const request = { tool, args: parseArgs(args), context };
  let preview = await previewAction(request, by);
  if (resolve && preview.beforeLookup && preview.action.target.kind === "url") {
    // As the gate does: a host that is refused anyway is not looked up.
    if (preview.decision.effect !== "deny") {
      const addresses = await deps.lookUp(preview.action.target.host, config);
      if ("reason" in addresses) {
        throw new ServiceError(
          "not_found",
          `Cannot look up "${preview.action.target.host}": ${addresses.reason}`,
        );
      }
      preview = await previewAction({ ...request, addresses }, by);
    }
  }
  const { beforeLookup, secrets } = preview;
  const explained = [preview, ...secrets].map((one) => explain(one, context, policy));
  if (json) {
    const [main, ...uses] = explained;
    out.json({ ...main, beforeLookup, sandbox, secrets: uses });
    return;
  }
  const color = { allow: "green", ask: "yellow", deny: "red" } as const;
  for (const { capability, target, decision, change } of explained) {
    const { effect, rule, source, reason } = decision;
    out.line({ text: effect, style: color[effect] }, `  ${capability}`);
    out.line({ text: `target:  ${describeTarget(target)}`, isData: true });
    for (const line of facts(target)) out.line({ text: `         ${line}`, isData: true });
    out.line(`rule:    ${rule} (${source}): ${reason}`);
    out.line(`change:  ${change}`);
  }
  if (beforeLookup && preview.decision.effect !== "deny") {
    out.note(
      "The host was not looked up, and its addresses count as public; --resolve looks it up",
    );
  }
  if (preview.action.target.kind === "mcp") {
    out.note("The server was not asked whether it has that tool, nor how it describes it");
  }
  out.note("Grants and denials of running sessions are not looked at");
}

function explain(
  { action, decision }: Pick<Preview, "action" | "decision">,
  context: ActionContext,
  policy: Policy,
) {
  const { digest: _, args: __, ...rest } = action;
  return {
    ...rest,
    decision: { ...decision, source: ruleSource(decision.rule, policy) },
    change: whatWouldChange({ action, decision }, context, policy),
  };
}

function parseArgs(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceError(
      "usage",
      `The arguments are no JSON: ${(cause as Error).message}; expected an object such as ` +
        `'{"path":"notes.md"}'`,
      { param: "json" },
      { cause },
    );
  }
}

/** What else the target really is. */
function facts(target: Target): string[] {
  switch (target.kind) {
    case "path":
      return [
        `to ${target.access}${target.file === undefined ? ", does not exist yet" : ""}` +
        (target.viaLink ? ", through a link" : "") +
        (target.file !== undefined && !target.file.isDirectory && target.file.links > 1
          ? `, with ${target.file.links} names`
          : ""),
      ];
    case "url":
      return [
        `host ${target.host}, port ${target.port}, ` +
        (target.addresses.length === 0
          ? "addresses unknown"
          : `addresses ${target.addresses.join(", ")}`),
      ];
    case "command":
      return [
        `program ${target.program}`,
        `in ${target.cwd}`,
        ...target.hosts === undefined ? [] : [`network: ${target.hosts.join(", ")}`],
      ];
    case "mcp":
      return [`server ${target.server}, tool ${target.tool}`];
    case "secret":
      return [`given to ${describeRecipient(target.recipient)}`];
    case "automation":
      return automationFacts(target.spec).map(visibleLine);
    case "chat":
    case "unresolved":
      return [];
  }
}
