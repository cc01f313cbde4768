/**
 * From a decided action to its child: exactly the permissions and the view that its target needs.
 *
 * @module
 */

import type { Tool } from "../contract/tool.ts";
import type { ActionContext, PathTarget, ResolvedAction, UrlTarget } from "../contract/actions.ts";
import { addressPort, closedRangesWithout } from "../base/addresses.ts";
import { type ChildPermissions, NO_PERMISSIONS } from "./command.ts";
import type { ChildJob } from "./executor.ts";
import type { SandboxView } from "./sandbox.ts";
import { isInside } from "../base/inside.ts";

/** What every job of a gate shares. */
export interface JobSettings {
  /** Real path. */
  workspace: string;
  maxOutputBytes: number;
}

const NO_FILES: SandboxView = { readOnly: [], readWrite: [], network: false };
const RESOLVE_TIMEOUT_MS = 10_000;

/**
 * The child of an action that was allowed, in a turn that may have workers. Throws on a target that no child
 * may have.
 */
export function actionJob(
  { tool, args, target }: ResolvedAction,
  { timeoutMs, childSettings: settings, sharesProcess }: Pick<
    Tool,
    "timeoutMs" | "childSettings" | "sharesProcess"
  >,
  { workspace, maxOutputBytes }: JobSettings,
  turn?: Pick<ActionContext, "sessionKey" | "turnId">,
): ChildJob {
  const shared = { tool, args, target, workspace, maxOutputBytes };
  const task = settings === undefined ? shared : { ...shared, settings };
  switch (target.kind) {
    case "path":
      return {
        ...{ task, timeoutMs, ...pathNeeds(target, workspace) },
        ...sharesProcess && turn && isInside(target.real, workspace) &&
          { worker: workerNeeds(target, workspace, turn) },
      };
    case "url":
      return { task, timeoutMs, ...urlNeeds(target) };
    case "chat":
      throw new Error(`Cannot run ${tool} in a child: messages go to the outbox`);
    case "command":
      throw new Error(`Cannot run ${tool} in a child: commands have a sandbox of their own`);
    case "mcp":
      throw new Error(`Cannot run ${tool} in a child: its server has one`);
    case "automation":
      throw new Error(`Cannot run ${tool} in a child: the service makes automations`);
    case "secret":
      throw new Error(`Cannot run ${tool} in a child: a secret is given to what uses it`);
    case "unresolved":
      throw new Error(`Cannot run ${tool}: its target is not resolved`);
  }
}

/** A child that looks up the addresses of a host and can do nothing else. */
export function resolverJob(
  target: UrlTarget,
  { workspace, maxOutputBytes }: JobSettings,
): ChildJob {
  const tool = "resolve_host";
  return {
    task: { tool, args: {}, target, workspace, maxOutputBytes },
    permissions: { ...NO_PERMISSIONS, net: [target.host] },
    view: { ...NO_FILES, network: true },
    timeoutMs: RESOLVE_TIMEOUT_MS,
  };
}

function pathNeeds(
  target: PathTarget,
  workspace: string,
): { permissions: ChildPermissions; view: SandboxView } {
  const { real, folder, access } = target;
  // The whole workspace is bound, and Deno's permission is the narrower one: a name in it that is
  // swapped for a link then leads to nothing, where a binding of that name would follow it.
  const bound = isInside(real, workspace) ? workspace : folder.real;
  if (access === "read") {
    return {
      permissions: { ...NO_PERMISSIONS, read: [real] },
      view: { ...NO_FILES, readOnly: [bound] },
    };
  }
  // A file is written beside its place and renamed, and missing folders on the way are made.
  return {
    permissions: { ...NO_PERMISSIONS, read: [folder.real], write: [folder.real] },
    view: { ...NO_FILES, readWrite: [bound] },
  };
}

/** What it may do does not depend on the file, so that all files have one. Its view is the action's. */
function workerNeeds(
  { access }: PathTarget,
  workspace: string,
  { sessionKey, turnId }: Pick<ActionContext, "sessionKey" | "turnId">,
): NonNullable<ChildJob["worker"]> {
  const write = access === "write" ? [workspace] : [];
  return { sessionKey, turnId, permissions: { ...NO_PERMISSIONS, read: [workspace], write } };
}

function urlNeeds(target: UrlTarget): { permissions: ChildPermissions; view: SandboxView } {
  const { addresses, port } = target;
  return {
    permissions: {
      ...NO_PERMISSIONS,
      net: addresses.map((address) => addressPort(address, port)),
      denyNet: closedRangesWithout(addresses),
    },
    view: { ...NO_FILES, network: true },
  };
}
