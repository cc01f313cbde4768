/**
 * Every channel: manifests as they are, runtimes by their paths, so that a start loads the packages of no
 * channel but those that it starts (decisions D1). Written by `deno task generate`.
 *
 * @module
 */

import type { ChannelDescriptor } from "../lib/channel/descriptor.ts";
import websocket from "./websocket/manifest.ts";

/** A channel, before anything of it runs. */
export interface ChannelEntry {
  manifest: ChannelDescriptor;
  /** From here; import it by {@linkcode runtimeUrl} alone. */
  runtimePath: string;
}

/** The channels by their names. */
export const CHANNELS = {
  websocket: { manifest: websocket, runtimePath: "./websocket/runtime.ts" },
} as const satisfies Readonly<Record<string, ChannelEntry>>;

/** Name of a channel. */
export type ChannelName = keyof typeof CHANNELS;

/** Where the runtime of a channel is imported from. */
export function runtimeUrl(name: ChannelName): string {
  return new URL(CHANNELS[name].runtimePath, import.meta.url).href;
}
