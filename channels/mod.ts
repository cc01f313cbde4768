/**
 * Every channel: a manifest that is loaded when it is asked for, and the modules that a manifest may
 * name, by their URLs. Nothing is imported here, so that one that is broken hurts no other and a start
 * loads the packages of no channel but those that it starts. Written by
 * `deno task generate`.
 *
 * @module
 */

import type { ChannelPackage } from "../lib/channel/channel_package.ts";
import { moduleUrl } from "../lib/base/layout.ts";

/** The channels, in the order of their folders. */
export const CHANNELS: readonly ChannelPackage[] = [
  {
    folder: "discord",
    loadManifest: () => import("./discord/manifest.ts"),
    modules: {
      "discord_driver.ts": moduleUrl("channels/discord/discord_driver.ts").href,
      "runtime.ts": moduleUrl("channels/discord/runtime.ts").href,
      "settings.ts": moduleUrl("channels/discord/settings.ts").href,
      "validation.ts": moduleUrl("channels/discord/validation.ts").href,
      "words.ts": moduleUrl("channels/discord/words.ts").href,
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
      "runtime.ts": moduleUrl("channels/email/runtime.ts").href,
      "validation.ts": moduleUrl("channels/email/validation.ts").href,
    },
    locales: {
      "de": () => import("./email/locales/de.json", { with: { type: "json" } }),
    },
  },
  {
    folder: "irc",
    loadManifest: () => import("./irc/manifest.ts"),
    modules: {
      "runtime.ts": moduleUrl("channels/irc/runtime.ts").href,
      "validation.ts": moduleUrl("channels/irc/validation.ts").href,
    },
    locales: {
      "de": () => import("./irc/locales/de.json", { with: { type: "json" } }),
    },
  },
  {
    folder: "matrix",
    loadManifest: () => import("./matrix/manifest.ts"),
    modules: {
      "chat_id.ts": moduleUrl("channels/matrix/chat_id.ts").href,
      "matrix_driver.ts": moduleUrl("channels/matrix/matrix_driver.ts").href,
      "runtime.ts": moduleUrl("channels/matrix/runtime.ts").href,
      "settings.ts": moduleUrl("channels/matrix/settings.ts").href,
      "validation.ts": moduleUrl("channels/matrix/validation.ts").href,
      "words.ts": moduleUrl("channels/matrix/words.ts").href,
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
      "chat_address.ts": moduleUrl("channels/mattermost/chat_address.ts").href,
      "mattermost_driver.ts": moduleUrl("channels/mattermost/mattermost_driver.ts").href,
      "runtime.ts": moduleUrl("channels/mattermost/runtime.ts").href,
      "settings.ts": moduleUrl("channels/mattermost/settings.ts").href,
      "validation.ts": moduleUrl("channels/mattermost/validation.ts").href,
    },
    locales: {
      "de": () => import("./mattermost/locales/de.json", { with: { type: "json" } }),
      "es": () => import("./mattermost/locales/es.json", { with: { type: "json" } }),
      "zh": () => import("./mattermost/locales/zh.json", { with: { type: "json" } }),
    },
  },
  {
    folder: "signal",
    loadManifest: () => import("./signal/manifest.ts"),
    modules: {
      "connect.ts": moduleUrl("channels/signal/connect.ts").href,
      "runtime.ts": moduleUrl("channels/signal/runtime.ts").href,
      "settings.ts": moduleUrl("channels/signal/settings.ts").href,
      "signal_driver.ts": moduleUrl("channels/signal/signal_driver.ts").href,
      "validation.ts": moduleUrl("channels/signal/validation.ts").href,
    },
    locales: {
      "de": () => import("./signal/locales/de.json", { with: { type: "json" } }),
      "es": () => import("./signal/locales/es.json", { with: { type: "json" } }),
      "zh": () => import("./signal/locales/zh.json", { with: { type: "json" } }),
    },
  },
  {
    folder: "slack",
    loadManifest: () => import("./slack/manifest.ts"),
    modules: {
      "app_manifest.ts": moduleUrl("channels/slack/app_manifest.ts").href,
      "runtime.ts": moduleUrl("channels/slack/runtime.ts").href,
      "settings.ts": moduleUrl("channels/slack/settings.ts").href,
      "slack_driver.ts": moduleUrl("channels/slack/slack_driver.ts").href,
      "validation.ts": moduleUrl("channels/slack/validation.ts").href,
      "words.ts": moduleUrl("channels/slack/words.ts").href,
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
      "runtime.ts": moduleUrl("channels/telegram/runtime.ts").href,
      "settings.ts": moduleUrl("channels/telegram/settings.ts").href,
      "telegram_driver.ts": moduleUrl("channels/telegram/telegram_driver.ts").href,
      "validation.ts": moduleUrl("channels/telegram/validation.ts").href,
      "words.ts": moduleUrl("channels/telegram/words.ts").href,
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
      "runtime.ts": moduleUrl("channels/webhook/runtime.ts").href,
      "validation.ts": moduleUrl("channels/webhook/validation.ts").href,
      "webui/index.tsx": moduleUrl("channels/webhook/webui/index.tsx").href,
    },
    locales: {
      "de": () => import("./webhook/locales/de.json", { with: { type: "json" } }),
    },
  },
  {
    folder: "websocket",
    loadManifest: () => import("./websocket/manifest.ts"),
    modules: {
      "runtime.ts": moduleUrl("channels/websocket/runtime.ts").href,
    },
    locales: {
      "de": () => import("./websocket/locales/de.json", { with: { type: "json" } }),
    },
  },
  {
    folder: "whatsapp",
    loadManifest: () => import("./whatsapp/manifest.ts"),
    modules: {
      "connect.ts": moduleUrl("channels/whatsapp/connect.ts").href,
      "delivery_fault.ts": moduleUrl("channels/whatsapp/delivery_fault.ts").href,
      "heard_message.ts": moduleUrl("channels/whatsapp/heard_message.ts").href,
      "login_store.ts": moduleUrl("channels/whatsapp/login_store.ts").href,
      "media.ts": moduleUrl("channels/whatsapp/media.ts").href,
      "runtime.ts": moduleUrl("channels/whatsapp/runtime.ts").href,
      "settings.ts": moduleUrl("channels/whatsapp/settings.ts").href,
      "wa_socket.ts": moduleUrl("channels/whatsapp/wa_socket.ts").href,
      "whatsapp_driver.ts": moduleUrl("channels/whatsapp/whatsapp_driver.ts").href,
      "words.ts": moduleUrl("channels/whatsapp/words.ts").href,
    },
    locales: {
      "de": () => import("./whatsapp/locales/de.json", { with: { type: "json" } }),
      "es": () => import("./whatsapp/locales/es.json", { with: { type: "json" } }),
      "zh": () => import("./whatsapp/locales/zh.json", { with: { type: "json" } }),
    },
  },
  {
    folder: "xmpp",
    loadManifest: () => import("./xmpp/manifest.ts"),
    modules: {
      "connection.ts": moduleUrl("channels/xmpp/connection.ts").href,
      "runtime.ts": moduleUrl("channels/xmpp/runtime.ts").href,
      "settings.ts": moduleUrl("channels/xmpp/settings.ts").href,
      "validation.ts": moduleUrl("channels/xmpp/validation.ts").href,
      "words.ts": moduleUrl("channels/xmpp/words.ts").href,
      "xmpp_driver.ts": moduleUrl("channels/xmpp/xmpp_driver.ts").href,
    },
    locales: {
      "de": () => import("./xmpp/locales/de.json", { with: { type: "json" } }),
      "es": () => import("./xmpp/locales/es.json", { with: { type: "json" } }),
      "zh": () => import("./xmpp/locales/zh.json", { with: { type: "json" } }),
    },
  },
];
