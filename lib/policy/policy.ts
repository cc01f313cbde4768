/**
 * The gate's decision: one pure, total function over data. The first rule that matches
 * decides: what no rule can change, then the rules of `gates.rules`, then the default ones. What comes
 * of it depends on who is there: an unattended turn is never asked about, and a grant, exactly, allows
 * what else would be asked or refused for want of a person.
 *
 * @module
 */

import type { HostPattern } from "../base/host_pattern.ts";
import type { ActionContext, Capability, Decision, ResolvedAction } from "../contract/actions.ts";
import { type Condition, CONDITIONS, type Facts } from "./conditions.ts";
import { FIXED_RULES } from "./default_rules.ts";
import { grantTarget } from "./grant_target.ts";
import type { OwnListeners } from "./resolve/own_listeners.ts";
import { type Grant, grantHolder, isHeldBy } from "./grants.ts";
import { outOfScope, type SecretScope } from "./secret_scope.ts";
import { PatternSubject, type TargetPattern } from "./target_pattern.ts";

/** One rule: it matches when everything that it names holds. */
export interface Rule {
  /** Stable: it stands in records and refusals. */
  readonly name: string;
  readonly effect: Decision["effect"];
  /** Undefined: every capability. */
  readonly capabilities?: readonly Capability[];
  /** All of them hold. */
  readonly when: readonly Condition[];
  /** One of them means the target. Undefined: any target. */
  readonly targets?: readonly TargetPattern[];
  /**
   * It allows or asks about a credential file, a file that other programs obey or one with a second name
   * only by a pattern without wildcards: a rule for a whole folder is not meant for these. The same holds
   * for allowing what reaches a whole folder in which another rule denies something. It allows no
   * command to reach a host that `executor.hosts` does not list.
   */
  readonly careful?: boolean;
  /** The turn came from one of them. Undefined: from anywhere. */
  readonly channels?: readonly string[];
  /** One of them opened the turn. Undefined: anybody. */
  readonly actors?: readonly string[];
  /** For people: why. */
  readonly reason: string;
}

/** How commands would run. */
export type ExecMode =
  | { mode: "sandboxed" }
  /** No sandbox, and `executor.allowUnconfined` is set. */
  | { mode: "unconfined" }
  /** Not at all; `reason` says why. */
  | { mode: "off"; reason: string };

/** What decisions are made by and follows from configuration and machine. */
export interface PolicySettings {
  /** Those of `gates.rules`, then the default ones. */
  readonly rules: readonly Rule[];
  /** Real path. */
  readonly workspace: string;
  /** The configured one, where `workspace` is a project: `./deploy` in a secret's scope is a file of it. */
  readonly ownWorkspace?: string;
  /** Real paths of the service's own configuration, data, keys and run folders and files. */
  readonly ownPaths: readonly string[];
  /** Real paths of the service's own program. */
  readonly sourcePaths: readonly string[];
  /** `gates.privateHosts`: name or address, with `:port` if only that one. */
  readonly privateHosts: readonly string[];
  /** `gates.messageTargets`: `<channel>:<chat_id>`, or `<channel>:*` for every chat of a channel. */
  readonly messageTargets: readonly string[];
  /** `executor.hosts`; without a port it means 80 and 443. */
  readonly commandHosts: readonly HostPattern[];
  /** What MCP servers list under `allow`: `<server>/<tool>`, or `<server>/*` for every tool. */
  readonly mcpTools: readonly string[];
  /** The one URL that web_search fetches, by `tools.webSearch`. Absent: none. */
  readonly searchUrl?: string;
  /** Whether children run in a sandbox. */
  readonly confined: boolean;
  readonly exec: ExecMode;
}

/** What decisions are made by and changes while the service runs. */
export interface PolicyState {
  readonly grants: readonly Grant[];
  /** What a person has denied: there, what else would be asked is denied. */
  readonly latched: readonly { sessionKey: string; capability: Capability }[];
  /** Those that are there, as far as the action asks for them. */
  readonly secrets: readonly SecretScope[];
  /** Why no secret can be read. */
  readonly secretsDamaged: string | undefined;
  /** Somebody could answer a question; else it is refused at once. */
  readonly canAsk: boolean;
  /** The turn has fetched enough URLs of tool results unasked, in all or from that site. */
  readonly fetchesSpent?: boolean;
  /** Where the service itself listens now; absent: nowhere. */
  readonly listeners?: OwnListeners;
  /** Why grants and latches cannot be relied on: until that is mended, nothing is asked or granted. */
  readonly stateDamaged: string | undefined;
}

/** What decisions are made by. */
export type Policy = PolicySettings & PolicyState;

/** What the gate says of an action. Pure and total: never throws, looks at nothing but its arguments. */
export function decide(action: ResolvedAction, context: ActionContext, policy: Policy): Decision {
  return judge({ action, context, policy, beforeLookup: false });
}

/**
 * What the gate would say of a URL if its host's addresses were public. A host that would be refused
 * anyway is never looked up: the query alone tells its owner something.
 */
