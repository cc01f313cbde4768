/**
 * A channel by its name, or why there is none, in words that name those that there are.
 *
 * @module
 */

import type { ChannelRegistry, UsableChannel } from "../../registry/channel_registry.ts";
import { unknownChannel } from "../../registry/worker_source_of.ts";
import { ServiceError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";

/** Throws `config_invalid` for one that is broken, and `not_found`. */
export function findChannel(registry: ChannelRegistry, name: string): UsableChannel {
  const channel = registry.usable.get(name);
  if (channel !== undefined) return channel;
  const broken = registry.broken.find(({ folder }) => folder === name);
  if (broken !== undefined) throw new ServiceError("config_invalid", broken.problem);
  throw noChannel(registry, name, []);
}

/** Throws `not_found` for a name that is no channel's, broken ones and `others` included. */
export function requireKnown(
  registry: ChannelRegistry,
  name: string,
  others: readonly string[],
): void {
  const known = registry.usable.has(name) || others.includes(name) ||
    registry.broken.some(({ folder }) => folder === name);
  if (!known) throw noChannel(registry, name, others);
}

function noChannel(
  { usable, broken }: ChannelRegistry,
  name: string,
  others: readonly string[],
): ServiceError {
  const known = [...usable.keys(), ...broken.map(({ folder }) => folder), ...others];
  const near = nearest(name, known);
  const hint = near === undefined ? "" : ` (did you mean ${near}?)`;
  return new ServiceError(
    "not_found",
    `${unknownChannel(name)}${hint}; there are ${known.join(", ") || "none"}`,
    { param: "name" },
  );
}
