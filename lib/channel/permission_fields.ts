/**
 * `{field}` in the permissions of a manifest: the value that the section has for that field.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { ChannelPermissions } from "./descriptor.ts";

type Values = Readonly<Record<string, unknown>>;

/** Names of the fields that stand in an entry. */
export function placeholdersIn(entry: string): string[] {
  return [...entry.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
}

/**
 * The permissions with values in the places of fields. An entry with an empty value falls away, one with a
 * list is there for each of its items. A host that is nothing but `{field}` may be a URL: its host and port
 * count. `section`: whose values they are, such as `channels.irc`. Throws RangeError for an entry with two
 * lists, and `config_invalid` for a value that makes a host stand for several: that is the manifest's alone.
 */
export function fillPermissions(
  { hosts, paths, variables }: ChannelPermissions,
  values: Values,
  section: string,
): ChannelPermissions {
  return {
    hosts: hosts.flatMap((entry) => {
      const filled = fillEntry(entry, values, asHost).map(hostOfUrl);
      const [name] = placeholdersIn(entry);
      if (name !== undefined && filled.some((host) => host.includes("*"))) {
        throw new ServiceError(
          "config_invalid",
          `Cannot use ${section}.${name}: it holds a *, expected the name or address of one host`,
          { param: `${section}.${name}` },
        );
      }
      return filled;
    }),
    paths: paths.flatMap((entry) => fillEntry(entry, values, (text) => text)),
    variables: [...variables],
  };
}

function fillEntry(entry: string, values: Values, write: (text: string) => string): string[] {
  const names = placeholdersIn(entry);
  const lists = new Set(names.filter((name) => Array.isArray(values[name])));
  if (lists.size > 1) throw new RangeError(`"${entry}" names more than one list`);
  const [list] = lists;
  const items = list === undefined ? [undefined] : values[list] as unknown[];
  return items.flatMap((item) => {
    const parts = names.map((name) => write(textOf(name === list ? item : values[name])));
    if (parts.includes("")) return [];
    let at = 0;
    return [entry.replace(/\{[^{}]*\}/g, () => parts[at++]!)];
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : "";
}

/** An IPv6 address in brackets, as a port may follow. */
function asHost(text: string): string {
  return /^[0-9A-Fa-f:.]+$/.test(text) && text.split(":").length > 2 ? `[${text}]` : text;
}

const PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "ws:": 80,
  "https:": 443,
  "wss:": 443,
};

function hostOfUrl(host: string): string {
  const url = host.includes("://") ? URL.parse(host) : null;
  const usual = url === null ? undefined : PORTS[url.protocol];
  return usual === undefined ? host : `${url!.hostname}:${url!.port || usual}`;
}
