import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";

/**
 * The WebSocket server channel. Its whole section is checked by the schema of the
 * configuration; what stands here is what a settings page offers. Its port and files stand in the
 * configuration, from which the permissions of the service are made.
 */
const manifest: ChannelDescriptor = {
  name: "websocket",
  displayName: "WebSocket",
  runtime: "channels/websocket/runtime.ts:WebsocketChannel",
  dependencies: ["npm:ws@8.23.0"],
  setup: {
    fields: {
      host: { kind: "string", default: "127.0.0.1" },
      port: { kind: "int", default: 8765, min: 0, max: 65_535 },
      path: { kind: "string", default: "/" },
      publicWsUrl: { kind: "string", default: "" },
      token: { kind: "secret" },
      websocketRequiresToken: { kind: "bool", default: true },
      tokenIssuePath: { kind: "string", default: "" },
      tokenIssueSecret: { kind: "secret" },
      tokenTtlS: { kind: "int", default: 300, min: 30, max: 86_400 },
      allowFrom: { kind: "list", default: ["*"] },
      streaming: { kind: "bool", default: true },
      showReasoning: { kind: "bool", default: true },
    },
    required: [],
  },
  capabilities: ["streaming", "reasoning", "progress", "media", "idempotent_send", "in_service"],
  defaultActivation: true,
  permissions: { hosts: [], paths: [], variables: ["WS_NO_BUFFER_UTIL", "WS_NO_UTF_8_VALIDATE"] },
  // A client names itself; only a proxy vouches for people, and those have actors of their own.
  senderVerified: false,
};

export default manifest;
