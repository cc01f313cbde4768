/**
 * `service plugins list`.
 *
 * @module
 */

import type { ChannelListing } from "../../lib/operations/channels/channel_listing.ts";
import { channelToWire } from "../../lib/operations/channels/channel_schemas.ts";
import { jsonLine, type Output } from "../output.ts";
import { printTable } from "../table.ts";
import type { PluginsDeps } from "./deps.ts";
import { readListings } from "./read_listings.ts";

/** Prints every channel, the broken ones as failed with why. */
export async function list(out: Output, deps: PluginsDeps, json: boolean): Promise<void> {
  const { listings, api, problems } = await readListings(deps);
  if (json) {
    for (const each of listings) await out.stream(jsonLine(channelToWire(each)) + "\n");
  } else {
    printTable(
      out,
      ["CHANNEL", "NAME", "STATE", "INSTANCES", "DETAIL"],
      listings.map((each) => [
        each.name,
        each.displayName,
        stateOf(each),
        instancesOf(each),
        detailOf(each),
      ]),
    );
    out.note(`HTTP API: ${api ? "on" : "off; turn it on with: service plugins enable api"}`);
    out.note("Show the state of enabled channels with: service channels status");
  }
  for (const problem of problems) out.note(`warning: ${problem}`);
}

/** `failed`: it cannot run; `on` says nothing of how it is at the moment. */
export function stateOf({ enabled, configured, problem }: ChannelListing): string {
  if (problem !== undefined) return "failed";
  if (!enabled) return "off";
  return configured ? "on" : "failed";
}

/** What stands in the way, in words. */
export function detailOf({ problem, missing }: ChannelListing): string {
  if (problem !== undefined) return problem;
  return missing.length === 0 ? "" : `not set: ${missing.join("; ")}`;
}

function instancesOf({ multiInstance, instances }: ChannelListing): string {
  if (!multiInstance) return "-";
  return `${instances.filter(({ enabled }) => enabled).length} of ${instances.length} on`;
}
