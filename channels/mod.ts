/**
 * Every channel: a manifest that is loaded when it is asked for, and the modules that a manifest may
 * name, by their URLs. Nothing is imported here, so that one that is broken hurts no other and a start
 * loads the packages of no channel but those that it starts (decisions D1). Written by
 * `deno task generate`.
 *
 * @module
 */

import type { ChannelPackage } from "../lib/channel/channel_package.ts";

/** The channels, in the order of their folders. */
export const CHANNELS: readonly ChannelPackage[] = [
  {
    folder: "email",
    loadManifest: () => import("./email/manifest.ts"),
    modules: {
      "instances.ts": new URL("./email/instances.ts", import.meta.url).href,
      "runtime.ts": new URL("./email/runtime.ts", import.meta.url).href,
      "validation.ts": new URL("./email/validation.ts", import.meta.url).href,
    },
  },
  {
    folder: "irc",
    loadManifest: () => import("./irc/manifest.ts"),
    modules: {
      "runtime.ts": new URL("./irc/runtime.ts", import.meta.url).href,
      "validation.ts": new URL("./irc/validation.ts", import.meta.url).href,
    },
  },
  {
    folder: "webhook",
    loadManifest: () => import("./webhook/manifest.ts"),
    modules: {
      "runtime.ts": new URL("./webhook/runtime.ts", import.meta.url).href,
      "validation.ts": new URL("./webhook/validation.ts", import.meta.url).href,
    },
  },
  {
    folder: "websocket",
    loadManifest: () => import("./websocket/manifest.ts"),
    modules: {
      "runtime.ts": new URL("./websocket/runtime.ts", import.meta.url).href,
    },
  },
];
