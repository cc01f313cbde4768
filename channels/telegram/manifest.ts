import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";
import { LANGUAGE_FIELD } from "../../lib/channel/setup/common_fields.ts";

/** Reactions that bots may use (Bot API, ReactionTypeEmoji). */
const REACTIONS = "👍|👎|❤|🔥|🥰|👏|😁|🤔|🤯|😱|🤬|😢|🎉|🤩|🤮|💩|🙏|👌|🕊|🤡|🥱|🥴|😍|🐳|❤‍🔥|" +
  "🌚|🌭|💯|🤣|⚡|🍌|🏆|💔|🤨|😐|🍓|🍾|💋|🖕|😈|😴|😭|🤓|👻|👨‍💻|👀|🎃|🙈|😇|😨|" +
  "🤝|✍|🤗|🫡|🎅|🎄|☃|💅|🤪|🗿|🆒|💘|🙉|🦄|😘|💊|🙊|😎|👾|🤷‍♂|🤷|🤷‍♀|😡";

/** Chats, groups and topics of Telegram, by a bot (docs/channels/telegram.md). */
const manifest = {
  name: "telegram",
  displayName: "Telegram",
  runtime: "channels/telegram/runtime.ts:TelegramChannel",
  dependencies: ["npm:entities@7.0.1", "npm:grammy@1.46.0", "npm:marked@18.2.1"],
  setup: {
    fields: {
      token: {
        kind: "secret",
        label: "Token of the bot, from @BotFather",
      },
      respond: {
        kind: "enum",
        choices: ["mention", "all"],
        default: "mention",
        label: "What to answer in groups",
      },
      streaming: { kind: "bool", default: true, label: "Show answers while they are written" },
      quote: {
        kind: "enum",
        choices: ["groups", "always", "never"],
        default: "groups",
        label: "Where an answer quotes the message that it answers",
      },
      ackReaction: {
        kind: "string",
        default: "👀",
        form: {
          pattern: REACTIONS,
          expected: "one of Telegram's reactions, such as 👀, 👌 or 👍, or nothing",
        },
        label: "Reaction to messages that were heard; empty: none",
      },
      language: LANGUAGE_FIELD,
      mode: {
        kind: "enum",
        choices: ["polling", "webhook"],
        default: "polling",
        label: "How messages come in",
      },
      webhookUrl: {
        kind: "string",
        format: "url",
        label: "Webhook: its address, as Telegram reaches it (https)",
      },
      webhookHost: { kind: "string", label: "Webhook: address to listen at, such as 127.0.0.1" },
      webhookPort: {
        kind: "int",
        default: 8443,
        min: 0,
        max: 65_535,
        label: "Webhook: port to listen at",
      },
      webhookSecret: {
        kind: "secret",
        label: "Webhook: secret that Telegram sends along",
      },
      apiUrl: {
        kind: "string",
        format: "url",
        default: "https://api.telegram.org",
        label: "Address of the Bot API",
      },
    },
    required: [{ fields: ["token"] }],
    validator: "channels/telegram/validation.ts:validate",
    summary: "Private chats and groups. Needs a bot token from @BotFather, two minutes.",
    steps: [
      "Send /newbot to @BotFather in Telegram, and choose a name and a user name that ends in bot.",
      "Copy the token that it answers with, give it as token, and switch the channel on.",
      "Send your bot a message: it answers with a code.",
      "Pair the code here, or with: service channels pair CODE. Then write again.",
    ],
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
    hosts: ["{apiUrl}", "{webhookHost}:{webhookPort}"],
    paths: [],
    variables: [],
  },
  // Telegram's numbers of people never change, and Telegram itself says who wrote.
  senderVerified: true,
} as const satisfies ChannelDescriptor;

export default manifest;
