/**
 * A descriptor with a field of each kind, for tests.
 *
 * @module
 */

import type { ChannelDescriptor } from "../../descriptor.ts";

/** One of a channel that is called `chat`, with what a test changes. */
export function testDescriptor(more: Partial<ChannelDescriptor> = {}): ChannelDescriptor {
  return {
    name: "chat",
    displayName: "Chat",
    runtime: "channels/chat/runtime.ts:ChatChannel",
    dependencies: [],
    setup: {
      fields: {
        server: { kind: "string" },
        port: { kind: "int", default: 6697, min: 1, max: 65_535 },
        tls: { kind: "bool", default: true },
        nick: { kind: "string", default: "bot" },
        botToken: { kind: "secret" },
        tokenFile: { kind: "string" },
        rooms: { kind: "list" },
        mode: { kind: "enum", choices: ["all", "mention"] },
      },
      required: [{ fields: ["server"] }, { fields: ["botToken", "tokenFile"] }],
    },
    capabilities: ["streaming"],
    defaultActivation: false,
    permissions: {
      hosts: ["{server}:{port}", "api.example"],
      paths: ["{tokenFile}"],
      variables: ["CHAT_DEBUG"],
    },
    senderVerified: true,
    ...more,
  };
}
