/**
 * The gate's decision: one pure, total function over data (decisions E2). The first rule that matches
 * decides; before any rule stand three things that no rule can change: what could not be resolved is
 * denied, what belongs to the service itself is denied, and an unattended turn is never asked about.
 *
 * @module
 */

import { namesChat } from "../channel/chat_address.ts";
import { addressRange, isSameAddress } from "./addresses.ts";
import type { ActionContext, Capability, Decision, ResolvedAction } from "./actions.ts";
import { isCredentialPath, isGuardedPath } from "./executor/protected_names.ts";
import { isInside } from "./inside.ts";

/** Something about an action that a rule can ask for; the table of them is below. */
export type Condition =
  | "path.kernel"
  | "path.credential"
  | "path.guarded"
  | "path.source"
  | "path.linkUnconfined"
  | "path.hardLink"
  | "path.inWorkspace"
  | "url.private"
  | "url.personHost"
  | "url.toolUrl"
  | "chat.listed";

/** One rule: it matches when the capability is listed and every condition holds. */
export interface Rule {
  /** Stable: it stands in records and refusals. */
  readonly name: string;
  readonly effect: Decision["effect"];
  /** Undefined: every capability. */
  readonly capabilities?: readonly Capability[];
  readonly when: readonly Condition[];
  /** For people: why. */
  readonly reason: string;
}

/** What decisions are made by. */
export interface Policy {
  readonly rules: readonly Rule[];
  /** Real path. */
  readonly workspace: string;
  /** Real paths of the service's own configuration, data, keys and run folders and files. */
  readonly ownPaths: readonly string[];
  /** Real paths of the service's own program. */
  readonly sourcePaths: readonly string[];
  /** `gates.privateHosts`: name or address, with `:port` if only that one. */
  readonly privateHosts: readonly string[];
  /** `gates.messageTargets`: `<channel>:<chat_id>`, or `<channel>:*` for every chat of a channel. */
  readonly messageTargets: readonly string[];
  /** Whether children run in a sandbox. */
  readonly confined: boolean;
}

/** The rules of decisions E2. */
export const DEFAULT_RULES: readonly Rule[] = [
  {
    name: "kernel",
    effect: "deny",
    when: ["path.kernel"],
    reason: "it belongs to the kernel and shows other processes",
  },
  {
    name: "credentials",
    effect: "deny",
    when: ["path.credential"],
    reason: "its name is one of a file with keys or credentials",
  },
  {
    name: "own.source",
    effect: "deny",
    capabilities: ["fs.write"],
    when: ["path.source"],
    reason: "it is part of the service's own program",
  },
  {
    name: "link.unconfined",
    effect: "deny",
    when: ["path.linkUnconfined"],
    reason: "its path holds a link, and there is no sandbox here that would hold it",
  },
  {
    name: "fetch.private",
    effect: "deny",
    capabilities: ["net.fetch"],
    when: ["url.private"],
    reason: "it leads to an address of this machine or its network; gates.privateHosts can list it",
  },
  {
    name: "hard_link",
    effect: "ask",
    when: ["path.hardLink"],
    reason: "the file has another name, maybe outside the workspace",
  },
  {
    name: "workspace.guarded",
    effect: "ask",
    capabilities: ["fs.write"],
    when: ["path.guarded"],
    reason: "writing to it makes other programs run or obey what it says",
  },
  {
    name: "workspace.read",
    effect: "allow",
    capabilities: ["fs.read"],
    when: ["path.inWorkspace"],
    reason: "it is in the workspace",
  },
  {
    name: "workspace.write",
    effect: "allow",
    capabilities: ["fs.write"],
    when: ["path.inWorkspace"],
    reason: "it is in the workspace",
  },
  {
    name: "fetch.person",
    effect: "allow",
    capabilities: ["net.fetch"],
    when: ["url.personHost"],
    reason: "the host stands in the person's own words",
  },
  {
    name: "fetch.result",
    effect: "allow",
    capabilities: ["net.fetch"],
    when: ["url.toolUrl"],
    reason: "the URL stands in an earlier tool result",
  },
  {
    name: "fetch.other",
    effect: "ask",
    capabilities: ["net.fetch"],
    when: [],
    reason: "nobody named the host, and no tool result holds the URL",
  },
  {
    name: "message.listed",
    effect: "allow",
    capabilities: ["message.send"],
    when: ["chat.listed"],
    reason: "gates.messageTargets lists the chat",
  },
  {
    name: "message.other",
    effect: "ask",
    capabilities: ["message.send"],
    when: [],
    reason: "gates.messageTargets does not list the chat",
  },
  {
    name: "outside",
    effect: "ask",
    capabilities: ["fs.read", "fs.write"],
    when: [],
    reason: "it is outside the workspace",
  },
  { name: "otherwise", effect: "ask", when: [], reason: "no rule allows it" },
];

