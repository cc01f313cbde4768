/**
 * What a rule can ask about an action beside its capability: facts that follow from the resolved target,
 * the turn and the policy alone.
 *
 * @module
 */

import { namesChat } from "../base/chat_address.ts";
import { type HostPattern, meansHost } from "../base/host_pattern.ts";
import { addressRange, isSameAddress } from "../base/addresses.ts";
import type { ActionContext, Capability, PathTarget, ResolvedAction } from "../contract/actions.ts";
import { foldPath, isCredentialPath, isGuardedPath } from "../base/protected_names.ts";
import { isInside } from "../base/inside.ts";
import { isOwnListener } from "./resolve/own_listeners.ts";
import type { Policy } from "./policy.ts";
import { isInScope } from "./secret_scope.ts";
import { mayMeanBelow } from "./target_pattern.ts";

/** Something about an action that a rule can ask for; the table of them is below. */
export type Condition =
  | "target.unresolved"
  | "target.own"
  | "path.kernel"
  | "path.credential"
  | "path.guarded"
  | "path.source"
  | "path.linkUnconfined"
  | "path.hardLink"
  | "path.inWorkspace"
  | "denied.below"
  | "url.private"
  | "url.personHost"
  | "url.toolUrl"
  | "url.spent"
  | "url.search"
  | "chat.own"
  | "chat.listed"
  | "command.sandboxed"
  | "command.unconfined"
  | "command.off"
  | "command.offline"
  | "command.hostsListed"
  | "mcp.listed"
  | "secret.unknown"
  | "secret.outOfScope";

/** What a condition looks at. */
export interface Facts {
  action: ResolvedAction;
  context: ActionContext;
  policy: Policy;
  /** A host's addresses are not known yet, and count as public. */
  beforeLookup: boolean;
}

/** Every condition. Each is total. */
export const CONDITIONS: Readonly<Record<Condition, (facts: Facts) => boolean>> = {
  "target.unresolved": ({ action: { target }, beforeLookup }) =>
    target.kind === "unresolved" ||
    (target.kind === "url" && target.addresses.length === 0 && !beforeLookup),
  "target.own": ({ action: { target }, policy }) => {
    if (target.kind === "url") {
      const { listeners } = policy;
      return listeners !== undefined &&
        target.addresses.some((address) => isOwnListener(address, target.port, listeners));
    }
    const paths = target.kind === "path"
      ? [target.real]
      : target.kind === "command"
      ? [target.program, target.cwd]
      : target.kind === "secret" && target.recipient.kind === "command"
      ? [target.recipient.program, target.recipient.cwd]
      : [];
    return paths.some((path) => liesIn(path, policy.ownPaths, policy));
  },
  "path.kernel": ({ action: { target } }) =>
    target.kind === "path" && KERNEL_FOLDERS.some((folder) => isInside(target.real, folder)),
  "path.credential": ({ action: { target } }) =>
    target.kind === "path" && eitherName(target, isCredentialPath),
  "path.guarded": ({ action: { target } }) =>
    target.kind === "path" && (target.obeyedByGit === true || eitherName(target, isGuardedPath)),
  "path.source": ({ action: { target }, policy }) =>
    target.kind === "path" && liesIn(target.real, policy.sourcePaths, policy),
  "path.linkUnconfined": ({ action: { target }, policy }) =>
    target.kind === "path" && target.viaLink && !policy.confined,
  "path.hardLink": ({ action: { target } }) =>
    target.kind === "path" && target.file !== undefined && !target.file.isDirectory &&
    target.file.links > 1,
  "path.inWorkspace": ({ action: { target }, policy }) =>
    target.kind === "path" && isInside(target.real, policy.workspace),
  "denied.below": (facts) => {
    const { action: { capability, target }, policy } = facts;
    if (target.kind === "command") {
      // It sees the workspace, whatever its own folder is.
      return deniesBelow(facts, ["fs.read", "fs.write"], policy.workspace);
    }
    return target.kind === "path" && target.file?.isDirectory === true &&
      deniesBelow(facts, [capability], target.real);
  },
  "url.private": (facts) => {
    const { action: { target }, policy, beforeLookup } = facts;
    if (target.kind !== "url" || beforeLookup) return false;
    const isSearch = CONDITIONS["url.search"](facts);
    return target.addresses.some((address) =>
      addressRange(address) !== "public" &&
      !isListed(policy.privateHosts, target.host, target.port, address) &&
      !(isSearch && saysItself(target.host, address))
    );
  },
  "url.personHost": ({ action: { target }, context }) =>
    target.kind === "url" && context.personHosts.some((host) => isHost(host, target.host)),
  "url.toolUrl": ({ action: { target }, context }) =>
    // A header is as good a place as a query for what only the model chose.
    target.kind === "url" && target.headers === undefined &&
    context.toolUrls.some((url) => isUrl(url, target)),
  "url.spent": ({ policy }) => policy.fetchesSpent === true,
  "url.search": ({ action: { tool, target }, policy }) =>
    tool === "web_search" && target.kind === "url" && target.headers === undefined &&
    target.url === policy.searchUrl,
  "chat.own": ({ action: { target } }) => target.kind === "chat" && target.withAnswer === true,
  "chat.listed": ({ action: { target }, policy }) =>
    target.kind === "chat" && namesChat(policy.messageTargets, target),
  "command.sandboxed": ({ action: { target }, policy }) =>
    target.kind === "command" && policy.exec.mode === "sandboxed",
  "command.unconfined": ({ action: { target }, policy }) =>
    target.kind === "command" && policy.exec.mode === "unconfined",
  "command.off": ({ action: { target }, policy }) =>
    target.kind === "command" && policy.exec.mode === "off",
  "command.offline": ({ action: { target } }) =>
    target.kind === "command" && target.hosts === undefined,
  "command.hostsListed": ({ action: { target }, policy }) =>
    target.kind === "command" && target.hosts !== undefined &&
    target.hosts.every((host) => isCommandHost(policy.commandHosts, host)),
  "mcp.listed": ({ action: { target }, policy }) =>
    target.kind === "mcp" && (policy.mcpTools.includes(`${target.server}/${target.tool}`) ||
      policy.mcpTools.includes(`${target.server}/*`)),
  "secret.unknown": ({ action: { target }, policy }) =>
    target.kind === "secret" && policy.secrets.every(({ name }) => name !== target.name),
  "secret.outOfScope": ({ action: { target }, policy }) =>
    target.kind === "secret" &&
    policy.secrets.every((scope) =>
      scope.name !== target.name ||
      !isInScope(scope, target.recipient, policy.ownWorkspace ?? policy.workspace)
    ),
};

