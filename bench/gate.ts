/**
 * The gate's decision with 100 rules of the operator's and 100 grants, for actions that only the last
 * rules say something about. Bound: under 20 microseconds.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/gate.ts [--json]`
 *
 * @module
 */

import type { ActionContext, Capability, ResolvedAction, Target } from "../lib/contract/actions.ts";
import { type ConfiguredRule, readRules } from "../lib/policy/configured_rules.ts";
import { DEFAULT_RULES } from "../lib/policy/default_rules.ts";
import { grantTarget } from "../lib/policy/grant_target.ts";
import { decide, type Policy } from "../lib/policy/policy.ts";
import { type Figure, report } from "./report.ts";

const RULES = 100;
const GRANTS = 100;
const AIM_US = 20;
const ROUNDS = 200;
const DECISIONS = 500;
const WORKSPACE = "/home/p/.service/workspace";

const context: ActionContext = {
  sessionKey: "api:reports",
  turnId: "t",
  callId: "c",
  channel: "api",
  actor: "api:anonymous",
  attended: true,
  personHosts: ["example.com"],
  toolUrls: Array.from({ length: 100 }, (_, at) => `https://host-${at}.example/page`),
};

function action(capability: Capability, target: Target): ResolvedAction {
  return { tool: "t", capability, args: {}, target, digest: "" };
}

const path = (real: string) =>
  action("fs.write", {
    kind: "path",
    access: "write",
    path: real,
    real,
    viaLink: false,
    folder: { real: WORKSPACE, dev: 1, ino: 1 },
  });
const url = action("net.fetch", {
  kind: "url",
  url: "https://other.example/deep/page?q=1",
  host: "other.example",
  port: 443,
  addresses: ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"],
});
const command = action("exec", {
  kind: "command",
  argv: ["/usr/bin/git", "log", "--oneline"],
  program: "/usr/bin/git",
  cwd: WORKSPACE,
});

/** Every rule is of the capability that is decided about, so that each pattern is compared. */
function rules(capability: Capability, target: (at: number) => string): ConfiguredRule[] {
  return Array.from({ length: RULES }, (_, at) => ({
    name: `rule-${at}`,
    effect: at % 2 === 0 ? "deny" : "ask",
    capabilities: [capability],
    targets: [target(at)],
  }));
}

function policy(configured: ConfiguredRule[], near: ResolvedAction): Policy {
  const { rules, problems } = readRules(configured);
  if (problems.length > 0) throw new Error(`Cannot measure: ${JSON.stringify(problems)}`);
  const target = grantTarget(near.target);
  return {
    rules: [...rules, ...DEFAULT_RULES],
    workspace: WORKSPACE,
    ownPaths: Array.from({ length: 10 }, (_, at) => `/home/p/.service/own-${at}`),
    sourcePaths: ["/opt/service"],
    privateHosts: [],
    messageTargets: [],
    commandHosts: [],
    mcpTools: [],
    confined: true,
    exec: { mode: "sandboxed" },
    // All of the same session and capability: each is compared.
    grants: Array.from({ length: GRANTS }, (_, at) => ({
      id: `gr_${at}`,
      subject: context.sessionKey,
      capability: near.capability,
      target: `${target}-${at}`,
      createdAt: 0,
      note: "",
    })),
    latched: [],
    canAsk: true,
    stateDamaged: undefined,
    secrets: [],
    secretsDamaged: undefined,
  };
}

/** Microseconds of one decision in the best round: what it takes, not what else the machine did. */
function measure(one: ResolvedAction, policy: Policy, turn: ActionContext): number {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let n = 0; n < DECISIONS; n++) decide(one, turn, policy);
    rounds.push((performance.now() - start) * 1_000 / DECISIONS);
  }
  return Math.min(...rounds);
}

const aim = { atMost: AIM_US };
const unit = "µs";
const alone = { ...context, attended: false };
const file = path(`${WORKSPACE}/src/deep/folder/some_file.ts`);
const outside = path("/srv/data/reports/2026/summary.txt");
const globs = (at: number) =>
  at % 3 === 0 ? `workspace/secret-${at}/**` : `/srv/**/never-${at}/*.key`;
const words = (at: number) => JSON.stringify(["git", "log", `--number=${at}`]);

const figures: Figure[] = [
  {
    name: `write in the workspace, ${RULES} rules, ${GRANTS} grants`,
    value: measure(file, policy(rules("fs.write", globs), file), context),
    unit,
    aim,
  },
  {
    name: "unattended write outside, no grant that holds",
    value: measure(outside, policy(rules("fs.write", globs), outside), alone),
    unit,
    aim,
  },
  {
    name: "fetch that nobody named",
    value: measure(url, policy(rules("net.fetch", (at) => `*.host-${at}.example`), url), context),
    unit,
    aim,
  },
  {
    name: "command, unattended",
    value: measure(command, policy(rules("exec", words), command), alone),
    unit,
    aim,
  },
  {
    name: "write in the workspace, default rules alone",
    value: measure(file, { ...policy([], file), grants: [] }, context),
    unit,
  },
];

if (!report("gate", figures, { json: Deno.args.includes("--json") })) Deno.exit(1);
