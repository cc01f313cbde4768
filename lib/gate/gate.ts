/**
 * The gate: every tool call passes here. Checked, resolved, decided, recorded, run in a child,
 * recorded again.
 *
 * @module
 */

import { isAbsolute } from "@std/path";
import type { Config } from "../config/schema.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { createScrubber, type Scrubber } from "../secrets/scrubber.ts";
import type { AutomationWriter, OutboxPort } from "../contract/ports.ts";
import { createTools, findTool, TOOLS } from "../tools/mod.ts";
import { secretsNamedIn } from "../policy/secret_references.ts";
import type { Tool } from "../contract/tool.ts";
import type {
  ActionContext,
  ActionPort,
  ActionRequest,
  ActionResult,
  CanAsk,
  Target,
  UrlTarget,
} from "../contract/actions.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { AuditLog } from "../audit/log.ts";
import { type Check, checkChildren } from "./check_children.ts";
import { type JobSettings, resolverJob } from "../executor/child_job.ts";
import type { Commissions } from "../approvals/commission/commissions.ts";
import { rehearseCall } from "./rehearse_call.ts";
import type { CommandConfig, Commands } from "../executor/commands.ts";
import { type CommandsOptions, createCommands } from "../executor/commands.ts";
import { createExecutor, type Executor } from "../executor/executor.ts";
import type { TriedSandboxes } from "../executor/tried_sandboxes.ts";
import { GateSettings } from "./gate_settings.ts";
import type { McpServers } from "../mcp_servers/mcp_servers.ts";
import { Judge } from "./judge.ts";
import { judgeCall } from "./judge_call.ts";
import type { OwnPaths, PolicyInputs } from "../policy/policy_settings.ts";
import { headersAfterRedirect } from "./redirect_headers.ts";
import { describeTarget } from "../policy/refusal.ts";
import { mcpTool } from "./mcp_tool.ts";
import type { OwnListeners } from "../policy/resolve/own_listeners.ts";
import { resolveUrl, type Workspace } from "../policy/resolve/resolve.ts";
import { checkArgs, resolveTouch } from "./resolve_touch.ts";
import { failed, withNotes } from "./results.ts";
import { runCall, type RunDeps } from "./run_call.ts";
import type { OperatorState } from "../state/operator_state.ts";
import type { SecretStore } from "../state/secret_store.ts";

/** The action port with what the authority needs to look after it. */
export interface Actions extends ActionPort {
  /** For GET /ready. With `test` the sandbox of commands is tried out, else nothing is started. */
  checks(options: { test: boolean }): Promise<Record<string, Check>>;
  counts(): { running: number; waiting: number };
  /** Starts a child that lives on in the sandbox of commands (see `Commands.open`). */
  openSandboxed: Commands["open"];
  /** Kills every child and resolves when all are gone; actions end as failed from now on. */
  shutdown(): Promise<void>;
}

/** The actions of turns that work in one folder. */
export interface FolderActions extends Actions {
  /** Runs its commands. */
  readonly commands: Commands;
}

/** What the gate works with. */
export interface ActionsOptions {
  config: {
    agent: Pick<Config["agent"], "workspace">;
    gates:
      & PolicyInputs["gates"]
      & Pick<Config["gates"], "unaskedFetchesPerTurn" | "unaskedFetchesPerSite">;
    executor: CommandConfig & Partial<Pick<Config["executor"], "hosts">>;
    mcp?: PolicyInputs["mcp"];
    /** Settings of tools; without them those that need some do not run. */
    tools?: PolicyInputs["tools"];
  };
  paths: OwnPaths;
  /** Real path of a folder that exists. */
  workspace: string;
  /** That of the configuration, where `workspace` is a project. */
  ownWorkspace?: string;
  audit: AuditLog;
  /** Grants and latches. */
  state: Pick<OperatorState, "grants" | "latches" | "damaged">;
  /** Where actions wait for a person. */
  approvals: Pick<Approvals, "request">;
  /** Whether there is a person who could answer. */
  canAsk: CanAsk;
  /** Where actions of dry runs are noted; without it nothing can be rehearsed. */
  commissions?: Pick<Commissions, "objection" | "note">;
  /** Where allowed messages go. */
  outbox: OutboxPort;
  /** Where approved automations go; without it there are none. */
  automations?: AutomationWriter;
  /** Secrets that tools may be given; without it there are none. */
  secretStore?: Pick<SecretStore, "list" | "reveal">;
  /** Servers whose tools can be called. */
  mcp?: Pick<McpServers, "find" | "call">;
  /** Opens the way of one command to its hosts; without it no command has one. */
  openNetwork?: RunDeps["openNetwork"];
  /** Where the service itself listens now, which no action reaches; without it that is nowhere. */
  listeners?: () => OwnListeners;
  /** Deno's folder of packages (`findDenoDir`). */
  denoDir?: string;
  /** Takes secrets out of results and progress. */
  scrubber?: Scrubber;
  log: Log;
  /** Instead of one that is made here. */
  executor?: Executor;
  /** Likewise; whoever gives them shuts them down. */
  commands?: Commands;
  /** Those of this process; default: of each executor alone. */
  sandboxes?: TriedSandboxes;
  /** `off`: commands have no sandbox; for tests and other systems. */
  sandbox?: "auto" | "off";
  /** Tries the sandbox of commands out; for tests. */
  testSandbox?: CommandsOptions["testSandbox"];
  now?: () => number;
}