/**
 * Whether whoever wrote a host wrote the address: a literal, or the name of this machine. Any other name
 * may lead somewhere else tomorrow.
 */
function saysItself(host: string, address: string): boolean {
  return isSameAddress(host, address) ||
    (host === "localhost" && addressRange(address) === "loopback");
}

/** Ports of a host that `executor.hosts` lists without one. */
const WEB_PORTS = [80, 443];

/** `hostPort` is as resolving a command leaves it. */
function isCommandHost(listed: readonly HostPattern[], hostPort: string): boolean {
  const [host, port] = splitHostPort(hostPort);
  return port !== undefined &&
    listed.some((pattern) =>
      meansHost(pattern, host, port) && (pattern.port !== undefined || WEB_PORTS.includes(port))
    );
}

/** Both what was asked for and what it is: a link may hide either. */
function eitherName({ real, path }: PathTarget, test: (path: string) => boolean): boolean {
  return test(real) || (path !== real && test(path));
}

/** Whether a rule of the operator's denies something in a folder that is read or left to a command whole. */
function deniesBelow(
  { context, policy }: Facts,
  capabilities: readonly Capability[],
  folder: string,
): boolean {
  return policy.rules.some((rule) =>
    rule.careful === true && rule.effect === "deny" &&
    (rule.capabilities?.some((one) => capabilities.includes(one)) ?? true) &&
    (rule.channels?.includes(context.channel) ?? true) &&
    (rule.actors?.includes(context.actor) ?? true) &&
    (rule.targets?.some((pattern) => mayMeanBelow(pattern, folder, policy.workspace)) ?? true)
  );
}

const KERNEL_FOLDERS = ["/proc", "/sys", "/dev"];

/** Whether `gates.privateHosts` lists a host or one of its addresses, at that port. */
export function isListed(
  list: readonly string[],
  host: string,
  port: number,
  address: string,
): boolean {
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

/**
 * Whether a path lies in one of the folders, and not in the workspace below it: the nearest one decides,
 * since a workspace may lie in a home or in a clone of the program. Names are compared as the most
 * forgiving file system would: one too many does no harm here.
 */
function liesIn(real: string, folders: readonly string[], { workspace }: Policy): boolean {
  let nearest = -1;
  let names: string[] | undefined;
  for (const [index, folder] of folders.entries()) {
    if (folder.length <= nearest) continue;
    if (!isInside(real, folder)) {
      const folded = foldedOf(folders)[index]!;
      names ??= foldPath(real);
      if (!folded.every((name, at) => names![at] === name)) continue;
    }
    nearest = folder.length;
  }
  return nearest >= 0 && !(isInside(real, workspace) && workspace.length > nearest);
}

/** Folded names by list: a policy's lists stay the same over many decisions. */
const FOLDED = new WeakMap<readonly string[], string[][]>();

function foldedOf(folders: readonly string[]): string[][] {
  const known = FOLDED.get(folders);
  if (known !== undefined) return known;
  const folded = folders.map(foldPath);
  FOLDED.set(folders, folded);
  return folded;
}
