/**
 * The resolver child: the addresses of one host, as this machine resolves names, /etc/hosts included.
 *
 * @module
 */

import { lookup } from "node:dns/promises";
import { type ChildRun, serveChild } from "../../executor/serve_child.ts";

/** Addresses that are given back; a host with more is reached by the first ones. */
const MAX_ADDRESSES = 16;

/** Looks up the host of a URL target. */
export const run: ChildRun = async ({ task: { target } }) => {
  if (target?.kind !== "url") throw new Error(`expected a URL, got ${target?.kind}`);
  let found: { address: string }[];
  try {
    found = await lookup(target.host, { all: true });
  } catch (error) {
    const code = (error as { code?: string }).code ?? "unknown error";
    throw new Error(`its host cannot be looked up (${code})`);
  }
  const addresses = [...new Set(found.map(({ address }) => address))];
  return { type: "addresses", addresses: addresses.slice(0, MAX_ADDRESSES) };
};

if (import.meta.main) serveChild(run);
