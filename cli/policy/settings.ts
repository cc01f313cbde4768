/**
 * The policy of a configuration as a command sees it: nothing is started, and of the state only names and
 * scopes of secrets are read.
 *
 * @module
 */

import { toErrorData } from "../../lib/base/errors.ts";
import type { Policy } from "../../lib/policy/policy.ts";
import { execMode, policySettings } from "../../lib/policy/policy_settings.ts";
import { ownListeners } from "../../lib/policy/resolve/own_listeners.ts";
import type { Workspace } from "../../lib/policy/resolve/resolve.ts";
import { realPathOf } from "../../lib/base/real_path.ts";
import type { Config } from "../../lib/config/schema.ts";
import { createTools } from "../../lib/tools/mod.ts";
import type { Tool } from "../../lib/contract/tool.ts";
import type { PolicyDeps } from "./deps.ts";

/** A policy without grants and latches, and the workspace that it speaks of. */
export async function commandPolicy(
  config: Config,
  deps: PolicyDeps,
): Promise<
  {
    policy: Policy;
    workspace: Workspace;
    tools: readonly Tool[];
    mcpServers: readonly string[];
    sandbox: string;
  }
> {
  const path = config.agent.workspace;
  const workspace = { path, real: realPathOf(path) };
  const found = await deps.findSandbox();
  const { allowUnconfined } = config.executor;
  const settings = await policySettings({
    gates: config.gates,
    commandHosts: config.executor.hosts,
    mcp: config.mcp,
    tools: config.tools,
    paths: deps.paths,
    workspace: workspace.real,
    confined: found.confined,
    exec: execMode({ ...found, allowUnconfined }),
  });
  return {
    policy: {
      ...settings,
      grants: [],
      latched: [],
      ...secretsOf(deps),
      canAsk: true,
      listeners: ownListeners([config.api.port, config.channels.websocket.port]),
      stateDamaged: undefined,
    },
    workspace,
    tools: createTools(config.tools),
    mcpServers: Object.keys(config.mcp.servers),
    sandbox: found.confined ? `bubblewrap (${found.reason}), not tried` : `none: ${found.reason}`,
  };
}

function secretsOf({ secrets }: PolicyDeps): Pick<Policy, "secrets" | "secretsDamaged"> {
  try {
    return { secrets: secrets(), secretsDamaged: undefined };
  } catch (error) {
    return { secrets: [], secretsDamaged: toErrorData(error).message };
  }
}
