/**
 * From a checked tool call to the action that it is: what it touches, resolved, and its digest.
 *
 * @module
 */

import type { Tool } from "../contract/tool.ts";
import type { ResolvedAction, Target } from "../contract/actions.ts";
import { canonicalJson } from "../base/canonical_json.ts";
import { sha256Hex } from "../base/sha256.ts";
import { type FindOffered, resolveMcp } from "./mcp_tool.ts";
import { isObeyedByGit } from "../executor/git_folder.ts";
import { isInside } from "../base/inside.ts";
import { resolveAutomation } from "./resolve_automation.ts";
import { resolveChat, type Sender } from "./resolve_chat.ts";
import { resolvePath, resolveUrl, type Workspace } from "../policy/resolve/resolve.ts";
import { resolveCommand } from "../policy/resolve/resolve_command.ts";

/**
 * What a tool call touches. Looks at the file system; contacts nobody and starts nothing. `find` knows
 * what MCP servers offer at this moment.
 */
export async function resolveTouch(
  tool: Tool,
  args: unknown,
  workspace: Workspace,
  { find, from }: {
    find?: FindOffered;
    /** The turn that calls it. */
    from: Sender;
  },
): Promise<Target> {
  const touch = tool.touches(args);
  switch (touch.kind) {
    case "path": {
      const target = await resolvePath(touch.path, touch.access, workspace);
      const isWritten = target.kind === "path" && target.access === "write";
      if (!isWritten || !isInside(target.real, workspace.real)) return target;
      const obeyed = await isObeyedByGit(target.real, workspace.real);
      return obeyed ? { ...target, obeyedByGit: true } : target;
    }
    case "url":
      return resolveUrl(touch.url, touch.headers);
    case "chat":
      return await resolveChat(touch, from, workspace);
    case "command":
      return await resolveCommand(touch, workspace);
    case "mcp":
      return resolveMcp(touch, tool.name, find);
    case "automation":
      return resolveAutomation(touch, from);
  }
}

/** The action with the digest that an approval binds. */
export function sealAction(
  tool: Pick<Tool, "name" | "capability">,
  args: unknown,
  target: Target,
): ResolvedAction {
  const { name, capability } = tool;
  const digest = sha256Hex(canonicalJson({ tool: name, capability, args, target }));
  return { tool: name, capability, args, target, digest };
}

/** The arguments as the tool's schema gives them, or what is wrong with them. */
export function checkArgs(tool: Tool, args: unknown): { args: unknown } | { problem: string } {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    const got = typeof args === "string" ? "text that is no JSON object" : JSON.stringify(args);
    return { problem: `Arguments of ${tool.name}: expected a JSON object, got ${got}` };
  }
  const parsed = tool.schema.safeParse(args);
  if (parsed.success) return { args: parsed.data };
  const issues = parsed.error.issues.slice(0, 5).map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`
  );
  return { problem: `Arguments of ${tool.name}: ${issues.join("; ")}` };
}
