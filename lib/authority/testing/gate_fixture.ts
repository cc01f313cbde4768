/**
 * A gate over real children, in folders of its own; for tests.
 *
 * @module
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { memoryMedia } from "../../agent/testing/memory_media.ts";
import { configSchema } from "../../config/schema.ts";
import type { OutboxMessage } from "../../contract/journal.ts";
import { createOutbox } from "../../delivery/outbox.ts";
import type { AutomationWriter, OutboxPort } from "../../contract/ports.ts";
import type { SearchSettings } from "../../policy/search_endpoint.ts";
import type { ActionContext, ActionResult, ApprovalEvent } from "../../contract/actions.ts";
import { Approvals } from "../../approvals/approvals.ts";
import { AUDIT_FILE, type AuditLog, openAudit } from "../../audit/log.ts";
import type { AuditRecord } from "../../audit/record.ts";
import type { ConfiguredRule } from "../../policy/configured_rules.ts";
import type { UnaskedFetchLimits } from "../../policy/unasked_fetches.ts";
import { Commissions } from "../../approvals/commission/commissions.ts";
import { findDenoDir } from "../../packages/deno_dir.ts";
import { createExecutor, type Executor } from "../../executor/executor.ts";
import { testOnce } from "../../executor/testing/test_once.ts";
import type { Actions, ActionsOptions } from "../../gate/gate.ts";
import { ProjectActions } from "../../gate/project_actions.ts";
import { Projects } from "../projects.ts";
import { KnownSecrets } from "../known_secrets.ts";
import type { McpServers } from "../../mcp_servers/mcp_servers.ts";
import { openMcpServers } from "../../mcp_servers/open_mcp_servers.ts";
import { openNetwork } from "../../executor/network/open_network.ts";
import { Operator } from "../../operations/operator.ts";
import { openOperatorState, type OperatorState } from "../../state/operator_state.ts";

/** How a fixture differs from the default. */
export interface GateFixtureOptions {
  sandbox?: "auto" | "off";
  privateHosts?: string[];
  messageTargets?: string[];
  rules?: ConfiguredRule[];
  allowUnconfined?: boolean;
  /** Channels that run, as far as the outbox is concerned. */
  channels?: string[];
  /** Instead of one in memory. */
  outbox?: OutboxPort;
  /** Where approved automations go; none by default. */
  automations?: AutomationWriter;
  maxOutputBytes?: number;
  /** `tools.webSearch`; none by default. */
  webSearch?: SearchSettings;
  audit?: AuditLog;
  /** Instead of real children. */
  executor?: Executor;
  /** Of approvals; default: that of this process. */
  clock?: Clock;
  approvalTimeoutMs?: number;
  independentApprover?: boolean;
  approvers?: string[];
  verifiesSenders?: (channel: string) => boolean;
  /** `executor.hosts`. */
  commandHosts?: string[];
  /** Instead of a proxy in a child. */
  openNetwork?: ActionsOptions["openNetwork"];
  /** Instead of real MCP servers, as the gate sees them. */
  offered?: Pick<McpServers, "find" | "call">;
  /** `mcp.servers`, as they stand in a configuration. */
  mcpServers?: Record<string, Record<string, unknown>>;
  /** Of MCP servers; default: that of this process. */
  mcpClock?: Clock;
  unaskedFetches?: UnaskedFetchLimits;
  /** Ready made; it is not removed then. */
  root?: string;
}

/** A gate and what is around it. Disposing ends its children and removes its folders. */
export interface GateFixture extends AsyncDisposable {
  actions: Actions;
  audit: AuditLog;
  state: OperatorState;
  approvals: Approvals;
  operator: Operator;
  commissions: Commissions;
  /** Over real children. */
  mcp: McpServers;
  /** Folders besides the workspace. */
  projects: Projects;
  /** Real paths. */
  root: string;
  home: string;
  workspace: string;
  /** Runs a tool in an attended turn. */
  act(tool: string, args: unknown, more?: Partial<ActOptions>): Promise<ActionResult>;
  records(): Promise<AuditRecord[]>;
  /** Messages that were queued. */
  queued: OutboxMessage[];
  /** Lines that were logged. */
  logged: { message: string; fields?: Record<string, unknown> }[];
}

/** What a test may give a call. */
export interface ActOptions {
  context: Partial<ActionContext>;
  signal: AbortSignal;
  onProgress: (text: string) => void;
  onApproval: (event: ApprovalEvent) => void;
  left: AbortSignal;
}

/** The turn that tests act in. */
export const CONTEXT: ActionContext = {
  sessionKey: "cli:test",
  turnId: "turn-1",
  callId: "call-1",
  channel: "cli",
  actor: "cli:local",
  attended: true,
  personHosts: [],
  toolUrls: [],
};

