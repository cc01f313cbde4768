import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";

/** Rooms and private messages of an IRC network (docs/channels/irc.md). */
const manifest: ChannelDescriptor = {
  name: "irc",
  displayName: "IRC",
  runtime: "channels/irc/runtime.ts:IrcChannel",
  dependencies: ["npm:entities@7.0.1", "npm:irc-framework@4.14.0", "npm:marked@18.2.1"],
  setup: {
    fields: {
      host: { kind: "string", format: "host", label: "Server, such as irc.libera.chat" },
      port: { kind: "int", default: 6697, min: 1, max: 65_535, label: "Port" },
      tls: { kind: "bool", default: true, label: "Encrypt" },
      caFile: { kind: "string", label: "Certificate (PEM) of an authority of your own" },
      nick: {
        kind: "string",
        form: {
          pattern: "[A-Za-z\\[\\]\\\\`_\\^\\{\\|\\}][\\w\\[\\]\\\\`\\^\\{\\|\\}\\-]{0,29}",
          expected: "a letter first, then letters, digits and _-[]{}\\|^`",
        },
        label: "Nick",
      },
      username: { kind: "string", label: "User name; empty: the nick" },
      realname: { kind: "string", label: "Real name; empty: the nick" },
      password: { kind: "secret", label: "Password of the server" },
      account: { kind: "string", label: "Account to log in with (SASL)" },
      accountPassword: { kind: "secret", label: "Password of the account" },
      channels: {
        kind: "list",
        form: { pattern: "[#&+!][^\\s,\\p{Cc}]{1,63}", expected: "names such as #room" },
        label: "Channels to join, such as #room",
      },
      channelKeys: { kind: "secret", label: "Keys: #room key, #other key" },
      respond: {
        kind: "enum",
        choices: ["mention", "all"],
        default: "mention",
        label: "What to answer in channels",
      },
      formatting: {
        kind: "enum",
        choices: ["codes", "plain"],
        default: "codes",
        label: "How bold, italics and code are shown",
      },
      matchNick: {
        kind: "bool",
        default: false,
        label: "Take nicks in allowFrom; anybody has any",
      },
      ignore: { kind: "list", label: "Nicks of bots that are not heard" },
      burst: { kind: "int", default: 4, min: 1, max: 50, label: "Lines that go out at once" },
      paceMs: {
        kind: "int",
        default: 1_000,
        min: 0,
        max: 10_000,
        label: "Milliseconds between further lines",
      },
      maxLines: { kind: "int", default: 60, min: 2, max: 500, label: "Lines of one answer" },
    },
    required: [{ fields: ["host"] }, { fields: ["nick"] }],
    validator: "channels/irc/validation.ts:validate",
    summary:
      "Rooms and private messages on an IRC network. Needs a server and a nick, two minutes.",
    steps: [
      "Choose a nick, and register an account for it where the network has accounts: /msg NickServ HELP REGISTER.",
      "Set host and nick, the rooms as channels, and account and accountPassword where there is one.",
      "List the accounts of those who may write in allowFrom, and switch the channel on.",
      "Write to it by its nick in a room, or with /msg.",
    ],
  },
  capabilities: ["progress", "groups"],
  defaultActivation: false,
  locales: ["de"],
  permissions: { hosts: ["{host}:{port}"], paths: ["{caFile}"], variables: [] },
  // Nicks are anybody's, and an account is the word of the network's services.
  senderVerified: false,
};

export default manifest;