/** What the gate says of an action. Pure and total: never throws, looks at nothing but its arguments. */
export function decide(action: ResolvedAction, context: ActionContext, policy: Policy): Decision {
  return judge({ action, context, policy });
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

interface Facts {
  action: ResolvedAction;
  context: ActionContext;
  policy: Policy;
  beforeLookup?: boolean;
}

function judge(facts: Facts): Decision {
  const decision = unchangeable(facts) ?? byRules(facts);
  if (facts.context.attended || decision.effect === "deny") return decision;
  // Nobody is there to ask, and what is allowed by default is so in attended turns alone.
  const reason = decision.effect === "ask"
    ? decision.reason
    : "the turn is unattended, where nothing is allowed without a grant";
  return { effect: "deny", rule: "unattended", reason };
}

function unchangeable({ action: { target }, policy, beforeLookup }: Facts): Decision | undefined {
  if (target.kind === "unresolved") {
    return { effect: "deny", rule: "unresolved", reason: target.reason };
  }
  if (target.kind === "url" && target.addresses.length === 0 && !beforeLookup) {
    return { effect: "deny", rule: "unresolved", reason: "its host has no address" };
  }
  if (target.kind === "path" && liesIn(target.real, policy.ownPaths, policy)) {
    return { effect: "deny", rule: "own", reason: "it belongs to the service itself" };
  }
}

function byRules(facts: Facts): Decision {
  const { capability } = facts.action;
  const rule = facts.policy.rules.find(({ capabilities, when }) =>
    (capabilities === undefined || capabilities.includes(capability)) &&
    when.every((condition) => CONDITIONS[condition](facts))
  );
  if (rule === undefined) return { effect: "deny", rule: "none", reason: "no rule speaks of it" };
  return { effect: rule.effect, rule: rule.name, reason: rule.reason };
}

/**
 * Whether a path lies in one of the folders, and not in the workspace below it: the nearest one decides,
 * since a workspace may lie in a home or in a clone of the program.
 */
function liesIn(real: string, folders: readonly string[], { workspace }: Policy): boolean {
  let nearest = -1;
  for (const folder of folders) {
    if (isInside(real, folder, "forgiving")) nearest = Math.max(nearest, folder.length);
  }
  return nearest >= 0 && !(isInside(real, workspace) && workspace.length > nearest);
}

const CONDITIONS: Record<Condition, (facts: Facts) => boolean> = {
  "path.kernel": ({ action: { target } }) =>
    target.kind === "path" && KERNEL_FOLDERS.some((folder) => isInside(target.real, folder)),
  "path.credential": ({ action: { target } }) =>
    target.kind === "path" && (isCredentialPath(target.real) || isCredentialPath(target.path)),
  "path.guarded": ({ action: { target } }) =>
    target.kind === "path" && (isGuardedPath(target.real) || isGuardedPath(target.path)),
  "path.source": ({ action: { target }, policy }) =>
    target.kind === "path" && liesIn(target.real, policy.sourcePaths, policy),
  "path.linkUnconfined": ({ action: { target }, policy }) =>
    target.kind === "path" && target.viaLink && !policy.confined,
  "path.hardLink": ({ action: { target } }) =>
    target.kind === "path" && target.file !== undefined && !target.file.isDirectory &&
    target.file.links > 1,
  "path.inWorkspace": ({ action: { target }, policy }) =>
    target.kind === "path" && isInside(target.real, policy.workspace),
  "url.private": ({ action: { target }, policy, beforeLookup }) =>
    target.kind === "url" && !beforeLookup &&
    target.addresses.some((address) =>
      addressRange(address) !== "public" &&
      !isListed(policy.privateHosts, target.host, target.port, address)
    ),
  "url.personHost": ({ action: { target }, context }) =>
    target.kind === "url" && context.personHosts.some((host) => isHost(host, target.host)),
  "url.toolUrl": ({ action: { target }, context }) =>
    target.kind === "url" && context.toolUrls.some((url) => isUrl(url, target)),
  "chat.listed": ({ action: { target }, policy }) =>
    target.kind === "chat" && namesChat(policy.messageTargets, target),
};

const KERNEL_FOLDERS = ["/proc", "/sys", "/dev"];

function isListed(list: readonly string[], host: string, port: number, address: string): boolean {
  return list.some((entry) => {
    const [name, only] = splitHostPort(entry);
    if (only !== undefined && only !== port) return false;
    return isHost(name, host) || isSameAddress(name, address);
  });
}

/** `name`, `name:port`, `address`, `[address]:port`. */
function splitHostPort(entry: string): [host: string, port: number | undefined] {
  const match = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(entry);
  if (match === null) return [entry, undefined];
  return [match[1] ?? match[2]!, match[3] === undefined ? undefined : Number(match[3])];
}

/** `host` comes from a URL, so it is lower case and ASCII; what it is compared with may be neither. */
function isHost(said: string, host: string): boolean {
  if (said === host) return true;
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$/.test(said)) return said.toLowerCase().replace(/\.$/, "") === host;
  return URL.parse(`http://${said}/`)?.hostname.replace(/\.$/, "") === host;
}

function isUrl(said: string, { url, host }: { url: string; host: string }): boolean {
  if (said === url) return true;
  // Only another spelling of the same URL is worth parsing; there may be thousands.
  // deno-lint-ignore no-control-regex
  if (!said.toLowerCase().includes(host) && /^[\x00-\x7f]*$/.test(said)) return false;
  const parsed = URL.parse(said);
  if (parsed === null) return false;
  parsed.hash = "";
  return parsed.href === url;
}
