/**
 * Holds the scope of each secret that the configuration names against whoever is given its value. A
 * secret without a scope may stand anywhere in the file.
 *
 * @module
 */

import { joinHostPort } from "../base/host_pattern.ts";
import { readProvider } from "../model/provider_spec.ts";
import { USUAL_BASE_URLS } from "../policy/search_endpoint.ts";
import { isInScope } from "../policy/secret_scope.ts";
import { parsePattern } from "../policy/target_pattern.ts";
import type { Secret } from "../contract/secrets.ts";
import { formatPath, type KeyPath } from "../base/key_path.ts";
import type { Problem } from "../config/problem.ts";
import type { SecretReference } from "../config/references.ts";
import type { Config } from "../config/schema.ts";

/** Who is given what stands at a key. */
type Recipient =
  | { kind: "host"; host: string; port: number; plain?: true }
  | { kind: "command"; argv: readonly string[] }
  /** Nobody can be: the section names no address. */
  | { kind: "nobody" }
  /** It cannot be told from the configuration. */
  | { kind: "unknown" };

/** A problem for each secret that stands where its scope does not reach, or everybody would read it. */
export function checkSecretScopes(
  config: Config,
  references: readonly SecretReference[],
): Problem[] {
  return references.flatMap(({ path, secret }) => {
    if (isArgument(path)) {
      const [, , server] = path;
      const message =
        `the secret ${secret.name} would stand in the arguments of a program, which every process of this ` +
        `machine can read; give it in mcp.servers.${server}.env instead`;
      return [{ path, kind: "conflict" as const, message }];
    }
    if (secret.hosts.length === 0 && secret.commands.length === 0) return [];
    const message = scopeProblem(secret, recipientAt(config, path), formatPath(path));
    return message === undefined ? [] : [{ path, kind: "conflict" as const, message }];
  });
}

/** What becomes an argument of a server, or of the program that makes its sandbox. */
function isArgument([section, list, , key]: KeyPath): boolean {
  return section === "mcp" && list === "servers" &&
    ["command", "cwd", "read", "write"].includes(String(key));
}

function scopeProblem(secret: Secret, recipient: Recipient, key: string): string | undefined {
  const only = `the secret ${secret.name} is for ${scopeText(secret)} only`;
  const repair = `; to set it anew, naming all that it is for: service secrets set ${secret.name}`;
  switch (recipient.kind) {
    case "nobody":
      return undefined;
    case "unknown":
      return `${only}, and who is given ${key} cannot be told; a secret without hosts and commands ` +
        "may stand there";
    case "host": {
      if (isInScope(secret, recipient, "")) return undefined;
      const { host, port, plain } = recipient;
      // The address may hold the secret itself.
      if (host.includes(secret.value.toLowerCase())) {
        return `${only}, and it would go to a host that its own value names`;
      }
      const address = joinHostPort(host, port);
      // Over http a scope has to name the port, too.
      return plain
        ? `${only}, and it would go to http://${address}${repair} --host ${address}`
        : `${only}, and it would go to ${address}${repair} --host ${bracketed(host)}`;
    }
    case "command":
      if (secret.commands.some((text) => isCommand(text, recipient.argv))) return undefined;
      return `${only}, and it would go to the command ${
        shownCommand(secret, recipient.argv)
      }${repair} --command COMMAND`;
  }
}

function recipientAt(config: Config, [section, ...path]: KeyPath): Recipient {
  const [first, second] = path.map(String);
  switch (section) {
    case "providers": {
      const provider = first === undefined ? undefined : config.providers[first];
      return provider === undefined
        ? { kind: "nobody" }
        : hostOf(readProvider(first!, provider).baseUrl);
    }
    case "tools": {
      if (first !== "webSearch") return { kind: "unknown" };
      const { provider, baseUrl } = config.tools.webSearch;
      return hostOf(baseUrl ?? (provider === "none" ? "" : USUAL_BASE_URLS[provider] ?? ""));
    }
    case "transcription":
      return hostOf(config.transcription.baseUrl);
    case "mcp": {
      const server = first !== "servers" || second === undefined
        ? undefined
        : config.mcp.servers[second];
      if (server === undefined) return { kind: "nobody" };
      if (server.url !== undefined) return hostOf(server.url);
      return server.command === undefined
        ? { kind: "nobody" }
        : { kind: "command", argv: server.command };
    }
    default:
      return { kind: "unknown" };
  }
}

function hostOf(address: string): Recipient {
  const url = URL.parse(address);
  if (url === null) return { kind: "nobody" };
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const plain = url.protocol !== "https:";
  const port = Number(url.port) || (plain ? 80 : 443);
  return { kind: "host", host, port, ...plain && { plain } };
}

function isCommand(text: string, argv: readonly string[]): boolean {
  const pattern = parsePattern("command", text);
  return pattern?.kind === "command" && pattern.argv.length === argv.length &&
    pattern.argv.every((word, at) => word === argv[at]);
}

function shownCommand({ value }: Secret, argv: readonly string[]): string {
  const text = JSON.stringify(argv.map((word) => word.includes(value) ? "…" : word));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Hosts and commands of a secret, for people. */
function scopeText({ hosts, commands }: Pick<Secret, "hosts" | "commands">): string {
  return [...hosts, ...commands.map((text) => `the command ${text}`)].join(", ");
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
