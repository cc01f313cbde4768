/**
 * The gate: every tool call passes here. Checked, resolved, decided, recorded, run in a child of its
 * own, recorded again (decisions E1).
 *
 * @module
 */

import { isAbsolute } from "@std/path";
import type { NamedSecret } from "../config/redact.ts";
import type { Config } from "../config/schema.ts";
import { ServiceError, toErrorData } from "../errors.ts";
import type { Log } from "../log.ts";
import type { OutboxPort } from "../service/bridge.ts";
import { findTool, TOOLS } from "../tools/mod.ts";
import type { Tool } from "../tools/tool.ts";
import type {
  ActionContext,
  ActionPort,
  ActionRequest,
  ActionResult,
  Decision,
  ResolvedAction,
  Target,
  UrlTarget,
} from "./actions.ts";
import type { Approvals } from "./approvals/approvals.ts";
import type { AuditLog } from "./audit/log.ts";
import { actionJob, type JobSettings, resolverJob } from "./child_job.ts";
import type { CommandConfig, CommandMode, Commands } from "./executor/commands.ts";
import { createCommands } from "./executor/commands.ts";
import { createExecutor, type Executor } from "./executor/executor.ts";
import { Judge } from "./policy/judge.ts";
import type { Operator } from "./approvals/operate.ts";
import type { PolicySettings } from "./policy/policy.ts";
import { type OwnPaths, type PolicyInputs, policySettings } from "./policy/policy_settings.ts";
import { recordAction } from "./record_action.ts";
import { describeTarget } from "./policy/refusal.ts";
import { resolveUrl, type Workspace } from "./resolve/resolve.ts";
import { checkArgs, resolveTouch } from "./resolve/resolve_touch.ts";
import { failed, outcomeResult } from "./results.ts";
import { runCommand } from "./run_command.ts";
import { createSecretScrubber, type SecretScrubber } from "./scrub_secrets.ts";
import { sendMessage } from "./send_message.ts";
import type { OperatorState } from "./state/operator_state.ts";

/** The action port with what the authority needs to look after it. */
export interface Actions extends ActionPort {
  /** For GET /ready. With `test` the sandbox of commands is tried out, else nothing is started. */
  checks(options: { test: boolean }): Promise<Record<string, Check>>;
  counts(): { running: number; waiting: number };
  /** Kills every child and resolves when all are gone; actions end as failed from now on. */
  shutdown(): Promise<void>;
}

/** One finding for GET /ready. */
export interface Check {
  ok: boolean;
  detail: string;
}

/** What the gate works with. */
export interface ActionsOptions {
  config: {
    agent: Pick<Config["agent"], "workspace">;
    gates: PolicyInputs["gates"];
    executor: CommandConfig;
  };
  paths: OwnPaths;
  /** Real path of a folder that exists. */
  workspace: string;
  audit: AuditLog;
  /** Grants and latches. */
  state: Pick<OperatorState, "grants" | "latches" | "damaged">;
  /** Where actions wait for a person. */
  approvals: Pick<Approvals, "request">;
  /** Whether there is a person who could answer. */
  canAsk: Operator["canAsk"];
  /** Where allowed messages go. */
  outbox: OutboxPort;
  /** Their values stand in no result and no progress. */
  secrets?: readonly NamedSecret[];
  log: Log;
  /** Instead of one that is made here. */
  executor?: Executor;
  /** `off`: commands have no sandbox; for tests and other systems. */
  sandbox?: "auto" | "off";
  now?: () => number;
}

/** Redirects that a fetch follows; each is an action of its own. */
const MAX_REDIRECTS = 5;

/** Makes the gate. Nothing is started or written before the first action. */
export function createActions(options: ActionsOptions): Actions {
  return new Gate(options);
}

type ActOptions = Parameters<ActionPort["act"]>[1];

class Gate implements Actions {
  readonly #options: ActionsOptions;
  readonly #executor: Executor;
  readonly #commands: Commands;
  readonly #workspace: Workspace;
  readonly #settings: JobSettings;
  readonly #judge: Judge;
  readonly #scrubber: SecretScrubber;
  #policySettings: Promise<PolicySettings> | undefined;
  /** Known once the first command is asked for. */
  #execMode: CommandMode = { mode: "off", reason: "their sandbox has not been tried yet" };