/** Makes a gate in a new folder: `home` with the service's own, `home/workspace`, and what is outside. */
export async function gateFixture(options: GateFixtureOptions = {}): Promise<GateFixture> {
  const root = await Deno.realPath(options.root ?? await Deno.makeTempDir());
  const home = `${root}/home`;
  const workspace = `${home}/workspace`;
  await Deno.mkdir(workspace, { recursive: true });
  await Deno.mkdir(`${home}/run`, { recursive: true, mode: 0o700 });
  const logged: GateFixture["logged"] = [];
  const note = (message: string, fields?: Record<string, unknown>) => {
    logged.push({ message, fields });
  };
  const log = { debug: note, info: note, warning: note, error: note };
  const dataDir = `${home}/data`;
  const auditDir = `${home}/audit`;
  const keysDir = `${home}/keys`;
  const audit = options.audit ?? await openAudit({ dir: auditDir, keysDir, log });
  const queued: OutboxMessage[] = [];
  const ownOutbox = createOutbox({
    journal: {
      enqueue: (message) => {
        const isNew = queued.every(({ id }) => id !== message.id);
        if (isNew) queued.push(message);
        return Promise.resolve(isNew);
      },
      outbox: () => [],
      say: () => Promise.reject(new Error("no chats are here")),
      turn: () => undefined,
      append: () => Promise.reject(new Error("no turns are here")),
      requestKeyOf: () => undefined,
      deliveries: { counts: () => ({ waiting: 0, unknown: 0, dead: 0 }) },
    },
    isEnabled: (channel) => options.channels?.includes(channel) ?? false,
    media: { dir: `${home}/data/media`, hold: memoryMedia().hold },
  });
  const outbox = options.outbox ?? { enqueue: (message) => ownOutbox.send(message) };
  const executor = options.executor ??
    createExecutor({
      cacheDir: `${dataDir}/child-cache`,
      workspace,
      log,
      sandbox: options.sandbox,
    });
  const state = await openOperatorState({ dir: `${home}/operator`, keysDir, audit, log });
  const approvals = new Approvals({
    clock: options.clock ?? systemClock,
    audit,
    pending: state.pending,
    latches: state.latches,
    timeoutMs: options.approvalTimeoutMs ?? 120_000,
    log,
  });
  const commissions = new Commissions({ audit, findings: state.findings, grants: state.grants });
  const operator = new Operator({
    approvals,
    commissions,
    tokens: state.tokens,
    latches: state.latches,
    gates: {
      approvers: options.approvers ?? [],
      independentApprover: options.independentApprover ?? false,
    },
    verifiesSenders: options.verifiesSenders ?? (() => false),
    log,
  });
  const config = configSchema.parse({ mcp: { servers: options.mcpServers ?? {} } });
  const maxOutputBytes = options.maxOutputBytes ?? 100_000;
  const denoDir = findDenoDir({
    env: (name) => Deno.env.get(name),
    cwd: Deno.cwd(),
    home: () => null,
    os: Deno.build.os,
  });
  const known = new KnownSecrets();
  known.follow(state.secrets);
  const network = {
    executor,
    audit,
    privateHosts: options.privateHosts ?? [],
    listeners: () => ({ ports: [], addresses: [] }),
    socketDir: `${home}/run`,
    log,
  };
  const mcp = openMcpServers({
    config: {
      ...config,
      agent: { ...config.agent, workspace },
      executor: { ...config.executor, maxOutputBytes },
      gates: { ...config.gates, privateHosts: options.privateHosts ?? [] },
    },
    paths: { mcpDir: `${home}/mcp` },
    workspace,
    denoDir,
    fetcher: { ensure: () => Promise.resolve() },
    executor,
    openSandboxed: (...started) => actions.openSandboxed(...started),
    openNetwork: (asked) => openNetwork(network, asked),
    version: "0.0.0",
    scrub: (text) => known.scrubber.text(text),
    audit,
    clock: options.mcpClock,
    // A busy machine takes longer than a person would wait.
    firstWaitMs: 60_000,
    log,
  });
  const paths = {
    home,
    userHome: `${root}/user`,
    configFile: `${home}/config.json`,
    projectsFile: `${home}/projects.json`,
    lastGoodFile: `${home}/config.json.last-good`,
    dataDir,
    auditDir,
    keysDir,
    runDir: `${home}/run`,
    socketDir: `${home}/run`,
  };
  const projects = new Projects(paths);
  const actions: Actions = new ProjectActions({
    state,
    secretStore: state.secrets,
    scrubber: known.scrubber,
    mcp: options.offered ?? mcp,
    openNetwork: options.openNetwork ?? ((asked) => openNetwork(network, asked)),
    approvals,
    commissions,
    canAsk: operator.canAsk,
    config: {
      agent: { workspace },
      gates: {
        rules: options.rules ?? [],
        privateHosts: options.privateHosts ?? [],
        messageTargets: options.messageTargets ?? [],
        unaskedFetchesPerTurn: options.unaskedFetches?.perTurn ?? 20,
        unaskedFetchesPerSite: options.unaskedFetches?.perSite ?? 5,
      },
      mcp: config.mcp,
      tools: { webSearch: options.webSearch ?? config.tools.webSearch },
      executor: {
        maxOutputBytes,
        hosts: options.commandHosts ?? [],
        allowUnconfined: options.allowUnconfined ?? false,
      },
    },
    paths,
    workspace,
    audit,
    outbox,
    automations: options.automations,
    denoDir,
    log,
    executor,
    sandbox: options.sandbox,
    testSandbox: testOnce,
  }, (folder) => projects.check(folder, workspace));
  return {
    actions,
    audit,
    state,
    approvals,
    operator,
    commissions,
    mcp,
    projects,
    root,
    home,
    workspace,
    logged,
    queued,
    act: (tool, args, more = {}) =>
      actions.act({ tool, args, context: { ...CONTEXT, ...more.context } }, {
        signal: more.signal ?? new AbortController().signal,
        onProgress: more.onProgress ?? (() => {}),
        onApproval: more.onApproval,
        left: more.left,
      }),
    async records() {
      const text = await Deno.readTextFile(`${auditDir}/${AUDIT_FILE}`);
      return text.trim().split("\n").map((line) => JSON.parse(line));
    },
    async [Symbol.asyncDispose]() {
      await approvals.close();
      await mcp.shutdown();
      await actions.shutdown();
      await state.close();
      await audit.close();
      if (options.root === undefined) await Deno.remove(root, { recursive: true });
    },
  };
}
