import type { ChannelDescriptor } from "@service/service/channel";

const manifest: ChannelDescriptor = {
  name: "line",
  displayName: "Line",
  runtime: "channels/line/runtime.ts:LineChannel",
  dependencies: [],
  setup: {
    fields: {
      host: {
        kind: "string",
        format: "host",
        default: "127.0.0.1",
        label: "Host of the line server",
      },
      port: { kind: "int", default: 7007, min: 1, max: 65_535, label: "Its port" },
      password: { kind: "secret", label: "Password" },
    },
    required: [{ fields: ["password"] }],
  },
  capabilities: [],
  defaultActivation: false,
  permissions: { hosts: ["{host}:{port}"], paths: [], variables: [] },
  // Whoever has the password can write under any name.
  senderVerified: false,
};

export default manifest;
