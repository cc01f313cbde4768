/**
 * What a rule of `gates.rules` says of targets: patterns of one kind a capability, compared with what
 * was resolved and never with what was asked for.
 *
 * @module
 */

import { basename, SEPARATOR } from "@std/path";
import { isTarget, namesChat, TARGET_FORM } from "../base/chat_address.ts";
import {
  HOST_PATTERN_FORM,
  type HostPattern,
  meansHost,
  parseHostPattern,
} from "../base/host_pattern.ts";
import { SECRET_NAME } from "../secrets/secret_name.ts";
import type { Capability, CommandTarget, Target } from "../contract/actions.ts";
import { isSameAddress } from "../base/addresses.ts";
import { foldPath } from "../base/protected_names.ts";
import { isInside } from "../base/inside.ts";
import { matchNames, mayMatchBelow } from "./match_names.ts";
import { COMMAND_PATH } from "./resolve/resolve_command.ts";

/** A pattern, read. `text` is how it was written. */
export type TargetPattern =
  & { readonly text: string }
  & (
    | {
      readonly kind: "path";
      /** Its names begin at the workspace instead of the root. */
      readonly inWorkspace: boolean;
      readonly names: readonly string[];
      /** The same as the most forgiving file system compares them; `names` itself if nothing differs. */
      readonly folded: readonly string[];
      readonly hasWildcard: boolean;
    }
    | { readonly kind: "url" } & HostPattern
    | { readonly kind: "chat" }
    | { readonly kind: "command"; readonly argv: readonly string[] }
    | {
      readonly kind: "mcp";
      readonly server: string;
      /** Undefined: every tool of the server. */
      readonly tool: string | undefined;
    }
    | {
      readonly kind: "secret";
      readonly name: string;
      /** Undefined: whoever is given it. */
      readonly host: HostPattern | undefined;
    }
  );

/** The kind of target that an action of a capability has. */
export type PatternKind = TargetPattern["kind"];

/** Kinds by capability; a capability without one takes no targets. */
const KINDS: Partial<Record<Capability, PatternKind>> = {
  "fs.read": "path",
  "fs.write": "path",
  "net.fetch": "url",
  "message.send": "chat",
  "exec": "command",
  "mcp.call": "mcp",
  "secret.use": "secret",
};

/** What a pattern of each kind has to look like, for messages. */
export const PATTERN_FORMS: Readonly<Record<PatternKind, string>> = {
  path:
    "a path that begins with / or workspace/, in which * and ? stand for part of a name and **" +
    " for any names",
  url: HOST_PATTERN_FORM,
  chat: TARGET_FORM,
  command:
    'a whole command as a JSON list, such as ["git","status"], or a whole text for the shell',
  mcp: "<server>/<tool>, or <server>/* for every tool of a server",
  secret: "a secret's name, or <name>@<host>, <name>@<host>:<port> or <name>@*.<host>",
};

/** Longest pattern, characters. */
const MAX_PATTERN_CHARS = 8_192;

/** The kind of patterns for a capability. */
export function patternKind(capability: Capability): PatternKind | undefined {
  return KINDS[capability];
}

/** Reads a pattern; undefined for what is none of its kind. */
export function parsePattern(kind: PatternKind, text: string): TargetPattern | undefined {
  if (text.trim() === "" || text.length > MAX_PATTERN_CHARS || !text.isWellFormed()) return;
  if (text.includes("\0")) return;
  switch (kind) {
    case "path":
      return parsePath(text);
    case "url":
      return parseHost(text);
    case "chat":
      return isTarget(text) ? { kind, text } : undefined;
    case "command":
      return parseCommand(text);
    case "mcp":
      return parseMcp(text);
    case "secret":
      return parseSecret(text);
  }
}

function parsePath(text: string): TargetPattern | undefined {
  const inWorkspace = text === "workspace" || text.startsWith("workspace/");
  if (!inWorkspace && !text.startsWith("/")) return;
  // Braces and brackets mean something elsewhere; as letters they would match nothing that was meant.
  if (/[\\{}[\]]/.test(text)) return;
  const names = text.split("/").filter((name) => name !== "").slice(inWorkspace ? 1 : 0);
  if (names.some((name) => name === "." || name === ".." || /[^*]\*\*|\*\*[^*]|\*{3}/.test(name))) {
    return;
  }
  return pathPattern(names, { text, inWorkspace });
}

/** The pattern of names, as they are: whatever is in them was checked, or is only to deny. */
export function pathPattern(
  names: readonly string[],
  { text, inWorkspace }: { text: string; inWorkspace: boolean },
): TargetPattern {
  const folded = unlessSame(foldPath(names.join("/")), names);
  const hasWildcard = names.some((name) => /[*?]/.test(name));
  return { kind: "path", text, inWorkspace, names, folded, hasWildcard };
}

function unlessSame(folded: readonly string[], names: readonly string[]): readonly string[] {
  return folded.length === names.length && folded.every((name, at) => name === names[at])
    ? names
    : folded;
}

function parseHost(text: string): TargetPattern | undefined {
  const pattern = parseHostPattern(text);
  return pattern && { kind: "url", ...pattern };
}

