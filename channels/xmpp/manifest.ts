import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";
import { LANGUAGE_FIELD } from "../../lib/channel/setup/common_fields.ts";

/** Chats and rooms of an XMPP account (docs/channels/xmpp.md). */
const manifest = {
  name: "xmpp",
  displayName: "XMPP",
  runtime: "channels/xmpp/runtime.ts:XmppChannel",
  dependencies: ["npm:@xmpp/xml@0.14.0", "npm:entities@7.0.1", "npm:marked@18.2.1"],
  setup: {
    fields: {
      jid: { kind: "string", label: "Its own address, such as agent@example.org" },
      password: { kind: "secret", label: "Password of the account" },
      host: { kind: "string", format: "host", label: "Server, such as xmpp.example.org" },
      port: { kind: "int", default: 5222, min: 1, max: 65_535, label: "Port" },
      tls: {
        kind: "enum",
        choices: ["starttls", "direct", "none"],
        default: "starttls",
        label: "starttls, direct (often port 5223), or none for a server on this machine",
      },
      caFile: { kind: "string", label: "Certificates (PEM) of an authority of your own" },
      resource: { kind: "string", default: "service", label: "Name of this connection" },
      nick: { kind: "string", label: "Nick in rooms; empty: the first part of the address" },
      rooms: { kind: "list", label: "Rooms to join, such as room@conference.example.org" },
      roomPasswords: {
        kind: "secret",
        label: "Their passwords: room@… password, other@… password",
      },
      respond: {
        kind: "enum",
        choices: ["mention", "all"],
        default: "mention",
        label: "What to answer in rooms",
      },
      inviteFrom: {
        kind: "list",
        label: "Addresses of people whose invitations to rooms are taken",
      },
      ignore: { kind: "list", label: "Addresses and nicks of bots that are not heard" },
      uploadUrl: {
        kind: "string",
        format: "url",
        label: "Where the server keeps files, such as https://upload.example.org",
      },
      language: LANGUAGE_FIELD,
    },
    required: [{ fields: ["jid"] }, { fields: ["password"] }, { fields: ["host"] }],
    validator: "channels/xmpp/validation.ts:validate",
    summary: "Chats and rooms on any Jabber server. Needs an account for the agent, five minutes.",
    steps: [
      "Make an account of its own for the agent on your server.",
      "Set its address, its password and the server; the password as a reference.",
      "List in allowFrom the addresses of those who may write.",
      "Add the agent as a contact in your program and write to it, without end-to-end encryption.",
    ],
  },
  management: { multiInstance: true },
  capabilities: [
    "streaming",
    "progress",
    "media",
    "replies",
    "typing",
    "voice",
    "groups",
    "catch_up",
  ],
  defaultActivation: false,
  locales: ["de", "es", "zh"],
  permissions: {
    hosts: ["{host}:{port}", "{uploadUrl}"],
    paths: ["{caFile}"],
    variables: [],
  },
  // An address is vouched for by the server that lets it in, and servers show each other who they are.
  senderVerified: true,
} as const satisfies ChannelDescriptor;

export default manifest;
