import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";

/** Messages as signed HTTP requests, in both directions (docs/channels/webhook.md). */
const manifest: ChannelDescriptor = {
  name: "webhook",
  displayName: "Webhook",
  runtime: "channels/webhook/runtime.ts:WebhookChannel",
  dependencies: [],
  setup: {
    fields: {
      host: { kind: "string", default: "127.0.0.1", label: "Address to listen at" },
      port: { kind: "int", default: 8780, min: 0, max: 65_535, label: "Port to listen at" },
      path: { kind: "string", default: "/webhook", label: "Path that takes messages" },
      url: { kind: "string", label: "URL that answers are sent to; empty: only to who waits" },
      secret: { kind: "secret", label: "Signing secret, whsec_…" },
      previousSecret: { kind: "secret", label: "Signing secret that is going out of use" },
      events: { kind: "bool", default: false, label: "Send progress and typing as events" },
      timeoutS: { kind: "int", default: 15, min: 1, max: 60, label: "Seconds for a delivery" },
      waitS: { kind: "int", default: 60, min: 1, max: 600, label: "Seconds to wait for an answer" },
      maxPerMinute: { kind: "int", default: 600, min: 1, max: 100_000, label: "Messages a minute" },
    },
    required: [{ fields: ["secret"] }],
    validator: "channels/webhook/validation.ts:validate",
    summary:
      "Any program that speaks HTTP: it posts a message and gets the answer. Needs a secret, one minute.",
    steps: [
      "Make a secret with the button below, and give it to the program that writes.",
      "List the sender ids that may write in allowFrom, and switch the channel on.",
      "Post signed messages to its address, as docs/channels/webhook.md shows.",
      "Set url for answers to be posted to; without it, only who waits for one gets it.",
    ],
  },
  capabilities: ["streaming", "reasoning", "progress", "media", "replies", "idempotent_send"],
  defaultActivation: false,
  locales: ["de"],
  webui: "webui/index.tsx",
  permissions: { hosts: ["{host}:{port}", "{url}"], paths: [], variables: [] },
  // Whoever holds the secret writes any sender_id into a message: the signature vouches for the system
  // that signs, and nothing says that this one has asked the person. So none of them approves anything.
  senderVerified: false,
};

export default manifest;
