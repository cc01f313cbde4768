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
    folder: "discord",
    loadManifest: () => import("./discord/manifest.ts"),
    modules: {
      "discord_bot.ts": new URL("./discord/discord_bot.ts", import.meta.url).href,
      "instances.ts": new URL("./discord/instances.ts", import.meta.url).href,
      "runtime.ts": new URL("./discord/runtime.ts", import.meta.url).href,
      "settings.ts": new URL("./discord/settings.ts", import.meta.url).href,
      "validation.ts": new URL("./discord/validation.ts", import.meta.url).href,
      "words.ts": new URL("./discord/words.ts", import.meta.url).href,
    },
    locales: {
      "de": () => import("./discord/locales/de.json", { with: { type: "json" } }),
      "es": () => import("./discord/locales/es.json", { with: { type: "json" } }),
      "zh": () => import("./discord/locales/zh.json", { with: { type: "json" } }),
    },
  },
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
    folder: "matrix",
    loadManifest: () => import("./matrix/manifest.ts"),
    modules: {
      "chat_id.ts": new URL("./matrix/chat_id.ts", import.meta.url).href,
      "instances.ts": new URL("./matrix/instances.ts", import.meta.url).href,
      "matrix_link.ts": new URL("./matrix/matrix_link.ts", import.meta.url).href,
      "runtime.ts": new URL("./matrix/runtime.ts", import.meta.url).href,
      "settings.ts": new URL("./matrix/settings.ts", import.meta.url).href,
      "validation.ts": new URL("./matrix/validation.ts", import.meta.url).href,
      "words.ts": new URL("./matrix/words.ts", import.meta.url).href,
    },
    locales: {
      "de": () => import("./matrix/locales/de.json", { with: { type: "json" } }),
      "es": () => import("./matrix/locales/es.json", { with: { type: "json" } }),
      "zh": () => import("./matrix/locales/zh.json", { with: { type: "json" } }),
    },
  },
  {
    folder: "mattermost",
    loadManifest: () => import("./mattermost/manifest.ts"),
    modules: {
      "chat_address.ts": new URL("./mattermost/chat_address.ts", import.meta.url).href,
      "instances.ts": new URL("./mattermost/instances.ts", import.meta.url).href,
      "runtime.ts": new URL("./mattermost/runtime.ts", import.meta.url).href,
      "settings.ts": new URL("./mattermost/settings.ts", import.meta.url).href,
      "validation.ts": new URL("./mattermost/validation.ts", import.meta.url).href,
      "words.ts": new URL("./mattermost/words.ts", import.meta.url).href,
    },
    locales: {
      "de": () => import("./mattermost/locales/de.json", { with: { type: "json" } }),
      "es": () => import("./mattermost/locales/es.json", { with: { type: "json" } }),
      "zh": () => import("./mattermost/locales/zh.json", { with: { type: "json" } }),
    },
  },
  {
    folder: "slack",
    loadManifest: () => import("./slack/manifest.ts"),
    modules: {
      "app_manifest.ts": new URL("./slack/app_manifest.ts", import.meta.url).href,
      "instances.ts": new URL("./slack/instances.ts", import.meta.url).href,
      "runtime.ts": new URL("./slack/runtime.ts", import.meta.url).href,
      "settings.ts": new URL("./slack/settings.ts", import.meta.url).href,
      "slack_session.ts": new URL("./slack/slack_session.ts", import.meta.url).href,
      "validation.ts": new URL("./slack/validation.ts", import.meta.url).href,
      "words.ts": new URL("./slack/words.ts", import.meta.url).href,
    },
    locales: {
      "de": () => import("./slack/locales/de.json", { with: { type: "json" } }),
      "es": () => import("./slack/locales/es.json", { with: { type: "json" } }),
      "zh": () => import("./slack/locales/zh.json", { with: { type: "json" } }),
    },
  },
  {
    folder: "telegram",
    loadManifest: () => import("./telegram/manifest.ts"),
    modules: {
      "bot.ts": new URL("./telegram/bot.ts", import.meta.url).href,
      "instances.ts": new URL("./telegram/instances.ts", import.meta.url).href,
      "runtime.ts": new URL("./telegram/runtime.ts", import.meta.url).href,
      "settings.ts": new URL("./telegram/settings.ts", import.meta.url).href,
      "validation.ts": new URL("./telegram/validation.ts", import.meta.url).href,
      "words.ts": new URL("./telegram/words.ts", import.meta.url).href,
    },
    locales: {
      "de": () => import("./telegram/locales/de.json", { with: { type: "json" } }),
      "es": () => import("./telegram/locales/es.json", { with: { type: "json" } }),
      "zh": () => import("./telegram/locales/zh.json", { with: { type: "json" } }),
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
  {
    folder: "xmpp",
    loadManifest: () => import("./xmpp/manifest.ts"),
    modules: {
      "connection.ts": new URL("./xmpp/connection.ts", import.meta.url).href,
      "instances.ts": new URL("./xmpp/instances.ts", import.meta.url).href,
      "runtime.ts": new URL("./xmpp/runtime.ts", import.meta.url).href,
      "settings.ts": new URL("./xmpp/settings.ts", import.meta.url).href,
      "validation.ts": new URL("./xmpp/validation.ts", import.meta.url).href,
      "words.ts": new URL("./xmpp/words.ts", import.meta.url).href,
    },
    locales: {
      "de": () => import("./xmpp/locales/de.json", { with: { type: "json" } }),
      "es": () => import("./xmpp/locales/es.json", { with: { type: "json" } }),
      "zh": () => import("./xmpp/locales/zh.json", { with: { type: "json" } }),
    },
  },
];
