import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";
import { LANGUAGE_FIELD } from "../../lib/channel/setup/common_fields.ts";

/** Servers, threads and direct messages of Discord (docs/channels/discord.md). */
const manifest = {
  name: "discord",
  displayName: "Discord",
  runtime: "channels/discord/runtime.ts:DiscordChannel",
  dependencies: ["npm:discord.js@14.28.1", "npm:entities@7.0.1", "npm:marked@18.2.1"],
  setup: {
    fields: {
      token: {
        kind: "secret",
        label: "Token of the bot",
      },
      apiUrl: {
        kind: "string",
        format: "url",
        default: "https://discord.com/api",
        label: "Address of the API; another one for a proxy",
      },
      respond: {
        kind: "enum",
        choices: ["mention", "all"],
        default: "mention",
        label: "What to answer on servers: where it is mentioned or replied to, or everything",
      },
      threads: {
        kind: "enum",
        choices: ["off", "on"],
        default: "off",
        label: "Answer on servers in a thread of its own",
      },
      ackReaction: {
        kind: "string",
        default: "👀",
        form: {
          pattern: "[^\\s\\/?#]{0,20}|\\w{2,32}:\\d{17,20}",
          expected: "an emoji, or name:id of one of a server",
        },
        label: "Reaction to a message that was taken; empty: none",
      },
      slashCommand: {
        kind: "string",
        default: "ask",
        form: {
          pattern: "[[\\-_\\p{L}\\p{N}]--[\\p{Lu}\\p{Lt}]]{1,32}",
          expected: "1 to 32 small letters, digits, - and _",
        },
        label: "Name of the slash command; empty: none",
      },
      slashServers: {
        kind: "list",
        form: { pattern: "\\d{17,20}", expected: "ids of servers, each of 17 to 20 digits" },
        label: "Ids of servers that have the slash command; empty: all",
      },
      language: LANGUAGE_FIELD,
      streaming: { kind: "bool", default: true, label: "Show answers while they are written" },
    },
    required: [{ fields: ["token"] }],
    summary:
      "Servers, threads and direct messages. Needs a bot from the developer portal, ten minutes.",
    steps: [
      "Make an application at discord.com/developers/applications (New Application).",
      "On its page Bot, switch on Message Content Intent, and save.",
      "On the page Bot, make a token with Reset Token, and give it as token.",
      "In the URL Generator of OAuth2, tick the scopes bot and applications.commands and the permissions that docs/channels/discord.md lists, and invite the bot to a server with the URL.",
      "Switch the channel on, send the bot a direct message, and pair the code that it answers with, here or with: service channels pair CODE.",
    ],
    validator: "channels/discord/validation.ts:validate",
  },
  management: { multiInstance: true },
  capabilities: [
    "streaming",
    "progress",
    "media",
    "replies",
    "typing",
    "reactions",
    "buttons",
    "voice",
    "groups",
    "catch_up",
  ],
  defaultActivation: false,
  locales: ["de", "es", "zh"],
  permissions: {
    hosts: [
      "discord.com:443",
      "gateway.discord.gg:443",
      // A session is resumed at a gateway of its own, such as gateway-us-east1-b.discord.gg.
      "*.discord.gg",
      "cdn.discordapp.com:443",
      "media.discordapp.net:443",
      "{apiUrl}",
    ],
    paths: [],
    // discord.js and what it is made of ask for them when they are loaded.
    variables: ["JEST_WORKER_ID", "NODE_V8_COVERAGE", "UNDICI_NO_FG", "WS_NO_BUFFER_UTIL"],
  },
  // Ids of users are Discord's, and never given to somebody else.
  senderVerified: true,
} as const satisfies ChannelDescriptor;

export default manifest;
