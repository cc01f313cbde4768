/**
 * What a mail server found out about a sender (RFC 8601). Anybody can write such a field into a mail, so
 * only that of one named server counts, and that server takes away what came under its name.
 *
 * @module
 */

import { domainOf } from "./address.ts";
import { type HeaderField, valuesOf } from "./header_fields.ts";

/** One finding, such as `dkim=pass header.d=example.com`. */
export interface AuthenticationResult {
  method: string;
  result: string;
  /** By name, in small letters, in their order. */
  properties: [name: string, value: string][];
}

/** A field in its parts. */
export interface AuthenticationResults {
  authservId: string;
  results: AuthenticationResult[];
}

/** A field of more characters is not looked at. */
const MAX_CHARS = 16 * 1024;

/** Reads a field; undefined for what is none. */
export function parseAuthenticationResults(value: string): AuthenticationResults | undefined {
  if (value.length > MAX_CHARS) return undefined;
  const parts = split(value);
  if (parts === undefined) return undefined;
  const [first, ...rest] = parts;
  const id = /^\s*(?:"([^"\\]+)"|([^\s"=]+))(?:\s+\d+)?\s*$/.exec(first!);
  if (id === null) return undefined;
  const results: AuthenticationResult[] = [];
  for (const part of rest) {
    if (part.trim() === "" || part.trim().toLowerCase() === "none") continue;
    const pairs = pairsOf(part);
    const [method, ...properties] = pairs ?? [];
    if (method === undefined) return undefined;
    results.push({
      method: method[0].split("/")[0]!.trim(),
      result: method[1].toLowerCase(),
      properties,
    });
  }
  return { authservId: (id[1] ?? id[2]!).toLowerCase(), results };
}

/** Parts between semicolons, without comments; undefined for what is not closed. */
function split(value: string): string[] | undefined {
  const parts: string[] = [""];
  let depth = 0;
  for (let at = 0; at < value.length; at++) {
    const char = value[at]!;
    if (depth > 0) {
      if (char === "\\") at += 1;
      else if (char === "(") depth += 1;
      else if (char === ")") depth -= 1;
      continue;
    }
    if (char === "(") {
      depth = 1;
      parts[parts.length - 1] += " ";
    } else if (char === ")") return undefined;
    else if (char === ";") parts.push("");
    else if (char === '"') {
      const end = endOfQuoted(value, at);
      if (end === undefined) return undefined;
      parts[parts.length - 1] += value.slice(at, end);
      at = end - 1;
    } else parts[parts.length - 1] += char;
  }
  return depth === 0 ? parts : undefined;
}

function endOfQuoted(value: string, start: number): number | undefined {
  for (let at = start + 1; at < value.length; at++) {
    if (value[at] === "\\") at += 1;
    else if (value[at] === '"') return at + 1;
  }
  return undefined;
}

/** `name=value` pairs; undefined where something else stands among them. */
function pairsOf(part: string): [string, string][] | undefined {
  const pair = /\s*([A-Za-z0-9._/-]+)\s*=\s*((?:"(?:[^"\\]|\\.)*"|[^\s"])+)\s*/y;
  const pairs: [string, string][] = [];
  while (pair.lastIndex < part.length) {
    const match = pair.exec(part);
    if (match === null) return undefined;
    const value = match[2]!.replace(/"((?:[^"\\]|\\.)*)"/g, (_, inner: string) => {
      return inner.replace(/\\(.)/g, "$1");
    });
    pairs.push([match[1]!.toLowerCase(), value]);
  }
  return pairs;
}

/**
 * Why a mail is not taken for one of its sender; undefined when the named server vouches for the domain
 * of the sender: by `dmarc=pass`, or, where the domain has no such policy, by a signature or a route of
 * that very domain.
 */
export function unauthenticatedReason(
  fields: readonly HeaderField[],
  { address, authservId }: { address: string; authservId: string },
): string | undefined {
  const values = valuesOf(fields, "authentication-results");
  const id = authservId.toLowerCase();
  if (values.some((value) => parseAuthenticationResults(value) === undefined && names(value, id))) {
    return `an Authentication-Results that names ${authservId} cannot be read`;
  }
  const trusted = values.map(parseAuthenticationResults).filter((each) => each?.authservId === id);
  if (trusted.length === 0) return `no Authentication-Results of ${authservId} is in it`;
  // A server that leaves a forged one in would be believed whichever of the two is looked at.
  if (trusted.length > 1) {
    return `${trusted.length} Authentication-Results of ${authservId} are in it`;
  }
  const { results } = trusted[0]!;
  const domain = domainOf(address);
  const dmarc = results.filter(({ method }) => method.toLowerCase() === "dmarc");
  if (dmarc.some(({ result }) => result !== "pass" && result !== "none")) {
    return `${authservId} says dmarc=${dmarc.find(({ result }) => result !== "pass")!.result}`;
  }
  const passed = dmarc.filter(({ result }) => result === "pass");
  if (passed.length > 0) {
    return passed.every((each) => properties(each, "header.from").every((of) => of === domain))
      ? undefined
      : "its dmarc=pass is that of another domain";
  }
  return results.some((each) => each.result === "pass" && isAligned(each, domain))
    ? undefined
    : `${authservId} vouches neither by dmarc nor by dkim or spf for ${domain}`;
}

function isAligned(result: AuthenticationResult, domain: string): boolean {
  switch (result.method.toLowerCase()) {
    case "dkim": {
      const by = properties(result, "header.d");
      const signed = by.length > 0 ? by : properties(result, "header.i");
      return signed.length === 1 && signed[0] === domain;
    }
    case "spf": {
      const from = properties(result, "smtp.mailfrom");
      return from.length === 1 && from[0] === domain;
    }
    default:
      return false;
  }
}

function names(value: string, authservId: string): boolean {
  return value.toLowerCase().includes(authservId);
}

/** The domains that a property names. */
function properties({ properties }: AuthenticationResult, name: string): string[] {
  return properties.filter(([each]) => each === name).map(([, value]) => domainOf(value));
}
