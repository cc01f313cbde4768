import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";
import { LANGUAGE_FIELD } from "../../lib/channel/setup/common_fields.ts";

/** Rooms and direct messages of a Matrix homeserver (docs/channels/matrix.md). */
const manifest = {
  name: "matrix",
  displayName: "Matrix",
  runtime: "channels/matrix/runtime.ts:MatrixChannel",
  dependencies: [
    "npm:@matrix-org/matrix-sdk-crypto-wasm@18.9.0",
    "npm:entities@7.0.1",
    "npm:marked@18.2.1",
    "npm:matrix-js-sdk@43.0.0",
  ],
  setup: {
    fields: {
      homeserver: {
        kind: "string",
        format: "url",
        label: "Homeserver, such as https://matrix.org",
      },
      accessToken: { kind: "secret", format: "token", label: "Access token of the bot's account" },
      user: { kind: "string", label: "User name, to log in with a password instead" },
      password: { kind: "secret", label: "Password of the bot's account" },
      userId: {
        kind: "string",
        label: "User ID that it has to be, such as @helper:example.org; empty: any",
      },
      deviceName: {
        kind: "string",
        default: "Agent service",
        label: "How its session is called in the account's settings",
      },
      respond: {
        kind: "enum",
        choices: ["mention", "all"],
        default: "mention",
        label: "What to answer in rooms with more than two members",
      },
      threads: {
        kind: "enum",
        choices: ["follow", "always"],
        default: "follow",
        label: "Answer in threads that people open, or always open one in rooms",
      },
      encryption: {
        kind: "enum",
        choices: ["on", "verified", "off"],
        default: "on",
        label: "Encrypted rooms: on, with verified sessions alone, or off",
      },
      inviteFrom: {
        kind: "list",
        label: "User IDs whose invites are accepted; empty: those of allowFrom",
      },
      ackReaction: {
        kind: "string",
        default: "👀",
        label: "Reaction to a message that was heard; - for none",
      },
      editEveryMs: {
        kind: "int",
        default: 3_000,
        min: 100,
        max: 60_000,
        label: "Milliseconds between two edits of an answer that is being written",
      },
      language: LANGUAGE_FIELD,
    },
    required: [{ fields: ["homeserver"] }, { fields: ["accessToken", "password"] }],
    validator: "channels/matrix/validation.ts:validate",
    summary:
      "Rooms and direct chats on any homeserver. Needs an account for the bot, five minutes.",
    steps: [
      "Make an account for the bot on the homeserver.",
      "Set user and password. Or an access token, which encrypts only where no other client uses its session.",
      "Set homeserver and allowFrom with your own user ID, such as @alice:example.org.",
      "Switch the channel on, and invite the bot to a room.",
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
    "verification",
    "idempotent_send",
  ],
  defaultActivation: false,
  locales: ["de", "es", "zh"],
  permissions: { hosts: ["{homeserver}"], paths: [], variables: [] },
  // A user id belongs to one account for ever. Its homeserver signs what it writes, and ours checks that:
  // whoever lists an approver trusts the operator of that person's homeserver.
  senderVerified: true,
} as const satisfies ChannelDescriptor;

export default manifest;
