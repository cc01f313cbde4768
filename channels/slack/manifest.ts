import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";
import { LANGUAGE_FIELD } from "../../lib/channel/setup/common_fields.ts";

/** Slack: an app of a workspace, over Socket Mode or the HTTP Events API (docs/channels/slack.md). */
const manifest = {
  name: "slack",
  displayName: "Slack",
  runtime: "channels/slack/runtime.ts:SlackChannel",
  dependencies: [
    "npm:@slack/socket-mode@3.1.0",
    "npm:@slack/web-api@8.2.0",
    "npm:entities@7.0.1",
    "npm:marked@18.2.1",
  ],
  setup: {
    fields: {
      botToken: {
        kind: "secret",
        format: "token",
        label: "Bot User OAuth Token, xoxb-…",
      },
      appToken: {
        kind: "secret",
        format: "token",
        label: "App-level token, xapp-…, for the mode socket",
      },
      mode: {
        kind: "enum",
        choices: ["socket", "http"],
        default: "socket",
        label: "How events come: socket, or http with a public address",
      },
      signingSecret: {
        kind: "secret",
        format: "token",
        label: "Signing secret, for the mode http",
      },
      host: { kind: "string", default: "127.0.0.1", label: "Address to listen at, mode http" },
      port: { kind: "int", default: 8790, min: 0, max: 65_535, label: "Its port, mode http" },
      apiUrl: {
        kind: "string",
        format: "url",
        default: "https://slack.com/api",
        label: "Address of the Web API",
      },
      respond: {
        kind: "enum",
        choices: ["mention", "all"],
        default: "mention",
        label: "What to answer in channels",
      },
      replyInThread: {
        kind: "bool",
        default: true,
        label: "Answer messages of channels in a thread of their own",
      },
      ackReaction: {
        kind: "string",
        default: "eyes",
        form: {
          pattern: ":?[\\p{L}\\p{N}_+'\\-]{1,100}(?:::skin-tone-[2-6])?:?",
          expected: "the name of an emoji, such as eyes",
        },
        label: "Emoji on a message that is being answered; empty: none",
      },
      language: LANGUAGE_FIELD,
      streaming: { kind: "bool", default: true, label: "Show answers while they are written" },
    },
    required: [{ fields: ["botToken"] }, { fields: ["appToken", "signingSecret"] }],
    validator: "channels/slack/validation.ts:validate",
    summary:
      "Channels and direct messages of a workspace. Needs an app made from a manifest and two tokens, ten minutes.",
    steps: [
      "Open api.slack.com/apps, Create New App, From a manifest, and paste the one of docs/channels/slack.md.",
      "Basic Information, App-Level Tokens, Generate: one with connections:write is appToken.",
      "Install App, Install to Workspace: the Bot User OAuth Token is botToken.",
      "Switch the channel on, send the app a direct message, and pair the code that it answers with, here or with: service channels pair CODE.",
      "Invite the app in channels with /invite.",
    ],
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
    // The sockets of Socket Mode ask for their host by name first, which needs it without a port.
    hosts: ["slack.com:443", "*.slack.com", "{apiUrl}", "{host}:{port}"],
    paths: [],
    // The WebSocket client of the SDK asks for them when it is loaded.
    variables: ["JEST_WORKER_ID", "UNDICI_NO_WASM_SIMD", "UNDICI_USE_MILO"],
  },
  // Slack signs people in, and their ids never change hands.
  senderVerified: true,
} as const satisfies ChannelDescriptor;

export default manifest;