function parseCommand(text: string): TargetPattern | undefined {
  // A shell text that begins so can be written as a list; a list that is misspelt must not become one.
  if (!text.trimStart().startsWith("[")) {
    return { kind: "command", text, argv: ["/bin/sh", "-c", text] };
  }
  let argv: unknown;
  try {
    argv = JSON.parse(text);
  } catch {
    return;
  }
  if (!Array.isArray(argv) || argv.length === 0) return;
  if (!argv.every((word) => typeof word === "string" && !word.includes("\0")) || argv[0] === "") {
    return;
  }
  return { kind: "command", text, argv };
}

function parseMcp(text: string): TargetPattern | undefined {
  // A star in a name would be taken for more than the one tool that has it.
  const match = /^([a-z][a-z0-9-]{0,31})\/(\*|[^*\s\p{C}]{1,256})$/u.exec(text);
  if (match === null) return;
  return { kind: "mcp", text, server: match[1]!, tool: match[2] === "*" ? undefined : match[2] };
}

const SECRET_PATTERN = new RegExp(`^(${SECRET_NAME})(?:@(.+))?$`);

function parseSecret(text: string): TargetPattern | undefined {
  const match = SECRET_PATTERN.exec(text);
  if (match === null) return;
  const name = match[1]!;
  if (match[2] === undefined) return { kind: "secret", text, name, host: undefined };
  const host = parseHostPattern(match[2]);
  return host && { kind: "secret", text, name, host };
}

/** Whether a pattern may mean something below a folder (a real path), as a forgiving file system would. */
export function mayMeanBelow(pattern: TargetPattern, folder: string, workspace: string): boolean {
  if (pattern.kind !== "path") return false;
  if (!pattern.inWorkspace) return mayMatchBelow(pattern.folded, foldPath(folder));
  if (isInside(workspace, folder)) return true;
  return isInside(folder, workspace) &&
    mayMatchBelow(pattern.folded, foldPath(folder.slice(workspace.length)));
}

/** A target, with what comparing many patterns with it needs worked out once. */
export class PatternSubject {
  readonly #target: Target;
  readonly #workspace: string;
  #names: Partial<Record<"root" | "workspace", string[] | null>> = {};
  #folded: Partial<Record<"root" | "workspace", readonly string[]>> = {};

  constructor(target: Target, workspace: string) {
    this.#target = target;
    this.#workspace = workspace;
  }

  /**
   * Whether a pattern means the target. `forgiving`, for denials, compares names as the most forgiving
   * file system would, and an address with every address of a host.
   */
  matches(pattern: TargetPattern, how: "exact" | "forgiving"): boolean {
    const target = this.#target;
    switch (pattern.kind) {
      case "path": {
        if (target.kind !== "path") return false;
        const from = pattern.inWorkspace ? "workspace" : "root";
        const names = this.#namesFrom(from);
        if (names === null) return false;
        if (matchNames(pattern.names, names)) return true;
        if (how === "exact") return false;
        const folded = this.#folded[from] ??= unlessSame(foldPath(names.join("/")), names);
        // The same comparison again, where folding changes neither side.
        if (folded === names && pattern.folded === pattern.names) return false;
        return matchNames(pattern.folded, folded);
      }
      case "url":
        if (target.kind !== "url") return false;
        if (meansHost(pattern, target.host, target.port)) return true;
        return how === "forgiving" && pattern.isAddress &&
          (pattern.port === undefined || pattern.port === target.port) &&
          target.addresses.some((address) => isSameAddress(pattern.host, address));
      case "chat":
        return target.kind === "chat" && namesChat([pattern.text], target);
      case "command":
        return target.kind === "command" && sameCommand(pattern.argv, target, this.#workspace, how);
      case "mcp":
        return target.kind === "mcp" && pattern.server === target.server &&
          (pattern.tool === undefined || pattern.tool === target.tool);
      case "secret": {
        if (target.kind !== "secret" || pattern.name !== target.name) return false;
        if (pattern.host === undefined) return true;
        const { recipient } = target;
        return recipient.kind === "host" &&
          meansHost(pattern.host, recipient.host, recipient.port);
      }
    }
  }

  #namesFrom(from: "root" | "workspace"): string[] | null {
    const known = this.#names[from];
    if (known !== undefined) return known;
    const real = this.#target.kind === "path" ? this.#target.real : "";
    const split = (path: string) => path.split(SEPARATOR).filter((name) => name !== "");
    const names = from === "root"
      ? split(real)
      : isInside(real, this.#workspace)
      ? split(real.slice(this.#workspace.length))
      : null;
    return this.#names[from] = names;
  }
}

/**
 * A program that is written without a folder means the system's own of that name, and one with a relative
 * path the workspace's. For denials either means any program that has the name.
 */
function sameCommand(
  [name = "", ...words]: readonly string[],
  { argv: [given = "", ...rest], program, cwd }: Pick<CommandTarget, "argv" | "program" | "cwd">,
  workspace: string,
  how: "exact" | "forgiving",
): boolean {
  if (words.length !== rest.length || words.some((word, index) => word !== rest[index])) {
    return false;
  }
  if (how === "forgiving") {
    if (name === given || name === program) return true;
    return basename(given) === basename(name) || basename(program) === basename(name);
  }
  if (name.startsWith("/")) return name === given;
  if (name.includes("/")) return name === given && cwd === workspace;
  return (name === given || COMMAND_PATH.some((folder) => `${folder}/${name}` === given)) &&
    !isInside(program, workspace);
}
