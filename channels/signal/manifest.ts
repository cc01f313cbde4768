import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";
import { LANGUAGE_FIELD } from "../../lib/channel/setup/common_fields.ts";

/** Signal: an account that signal-cli holds, by its JSON-RPC (docs/channels/signal.md). */
const manifest = {
  name: "signal",
  displayName: "Signal",
  runtime: "channels/signal/runtime.ts:SignalChannel",
  dependencies: ["npm:entities@7.0.1", "npm:marked@18.2.1"],
  setup: {
    fields: {
      account: {
        kind: "string",
        format: "phone",
        label: "Phone number of the account, such as +4915112345678",
      },
      host: { kind: "string", format: "host", default: "127.0.0.1", label: "Host of signal-cli" },
      port: { kind: "int", default: 7583, min: 1, max: 65_535, label: "Port of signal-cli" },
      deviceName: {
        kind: "string",
        default: "Agent service",
        label: "Name of the linked device, as the phone shows it",
      },
      respond: {
        kind: "enum",
        choices: ["mention", "all"],
        default: "mention",
        label: "What to answer in groups: mentions of the account and replies to it, or all",
      },
      ackReaction: {
        kind: "string",
        default: "👀",
        label: "Reaction to a message that was heard; empty: none",
      },
      readReceipts: { kind: "bool", default: true, label: "Mark messages that were heard as read" },
      language: LANGUAGE_FIELD,
    },
    required: [{ fields: ["account"] }],
    validator: "channels/signal/validation.ts:validate",
    summary:
      "Private chats and groups. Needs signal-cli and a phone number of the agent's own, ten minutes.",
    steps: [
      "Install signal-cli, and start it: signal-cli daemon --tcp 127.0.0.1:7583 --receive-mode=manual",
      "Connect, here or with: service channels login signal. Scan the code in Signal: Settings, Linked devices.",
      "Switch the channel on.",
      "Write to the account from another one, and pair the code that it answers with, here or with: service channels pair CODE.",
    ],
  },
  management: { multiInstance: true, identity: "account" },
  connector: "channels/signal/connect.ts:connector",
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
  permissions: { hosts: ["{host}:{port}"], paths: [], variables: [] },
  // An account id belongs to one account for ever, and each message is signed with the keys of its account.
  senderVerified: true,
} as const satisfies ChannelDescriptor;

export default manifest;
