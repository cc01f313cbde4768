/**
 * The rules that a policy has without configuration: first those that no rule of the
 * operator's can change, then those that follow after the operator's.
 *
 * @module
 */

import type { Rule } from "./policy.ts";

/** They come before any rule that can be configured; what they deny nothing allows. */
export const FIXED_RULES: readonly Rule[] = [
  {
    name: "unresolved",
    effect: "deny",
    when: ["target.unresolved"],
    reason: "nobody can say what it would touch",
  },
  {
    name: "own",
    effect: "deny",
    when: ["target.own"],
    reason: "it belongs to the service itself",
  },
  {
    name: "kernel",
    effect: "deny",
    when: ["path.kernel"],
    reason: "it belongs to the kernel and shows other processes",
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
    name: "exec.off",
    effect: "deny",
    capabilities: ["exec"],
    when: ["command.off"],
    reason: "commands do not run here",
  },
  {
    name: "secret.unknown",
    effect: "deny",
    when: ["secret.unknown"],
    reason: "there is no secret of that name",
  },
  {
    name: "secret.scope",
    effect: "deny",
    when: ["secret.outOfScope"],
    reason: "the secret is not for that",
  },
];

/** They come after the rules of `gates.rules`. */
export const DEFAULT_RULES: readonly Rule[] = [
  {
    name: "credentials",
    effect: "deny",
    when: ["path.credential"],
    reason: "its name is one of a file with keys or credentials",
  },
  // After every default rule that denies: a rule more must never make of a denial a question.
  {
    name: "denied.below",
    effect: "ask",
    when: ["denied.below"],
    reason: "it reaches a whole folder, in which a rule of gates.rules denies something",
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
    name: "search.configured",
    effect: "allow",
    capabilities: ["net.fetch"],
    when: ["url.search"],
    reason: "it asks the search provider of tools.webSearch",
  },
  {
    name: "fetch.person",
    effect: "allow",
    capabilities: ["net.fetch"],
    when: ["url.personHost"],
    reason: "the host stands in the person's own words",
  },
  {
    name: "fetch.many",
    effect: "ask",
    capabilities: ["net.fetch"],
    when: ["url.toolUrl", "url.spent"],
    reason: "this turn has fetched as many URLs of tool results unasked as " +
      "gates.unaskedFetchesPerTurn and gates.unaskedFetchesPerSite allow",
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
    name: "message.answer",
    effect: "allow",
    capabilities: ["message.send"],
    when: ["chat.own"],
    reason: "it goes where the turn's answer goes",
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
    name: "exec.sandboxed",
    effect: "allow",
    capabilities: ["exec"],
    when: ["command.sandboxed", "command.offline"],
    reason: "it runs in the sandbox, in the workspace and without a network",
  },
  {
    name: "exec.listed",
    effect: "allow",
    capabilities: ["exec"],
    when: ["command.sandboxed", "command.hostsListed"],
    reason: "it runs in the sandbox, and executor.hosts lists every host that it wants to reach",
  },
  {
    name: "exec.network",
    effect: "ask",
    capabilities: ["exec"],
    when: ["command.sandboxed"],
    reason: "it wants to reach hosts that executor.hosts does not list",
  },
  {
    name: "exec.unconfined",
    effect: "ask",
    capabilities: ["exec"],
    when: [],
    reason: "it runs without a sandbox, with everything that this user may do",
  },
  {
    name: "mcp.listed",
    effect: "allow",
    capabilities: ["mcp.call"],
    when: ["mcp.listed"],
    reason: "the server's configuration lists the tool under allow",
  },
  {
    name: "mcp.other",
    effect: "ask",
    capabilities: ["mcp.call"],
    when: [],
    reason: "the server's configuration does not list the tool under allow",
  },
  {
    name: "automation.write",
    effect: "ask",
    capabilities: ["automation.write"],
    when: [],
    reason: "it makes the agent act later, when nobody looks",
  },
  {
    name: "secret.use",
    effect: "ask",
    capabilities: ["secret.use"],
    when: [],
    reason: "it is given a secret",
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
