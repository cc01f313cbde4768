import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";
import { LANGUAGE_FIELD } from "../../lib/channel/setup/common_fields.ts";

/** WhatsApp: a linked device of an account, by the protocol of its web client. */
const manifest = {
  name: "whatsapp",
  displayName: "WhatsApp",
  runtime: "channels/whatsapp/runtime.ts:WhatsAppChannel",
  dependencies: ["npm:baileys@7.0.0-rc14", "npm:entities@7.0.1", "npm:marked@18.2.1"],
  setup: {
    fields: {
      phone: {
        kind: "string",
        format: "phone",
        label: "Number of the account, to link by a code to type; empty: by a QR code",
      },
      login: { kind: "string", label: "Name of the login; linking sets it" },
      respond: {
        kind: "enum",
        choices: ["mention", "all"],
        default: "mention",
        label: "What is heard in groups: messages that mention or answer the agent, or all",
      },
      ackReaction: {
        kind: "string",
        default: "👀",
        label: "Reaction to a message that was taken; empty: none",
      },
      language: LANGUAGE_FIELD,
      clientVersion: {
        kind: "string",
        form: {
          pattern: "\\d{1,9}\\.\\d{1,9}\\.\\d{1,10}",
          expected: "three numbers such as 2.3000.1043857760",
        },
        label: "Version of WhatsApp Web to show the server; empty: that of the client library",
      },
      url: {
        kind: "string",
        format: "url",
        default: "https://web.whatsapp.com/ws/chat",
        label: "Address of the server; another one for tests",
      },
      serverKey: {
        kind: "string",
        form: { pattern: "[\\dA-Fa-f]{64}", expected: "64 hexadecimal digits" },
        label: "Key that signs certificates of another server; empty: WhatsApp's own",
      },
    },
    required: [{ fields: ["login"] }],
    summary:
      "Private chats and groups. No official client: an account can be banned. Needs a phone with a number of the agent's own, ten minutes.",
    steps: [
      "Use an account with a number of its own: this is no official client, and WhatsApp can ban an account for it.",
      "Link it here, or with: service channels login whatsapp. A QR code is shown.",
      "On the phone of the account: Settings, Linked devices, Link a device, and scan the code.",
      "Switch the channel on.",
      "Write to the account from another phone, and pair the code that it answers with, here or with: service channels pair CODE.",
    ],
  },
  management: { multiInstance: true },
  connector: "channels/whatsapp/connect.ts:connector",
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
    hosts: ["web.whatsapp.com:443", "*.whatsapp.net:443", "{url}"],
    paths: [],
    variables: ["NODE_V8_COVERAGE", "WHATSAPP_RUST_BRIDGE_FORCE_NOSIMD", "WS_NO_BUFFER_UTIL"],
  },
  // The server writes the number of the sender's account into each message, and the message is encrypted with
  // the keys of that account.
  senderVerified: true,
} as const satisfies ChannelDescriptor;

export default manifest;