export function decideBeforeLookup(
  action: ResolvedAction,
  context: ActionContext,
  policy: Policy,
): Decision {
  return judge({ action, context, policy, beforeLookup: true });
}

function judge(facts: Facts): Decision {
  const { action, context, policy } = facts;
  const fixed = byRules(facts, FIXED_RULES);
  if (fixed !== undefined) return { ...fixed, reason: detail(facts, fixed) };
  const decision = byRules(facts, policy.rules) ??
    deny("none", "no rule speaks of it");
  if (decision.effect === "deny") return decision;
  if (decision.effect === "allow" && context.attended) return decision;

  // From here on it takes a grant or a person.
  if (policy.stateDamaged !== undefined) return deny("state", policy.stateDamaged);
  if (decision.effect === "ask" && isLatched(facts)) {
    const { capability } = action;
    return deny("latched", `a person has denied ${capability} in this session before`);
  }
  const grant = findGrant(facts);
  if (grant !== undefined) {
    return { effect: "allow", rule: `grant:${grant.id}`, reason: "a grant is for exactly this" };
  }
  if (!context.attended) {
    return deny(
      "unattended",
      decision.effect === "ask"
        ? decision.reason
        : "the turn is unattended, where nothing is allowed without a grant",
    );
  }
  if (!policy.canAsk) return deny("nobody", `${decision.reason}, and nobody could be asked`);
  return decision;
}

function deny(rule: string, reason: string): Decision {
  return { effect: "deny", rule, reason };
}

/** The reason of a fixed rule, or the one that this very action has. */
function detail({ action: { target }, policy }: Facts, { rule, reason }: Decision): string {
  switch (rule) {
    case "unresolved":
      return target.kind === "unresolved" ? target.reason : "its host has no address";
    case "exec.off":
      return policy.exec.mode === "off" ? policy.exec.reason : reason;
    case "secret.unknown":
      return target.kind !== "secret"
        ? reason
        : policy.secretsDamaged ?? `there is no secret ${target.name}`;
    case "secret.scope": {
      if (target.kind !== "secret") return reason;
      const scope = policy.secrets.find(({ name }) => name === target.name);
      return scope === undefined ? reason : outOfScope(target, scope);
    }
    default:
      return reason;
  }
}

function byRules(facts: Facts, rules: readonly Rule[]): Decision | undefined {
  const { action: { capability, target }, context, policy } = facts;
  let subject: PatternSubject | undefined;
  let delicate: boolean | undefined;
  let reaches: boolean | undefined;
  let network: boolean | undefined;
  const isMeant = (
    targets: readonly TargetPattern[],
    effect: Rule["effect"],
    literal: boolean,
  ): boolean => {
    subject ??= new PatternSubject(target, policy.workspace);
    const how = effect === "deny" ? "forgiving" : "exact";
    for (const pattern of targets) {
      if (literal && pattern.kind === "path" && pattern.hasWildcard) continue;
      if (subject.matches(pattern, how)) return true;
    }
    return false;
  };
  for (const rule of rules) {
    const { effect, targets } = rule;
    if (rule.capabilities !== undefined && !rule.capabilities.includes(capability)) continue;
    if (rule.channels !== undefined && !rule.channels.includes(context.channel)) continue;
    if (rule.actors !== undefined && !rule.actors.includes(context.actor)) continue;
    if (!rule.when.every((condition) => CONDITIONS[condition](facts))) continue;
    if (rule.careful === true && effect === "allow" && (network ??= opensNetwork(facts))) continue;
    // A question stays one where a rule more would skip it: only what allows is held back by others.
    const literal = rule.careful === true && effect !== "deny" &&
      ((delicate ??= isDelicate(facts)) ||
        (effect === "allow" && (reaches ??= CONDITIONS["denied.below"](facts))));
    if (targets === undefined ? literal : !isMeant(targets, effect, literal)) continue;
    return { effect, rule: rule.name, reason: rule.reason };
  }
}

/** What the default rules hold back although it may lie in the workspace. */
function isDelicate(facts: Facts): boolean {
  return CONDITIONS["path.credential"](facts) || CONDITIONS["path.hardLink"](facts) ||
    (facts.action.capability === "fs.write" && CONDITIONS["path.guarded"](facts));
}

/** A rule that was written for a command says nothing of where that command may send what it reads. */
function opensNetwork(facts: Facts): boolean {
  return facts.action.target.kind === "command" && !CONDITIONS["command.offline"](facts) &&
    !CONDITIONS["command.hostsListed"](facts);
}

function isLatched({ action, context, policy }: Facts): boolean {
  return policy.latched.some(({ sessionKey, capability }) =>
    capability === action.capability && sessionKey === context.sessionKey
  );
}

function findGrant({ action, context, policy }: Facts): Grant | undefined {
  const { capability } = action;
  // Who has it first: that tells most of them apart, and costs the least.
  const holder = grantHolder(context);
  const near = policy.grants.filter((grant) =>
    grant.capability === capability && isHeldBy(grant, holder)
  );
  if (near.length === 0) return undefined;
  const target = grantTarget(action.target);
  return target === undefined ? undefined : near.find((grant) => grant.target === target);
}
