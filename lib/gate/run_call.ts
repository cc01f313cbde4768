/**
 * Runs a call that was allowed, on record before and after it: in a child, as a command, with an MCP
 * server, or as a message in the outbox. Secrets are revealed last, to what uses them alone.
 *
 * @module
 */

import { toErrorData } from "../base/errors.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import type { AutomationWriter, OutboxPort } from "../contract/ports.ts";
import type { Tool } from "../contract/tool.ts";
import type {
  ActionContext,
  ActionPort,
  ActionResult,
  CommandTarget,
} from "../contract/actions.ts";
import type { AuditLog } from "../audit/log.ts";
import { callMcp } from "./call_mcp.ts";
import { actionJob, type JobSettings } from "../executor/child_job.ts";
import type { Commands } from "../executor/commands.ts";
import type { Executor } from "../executor/executor.ts";
import type { McpServers } from "../mcp_servers/mcp_servers.ts";
import type { SandboxNetwork, SandboxNetworkOptions } from "../executor/network/open_network.ts";
import { makeAutomation } from "./make_automation.ts";
import { noNetworkNotes, refusalNotes } from "./network_notes.ts";
import type { AllowedCall } from "./judge_call.ts";
import { readPage } from "./read_page.ts";
import { recordCall } from "./record_call.ts";
import { failed, outcomeResult } from "./results.ts";
import type { Workspace } from "../policy/resolve/resolve.ts";
import { revealSecrets, secretEnv, withSecretHeaders } from "./reveal_secrets.ts";
import { type CommandRan, runCommand } from "./run_command.ts";
import { sendMessage } from "./send_message.ts";
import type { SecretStore } from "../state/secret_store.ts";

/** What calls run with. */
export interface RunDeps {
  audit: AuditLog;
  now?: () => number;
  outbox: OutboxPort;
  /** Where approved automations go; without it there are none. */
  automations?: AutomationWriter;
  executor: Executor;
  commands: Commands;
  workspace: Workspace;
  settings: JobSettings;
  /** Deno's folder of packages, for reading pages; the binary needs none. */
  denoDir?: string;
  /** Without them no tool of theirs is found. */
  mcp?: Pick<McpServers, "call">;
  secretStore?: Pick<SecretStore, "reveal">;
  /** Takes secrets out of what is cut. */
  scrubber?: Pick<Scrubber, "text">;
  /** Opens the way of one command to its hosts; without it no command has one. */
  openNetwork?: (options: SandboxNetworkOptions) => Promise<SandboxNetwork>;
}

/** A call and its turn. */
export interface RunnableCall {
  tool: Pick<Tool, "name" | "timeoutMs" | "childSettings" | "sharesProcess">;
  call: AllowedCall;
  context: ActionContext;
  options: Parameters<ActionPort["act"]>[1];
}

/** How a call ended: a result, or where its fetch wants to go on. */
export type Ran = ActionResult | { redirect: string };

/** Runs it. Rejects with the signal's reason, or with `audit_unavailable` before anything ran. */
export async function runCall(runnable: RunnableCall, deps: RunDeps): Promise<Ran> {
  const { call, context, options: { signal } } = runnable;
  signal.throwIfAborted();
  const record = await recordCall(deps, call, context);
  try {
    const { result, facts } = await run(runnable, deps);
    return await record.end(result, facts);
  } catch (error) {
    await record.cut(error);
    throw error;
  }
}

async function run(
  { tool, call, context, options }: RunnableCall,
  deps: RunDeps,
): Promise<{ result: Ran; facts?: Record<string, unknown> }> {
  const { action } = call.main;
  const { args, target } = action;
  const { maxOutputBytes } = deps.settings;
  switch (target.kind) {
    case "chat":
      // Once handed over it cannot be called back: an end of the turn from then on changes nothing.
      options.signal.throwIfAborted();
      return await sendMessage({ args, target, context, files: call.files, tool, options }, deps);
    case "automation":
      options.signal.throwIfAborted();
      return await makeAutomation({
        target,
        context,
        writer: deps.automations,
        timeoutMs: tool.timeoutMs,
      });
    case "command":
      return await runWithNetwork({ target, context, call, args, options }, deps);
    case "mcp": {
      if (deps.mcp === undefined) throw new Error(`Cannot call ${tool.name}: there are no servers`);
      const { mcp, scrubber } = deps;
      return {
        result: await callMcp({ ...options, args, target, mcp, scrubber, maxOutputBytes }),
      };
    }
    case "url":
    case "path":
    case "secret":
    case "unresolved": {
      const filled = target.kind === "url"
        ? withSecretHeaders(target, revealSecrets(call, deps.secretStore))
        : target;
      const job = actionJob({ ...action, target: filled }, tool, deps.settings, context);
      const outcome = await deps.executor.run(job, options);
      if (outcome.type === "page") {
        const { executor, denoDir } = deps;
        const { signal } = options;
        return { result: await readPage(outcome, { executor, denoDir, maxOutputBytes, signal }) };
      }
      return { result: outcomeResult(outcome, tool.name, maxOutputBytes) };
    }
  }
}

/** Runs a command, with the way to its hosts open for as long as it runs. */
async function runWithNetwork(
  { target, context, call, args, options }: Pick<RunnableCall, "context" | "call" | "options"> & {
    target: CommandTarget;
    args: unknown;
  },
  deps: RunDeps,
): Promise<CommandRan> {
  const { workspace, commands, settings: { maxOutputBytes } } = deps;
  const env = secretEnv(revealSecrets(call, deps.secretStore));
  const run = { ...options, args, target, env, workspace, commands, maxOutputBytes };
  // Without a sandbox nothing holds a command back, and a proxy would promise what it cannot keep.
  const { mode } = await commands.mode();
  if (mode !== "sandboxed") return await runCommand(run);
  if (target.hosts === undefined) return await runCommand({ ...run, notes: noNetworkNotes });
  const { openNetwork } = deps;
  if (openNetwork === undefined) {
    return {
      result: failed("executor_fault", "The command did not run: commands reach no hosts here"),
      facts: {},
    };
  }
  const { hosts } = target;
  const { sessionKey, turnId, callId } = context;
  let network: SandboxNetwork | undefined;
  return await runCommand({
    ...run,
    notes: (output) => refusalNotes(network?.refusals() ?? [], output),
    openNetwork: async (signal) => {
      try {
        const user = { kind: "exec", sessionKey, turnId, callId } as const;
        return network = await openNetwork({ hosts, user, signal });
      } catch (error) {
        signal.throwIfAborted();
        throw new Error(`the way to its hosts cannot be opened: ${toErrorData(error).message}`);
      }
    },
  });
}
