/**
 * What the gate would say of a tool call, without any effect: nothing is contacted, started, decrypted,
 * recorded or remembered (spec 5, G4). A host's addresses are unknown here and count as public, unless
 * somebody hands them in.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { findTool, TOOLS } from "../tools/mod.ts";
import type { Tool } from "../contract/tool.ts";
import type { ActionContext, Decision, ResolvedAction } from "../contract/actions.ts";
import { decide, decideBeforeLookup, type Policy } from "../policy/policy.ts";
import { mcpTool, parseMcpToolName } from "./mcp_tool.ts";
import type { Workspace } from "../policy/resolve/resolve.ts";
import { checkArgs, resolveTouch, sealAction } from "./resolve_touch.ts";
import { secretTarget } from "../policy/resolve/secret_target.ts";

/** A tool call as it may be asked about. */
export interface PreviewRequest {
  tool: string;
  args: unknown;
  context: ActionContext;
  /** Addresses that the host of a URL has, where they are known. */
  addresses?: readonly string[];
}

/** What would be decided, and of what. */
export interface Preview {
  action: ResolvedAction;
  decision: Decision;
  /** The host's addresses were not looked up; the real decision may be narrower. */
  beforeLookup: boolean;
  /** Each secret that the call asks for, an action of its own. */
  secrets: { action: ResolvedAction; decision: Decision }[];
}

/** Previews a call. Throws `invalid_request` for a tool or arguments that would never get to the gate. */
export async function previewAction(
  { tool: name, args, context, addresses }: PreviewRequest,
  { policy, workspace, tools = TOOLS, mcpServers = [] }: {
    policy: Policy;
    workspace: Workspace;
    /** Those of the configuration; without it none that needs settings. */
    tools?: readonly Tool[];
    /** Names of servers; none of them is asked, so a tool of theirs is taken at its name. */
    mcpServers?: readonly string[];
  },
): Promise<Preview> {
  const tool = findTool(name, tools) ?? findMcpTool(name, mcpServers);
  if (tool === undefined) {
    const known = [
      ...tools.map((each) => each.name),
      ...mcpServers.map((server) => `mcp__${server}__…`),
    ].join(", ");
    throw new ServiceError(
      "invalid_request",
      `tool: there is no tool "${name.slice(0, 100)}"; expected one of ${known}`,
      { param: "tool" },
    );
  }
  const checked = checkArgs(tool, args);
  if ("problem" in checked) {
    throw new ServiceError("invalid_request", checked.problem, { param: "args" });
  }
  if (tool.unavailable !== undefined) {
    throw new ServiceError("invalid_request", tool.unavailable, { param: "tool" });
  }
  let target = await resolveTouch(tool, checked.args, workspace, { from: context });
  if (target.kind === "url" && target.addresses.length === 0 && addresses !== undefined) {
    target = { ...target, addresses };
  }
  const action = sealAction(tool, checked.args, target);
  const beforeLookup = target.kind === "url" && target.addresses.length === 0 &&
    addresses === undefined;
  const decision = (beforeLookup ? decideBeforeLookup : decide)(action, context, policy);
  const secrets = (tool.secrets?.(checked.args) ?? []).flatMap((secret) => {
    const used = secretTarget(secret, target);
    if (used === undefined) return [];
    const use = sealAction({ name: tool.name, capability: "secret.use" }, checked.args, used);
    return [{ action: use, decision: decide(use, context, policy) }];
  });
  return { action, decision, beforeLookup, secrets };
}

function findMcpTool(name: string, servers: readonly string[]): Tool | undefined {
  const parsed = parseMcpToolName(name);
  return parsed !== undefined && servers.includes(parsed.server) ? mcpTool(parsed) : undefined;
}
