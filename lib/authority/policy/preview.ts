/**
 * What the gate would say of a tool call, without any effect: nothing is contacted, started, decrypted,
 * recorded or remembered (spec 5, G4). A host's addresses are unknown here and count as public, unless
 * somebody hands them in.
 *
 * @module
 */

import { ServiceError } from "../../errors.ts";
import { findTool, TOOLS } from "../../tools/mod.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ActionContext, Decision, ResolvedAction } from "../actions.ts";
import { decide, decideBeforeLookup, type Policy } from "./policy.ts";
import type { Workspace } from "../resolve/resolve.ts";
import { checkArgs, resolveTouch, sealAction } from "../resolve/resolve_touch.ts";

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
}

/** Previews a call. Throws `invalid_request` for a tool or arguments that would never get to the gate. */
export async function previewAction(
  { tool: name, args, context, addresses }: PreviewRequest,
  { policy, workspace, tools = TOOLS }: {
    policy: Policy;
    workspace: Workspace;
    /** Those of the configuration; without it none that needs settings. */
    tools?: readonly Tool[];
  },
): Promise<Preview> {
  const tool = findTool(name, tools);
  if (tool === undefined) {
    const known = tools.map((each) => each.name).join(", ");
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
  let target = await resolveTouch(tool, checked.args, workspace);
  if (target.kind === "url" && target.addresses.length === 0 && addresses !== undefined) {
    target = { ...target, addresses };
  }
  const action = sealAction(tool, checked.args, target);
  const beforeLookup = target.kind === "url" && target.addresses.length === 0 &&
    addresses === undefined;
  const decision = (beforeLookup ? decideBeforeLookup : decide)(action, context, policy);
  return { action, decision, beforeLookup };
}