/** Redirects that a fetch follows; each is an action of its own. */
const MAX_REDIRECTS = 5;

/** Makes the gate. Nothing is started or written before the first action. */
export function createActions(options: ActionsOptions): FolderActions {
  return new Gate(options);
}

type ActOptions = Parameters<ActionPort["act"]>[1];

class Gate implements FolderActions {
  readonly #options: ActionsOptions;
  readonly #executor: Executor;
  readonly commands: Commands;
  readonly #workspace: Workspace;
  readonly #settings: JobSettings;
  readonly #runDeps: RunDeps;
  readonly #judge: Judge;
  readonly #scrubber: Scrubber;
  readonly #tools: readonly Tool[];
  readonly #policySettings: GateSettings;

  constructor(options: ActionsOptions) {
    const { config, paths, workspace, sandboxes, log } = options;
    this.#options = options;
    this.#tools = config.tools === undefined ? TOOLS : createTools(config.tools);
    this.#executor = options.executor ??
      createExecutor({ cacheDir: `${paths.runDir}/child-cache`, workspace, sandboxes, log });
    this.#policySettings = new GateSettings({
      ...options,
      executor: this.#executor,
      modeAtRest: () => this.commands.modeAtRest(),
    });
    this.commands = options.commands ?? createCommands({
      ...options,
      config: config.executor,
      own: () => this.#policySettings.load(),
      scratchDir: paths.runDir,
      onTested: ({ ok, reason, trials }) => {
        const open = trials.filter(({ held }) => !held).map(({ name }) => name);
        return options.audit.append("sandbox.tested", { ok, reason, open });
      },
    });
    const configured = config.agent.workspace;
    this.#workspace = { path: isAbsolute(configured) ? configured : workspace, real: workspace };
    this.#settings = { workspace, maxOutputBytes: config.executor.maxOutputBytes };
    this.#runDeps = {
      ...options,
      executor: this.#executor,
      commands: this.commands,
      workspace: this.#workspace,
      settings: this.#settings,
    };
    this.#scrubber = options.scrubber ?? createScrubber();
    this.#judge = new Judge({
      ...options,
      unaskedFetches: {
        perTurn: config.gates.unaskedFetchesPerTurn,
        perSite: config.gates.unaskedFetchesPerSite,
      },
      settings: (how) =>
        how === "at rest" ? this.#policySettings.atRest() : this.#policySettings.inForce(),
      lookUp: (target, signal) => this.#lookUp(target, signal),
    });
  }

  async act(request: ActionRequest, options: ActOptions): Promise<ActionResult> {
    options.signal.throwIfAborted();
    const tool = this.#findTool(request.tool);
    if (tool === undefined) {
      const known = this.#tools.map(({ name }) => name).join(", ");
      const problem = `Unknown tool "${request.tool}"; there are: ${known}`;
      return this.#scrubber.value(failed("invalid_request", problem));
    }
    const checked = checkArgs(tool, request.args);
    if ("problem" in checked) {
      return this.#scrubber.value(failed("invalid_request", checked.problem));
    }
    if (tool.unavailable !== undefined) return failed("tool_failed", tool.unavailable);
    try {
      const { context } = request;
      if (context.rehearsal !== undefined) {
        return this.#scrubber.value(await this.#rehearse(tool, checked.args, context));
      }
      const { onProgress } = options;
      // A command's progress is one stream; a secret may be cut in two.
      const stream = tool.capability === "exec" ? this.#scrubber.pieces(onProgress) : undefined;
      const result = await this.#run(tool, checked.args, request.context, {
        ...options,
        onProgress: (text) =>
          stream === undefined ? onProgress(this.#scrubber.text(text)) : stream.push(text),
      });
      stream?.end();
      return this.#scrubber.value(result);
    } catch (error) {
      options.signal.throwIfAborted();
      const data = toErrorData(error);
      if (!(error instanceof ServiceError)) {
        this.#options.log.error("An action failed unexpectedly", { tool: tool.name, ...data });
      }
      return this.#scrubber.value(failed(data.code, `The action did not run: ${data.message}`));
    }
  }

  /** Neither tries the sandbox out nor looks a host up, and asks no server: that would be contact. */
  async #rehearse(tool: Tool, args: unknown, context: ActionContext): Promise<ActionResult> {
    const find = (name: string) => this.#options.mcp?.find(name);
    const target = await resolveTouch(tool, args, this.#workspace, { find, from: context });
    const needs = { secrets: tool.secrets?.(args) ?? [], files: tool.reads?.(args) ?? [] };
    const { commissions } = this.#options;
    const deps = { judge: this.#judge, commissions, workspace: this.#workspace };
    return await rehearseCall({ tool, args, target, needs, context }, deps);
  }

  async #run(
    tool: Tool,
    args: unknown,
    context: ActionContext,
    options: ActOptions,
  ): Promise<ActionResult> {
    if (tool.capability === "exec") this.#policySettings.commands = await this.commands.mode();
    const find = (name: string) => this.#options.mcp?.find(name);
    let resolve = () => resolveTouch(tool, args, this.#workspace, { find, from: context });
    let secrets = tool.secrets?.(args) ?? [];
    const notes: string[] = [];
    for (let redirects = 0;; redirects++) {
      const target = await resolve();
      if (redirects > 0) options.onProgress(`redirected to ${describeTarget(target)}`);
      const judged = { tool, args, target, context, options, resolve };
      const needs = { secrets, files: tool.reads?.(args) ?? [] };
      const call = await judgeCall(this.#judge, judged, needs, this.#workspace);
      if ("refused" in call) return call.refused;
      const result = await runCall({ tool, call, context, options }, this.#runDeps);
      if (!("redirect" in result)) return withNotes(result, notes);
      if (redirects === MAX_REDIRECTS) {
        return failed("tool_failed", `Gave up after ${MAX_REDIRECTS} redirects`);
      }
      const from = call.main.action.target;
      if (from.kind !== "url") throw new Error(`Cannot redirect ${tool.name}: it fetches nothing`);
      // Relative to where the last one led; judged as if it had been asked for.
      const next = URL.parse(result.redirect, from.url)?.href ?? result.redirect;
      const { headers, left } = await headersAfterRedirect(
        this.#judge,
        { ...judged, target: from },
        next,
      );
      if (left.length > 0) {
        notes.push(
          `Not sent on to ${URL.parse(next)?.host}, where it redirects: ${left.join(", ")}`,
        );
      }
      secrets = secrets.filter((name) =>
        Object.values(headers).some((value) => secretsNamedIn(value).includes(name))
      );
      resolve = () => Promise.resolve(resolveUrl(next, headers));
    }
  }

  #findTool(name: string): Tool | undefined {
    const offered = this.#options.mcp?.find(name);
    return findTool(name, this.#tools) ?? (offered && mcpTool(offered, offered.readOnly));
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

  turnEnded(turnId: string): void {
    this.#executor.turnEnded(turnId);
  }

  checks(options: { test: boolean }): Promise<Record<string, Check>> {
    return checkChildren({ executor: this.#executor, commands: this.commands }, options);
  }

  counts(): { running: number; waiting: number } {
    const [children, commands] = [this.#executor.counts(), this.commands.counts()];
    return {
      running: children.running + commands.running,
      waiting: children.waiting + commands.waiting,
    };
  }

  openSandboxed: Commands["open"] = (...started) => this.commands.open(...started);

  async shutdown(): Promise<void> {
    await Promise.all([this.#executor.shutdown(), this.commands.shutdown()]);
  }
}