  constructor(options: ActionsOptions) {
    const { config, paths, workspace, log } = options;
    this.#options = options;
    this.#executor = options.executor ??
      createExecutor({ cacheDir: `${paths.runDir}/child-cache`, log });
    this.#commands = createCommands({
      ...options,
      config: config.executor,
      own: () => this.#loadSettings(),
      scratchDir: paths.runDir,
      onTested: ({ ok, reason, trials }) => {
        const open = trials.filter(({ held }) => !held).map(({ name }) => name);
        return options.audit.append("sandbox.tested", { ok, reason, open });
      },
    });
    const configured = config.agent.workspace;
    this.#workspace = { path: isAbsolute(configured) ? configured : workspace, real: workspace };
    this.#settings = { workspace, maxOutputBytes: config.executor.maxOutputBytes };
    this.#scrubber = createSecretScrubber(options.secrets ?? []);
    this.#judge = new Judge({
      ...options,
      settings: async () => ({ ...await this.#loadSettings(), exec: this.#execMode }),
      lookUp: (target, signal) => this.#lookUp(target, signal),
    });
  }

  async act(request: ActionRequest, options: ActOptions): Promise<ActionResult> {
    options.signal.throwIfAborted();
    const tool = findTool(request.tool);
    if (tool === undefined) {
      const known = TOOLS.map(({ name }) => name).join(", ");
      return failed("invalid_request", `Unknown tool "${request.tool}"; there are: ${known}`);
    }
    const checked = checkArgs(tool, request.args);
    if ("problem" in checked) return failed("invalid_request", checked.problem);
    try {
      const { onProgress } = options;
      // A command's progress is one stream; a secret may be cut in two.
      const stream = tool.capability === "exec" ? this.#scrubber.pieces(onProgress) : undefined;
      const result = await this.#run(tool, checked.args, request.context, {
        ...options,
        onProgress: (text) =>
          stream === undefined ? onProgress(this.#scrubber.text(text)) : stream.push(text),
      });
      stream?.end();
      return this.#scrubber.result(result);
    } catch (error) {
      options.signal.throwIfAborted();
      const data = toErrorData(error);
      if (!(error instanceof ServiceError)) {
        this.#options.log.error("An action failed unexpectedly", { tool: tool.name, ...data });
      }
      return failed(data.code, `The action did not run: ${data.message}`);
    }
  }

  async #run(
    tool: Tool,
    args: unknown,
    context: ActionContext,
    options: ActOptions,
  ): Promise<ActionResult> {
    if (tool.capability === "exec") this.#execMode = await this.#commands.mode();
    let resolve = () => resolveTouch(tool, args, this.#workspace);
    for (let redirects = 0;; redirects++) {
      const target = await resolve();
      if (redirects > 0) options.onProgress(`redirected to ${describeTarget(target)}`);
      const judged = await this.#judge.judge({ tool, args, target, context, options, resolve });
      if ("refused" in judged) return judged.refused;
      const { action, decision } = judged;
      const result = await this.#runAllowed(tool, action, context, decision, options);
      if (!("redirect" in result)) return result;
      if (redirects === MAX_REDIRECTS) {
        return failed("tool_failed", `Gave up after ${MAX_REDIRECTS} redirects`);
      }
      // Relative to where the last one led; judged as if it had been asked for.
      const base = action.target.kind === "url" ? action.target.url : undefined;
      const next = URL.parse(result.redirect, base)?.href ?? result.redirect;
      resolve = () => Promise.resolve(resolveUrl(next));
    }
  }

  async #runAllowed(
    tool: Tool,
    action: ResolvedAction,
    context: ActionContext,
    decision: Decision,
    options: ActOptions,
  ): Promise<ActionResult | { redirect: string }> {
    options.signal.throwIfAborted();
    const record = await recordAction(this.#options, { action, context, decision });
    try {
      if (action.target.kind === "chat") {
        // Once handed over it cannot be called back: an end of the turn from then on changes nothing.
        options.signal.throwIfAborted();
        const { outbox } = this.#options;
        const { args, target } = action;
        const { timeoutMs } = tool;
        const { result, facts } = await sendMessage({ args, target, context, outbox, timeoutMs });
        return await record.end(result, facts);
      }
      if (action.target.kind === "command") {
        const { args, target } = action;
        const { maxOutputBytes } = this.#settings;
        const { result, facts } = await runCommand({
          ...options,
          args,
          target,
          workspace: this.#workspace,
          commands: this.#commands,
          maxOutputBytes,
        });
        return await record.end(result, facts);
      }
      const job = actionJob(action, tool.timeoutMs, this.#settings);
      const outcome = await this.#executor.run(job, options);
      const result = outcomeResult(outcome, tool.name, this.#settings.maxOutputBytes);
      return await record.end(result);
    } catch (error) {
      await record.cut(error);
      throw error;
    }
  }

  /** The target with the addresses of its host, or unresolved. */
  async #lookUp(target: UrlTarget, signal: AbortSignal): Promise<Target> {
    const outcome = await this.#executor.run(resolverJob(target, this.#settings), {
      signal,
      onProgress: () => {},
    });
    if (outcome.type === "addresses") return { ...target, addresses: outcome.addresses };
    const reason = outcome.type === "failure" || outcome.type === "fault"
      ? outcome.message
      : "the look-up took too long";
    return { kind: "unresolved", what: target.url, reason };
  }

  /** Made once; what failed is tried again with the next action. */
  #loadSettings(): Promise<PolicySettings> {
    return this.#policySettings ??= this.#makeSettings().catch((error) => {
      this.#policySettings = undefined;
      throw error;
    });
  }

  async #makeSettings(): Promise<PolicySettings> {
    const { paths, workspace, config: { gates } } = this.#options;
    const { confined } = await this.#executor.confinement();
    // How commands run is filled in anew for each decision.
    return await policySettings({ gates, paths, workspace, confined, exec: this.#execMode });
  }

  async checks({ test }: { test: boolean }): Promise<Record<string, Check>> {
    const { confined, reason } = await this.#executor.status();
    const detail = confined
      ? `children run in bubblewrap (${reason})`
      : `children run without a sandbox: ${reason}`;
    const sandbox = { ok: true, detail };
    return test ? { sandbox, commands: await this.#checkCommands() } : { sandbox };
  }

  /** Off is a safe state, and so no reason to call the service unready. */
  async #checkCommands(): Promise<Check> {
    const how = await this.#commands.mode();
    switch (how.mode) {
      case "sandboxed":
        return { ok: true, detail: "commands run in a sandbox that was tried out" };
      case "unconfined":
        return { ok: true, detail: `warning: commands run WITHOUT a sandbox: ${how.reason}` };
      case "off":
        return { ok: true, detail: `commands are off: ${how.reason}` };
    }
  }

  counts(): { running: number; waiting: number } {
    const [children, commands] = [this.#executor.counts(), this.#commands.counts()];
    return {
      running: children.running + commands.running,
      waiting: children.waiting + commands.waiting,
    };
  }

  async shutdown(): Promise<void> {
    await Promise.all([this.#executor.shutdown(), this.#commands.shutdown()]);
  }
}
