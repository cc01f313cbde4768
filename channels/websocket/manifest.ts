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
      host: { kind: "string", default: "127.0.0.1", label: "Address to listen at" },
      port: { kind: "int", default: 8765, min: 0, max: 65_535, label: "Port to listen at" },
      path: { kind: "string", default: "/", label: "Path of the connection" },
      publicWsUrl: {
        kind: "string",
        default: "",
        label: "Address that clients are told, behind a reverse proxy",
      },
      token: { kind: "secret", label: "Secret that every client shows, beside issued tokens" },
      websocketRequiresToken: { kind: "bool", default: true, label: "Ask clients for a token" },
      tokenIssuePath: {
        kind: "string",
        default: "",
        label: "Path that gives out short-lived tokens; empty: none",
      },
      tokenIssueSecret: { kind: "secret", label: "Secret to sign in to this app from elsewhere" },
      tokenTtlS: {
        kind: "int",
        default: 300,
        min: 30,
        max: 86_400,
        label: "Seconds that an issued token holds",
      },
      allowFrom: {
        kind: "list",
        default: ["*"],
        label: "Ids of clients that may come in; * for all",
      },
      streaming: { kind: "bool", default: true, label: "Send answers piece by piece" },
      showReasoning: { kind: "bool", default: true, label: "Send reasoning" },
    },
    required: [],
    summary: "This browser app, and programs that speak its protocol. It is ready to use.",
    steps: [
      "It is on already: this page uses it.",
      "Give other programs a token from: service tokens issue --scopes read,chat. The protocol is in docs/websocket.md.",
      "For other machines, put a reverse proxy in front, as docs/reverse-proxy.md shows.",
    ],
  },
  capabilities: ["streaming", "reasoning", "progress", "media", "idempotent_send", "in_service"],
  defaultActivation: true,
  locales: ["de"],
  permissions: { hosts: [], paths: [], variables: ["WS_NO_BUFFER_UTIL", "WS_NO_UTF_8_VALIDATE"] },
  // A client names itself; only a proxy vouches for people, and those have actors of their own.
  senderVerified: false,
};

export default manifest;
