import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";
import { LANGUAGE_FIELD } from "../../lib/channel/setup/common_fields.ts";

/** Mattermost: a bot account on a server of one's own. A thread is a chat. */
const manifest = {
  name: "mattermost",
  displayName: "Mattermost",
  runtime: "channels/mattermost/runtime.ts:MattermostChannel",
  dependencies: ["npm:@mattermost/client@11.9.0", "npm:entities@7.0.1", "npm:marked@18.2.1"],
  setup: {
    fields: {
      url: {
        kind: "string",
        format: "url",
        label: "Address of the server, such as https://chat.example.com",
      },
      token: { kind: "secret", format: "token", label: "Access token of the bot account" },
      caFile: { kind: "string", label: "Certificates (PEM) of an authority of your own" },
      team: {
        kind: "string",
        form: {
          pattern: "~?[a-z0-9\\-]{0,64}",
          expected: "its name in the address, such as my-team",
        },
        label: "Hear channels of this team only; empty: of all",
      },
      respond: {
        kind: "enum",
        choices: ["mention", "all"],
        default: "mention",
        label: "What is heard in channels and groups: messages that mention the bot, or all",
      },
      replyInThread: {
        kind: "bool",
        default: true,
        label: "Answer in a thread below the message, in channels and groups",
      },
      ackReaction: {
        kind: "string",
        default: "eyes",
        form: { pattern: ":?[A-Za-z0-9+_\\-]{0,64}:?", expected: "a name such as eyes" },
        label: "Emoji set on a message when it is taken, such as eyes; empty: none",
      },
      language: LANGUAGE_FIELD,
      actionsHost: {
        kind: "string",
        form: { pattern: "[^\\s\\/]*", expected: "an address such as 127.0.0.1" },
        label: "Address to listen at for clicks on buttons; empty: approvals are answered in words",
      },
      actionsPort: {
        kind: "int",
        default: 8791,
        min: 0,
        max: 65_535,
        label: "Port to listen at for clicks on buttons",
      },
      actionsUrl: {
        kind: "string",
        format: "url",
        label: "URL under which the server reaches that port; empty: the address and the port",
      },
    },
    required: [{ fields: ["url"] }, { fields: ["token"] }],
    summary:
      "Channels and direct messages of your Mattermost server. Needs a bot account and its token, five minutes.",
    steps: [
      "Switch bot accounts on in the System Console, under Integrations > Bot Accounts.",
      "Make a bot account under Integrations > Bot Accounts, and copy the token that is shown then.",
      "Invite the bot to the team and to its channels.",
      "Set url and token, and switch the channel on.",
      "Send the bot a direct message, and pair the code that it answers with, here or with: service channels pair CODE.",
    ],
    validator: "channels/mattermost/validation.ts:validate",
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
  ],
  defaultActivation: false,
  locales: ["de", "es", "zh"],
  permissions: {
    hosts: ["{url}", "{actionsHost}:{actionsPort}"],
    paths: ["{caFile}"],
    variables: [],
  },
  // A user id never changes and is never given again, the server writes it into each post itself, and into
  // each click that it passes on with the secret context of our own button.
  senderVerified: true,
} as const satisfies ChannelDescriptor;

export default manifest;
