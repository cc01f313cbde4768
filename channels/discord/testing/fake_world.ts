/**
 * What there is on a Discord of a test: users, channels and messages, as its API shows them.
 *
 * @module
 */

const EPOCH_MS = 1_420_070_400_000;

let counter = 0;

/** A new id, of a moment. */
export function snowflake(atMs: number = Date.now()): string {
  counter = (counter + 1) % 4_194_304;
  return String((BigInt(Math.trunc(atMs) - EPOCH_MS) << 22n) + BigInt(counter));
}

/** A user, as the API shows one. */
export interface FakeUser {
  id: string;
  username: string;
  discriminator: string;
  global_name: string | null;
  avatar: null;
  bot?: boolean;
}

/** A message, as the API shows one. */
export interface FakeMessage {
  id: string;
  channel_id: string;
  guild_id?: string;
  author: FakeUser;
  content: string;
  timestamp: string;
  edited_timestamp: string | null;
  tts: boolean;
  mention_everyone: boolean;
  mentions: FakeUser[];
  mention_roles: string[];
  attachments: FakeAttachment[];
  embeds: never[];
  pinned: boolean;
  type: number;
  flags: number;
  nonce?: string;
  referenced_message?: FakeMessage | null;
  message_snapshots?: { message: { content: string; attachments: unknown[] } }[];
  message_reference?: Record<string, unknown>;
  components?: unknown[];
  webhook_id?: string;
}

/** A file of a message, as the API shows one. */
export interface FakeAttachment {
  id: string;
  filename: string;
  size: number;
  url: string;
  proxy_url: string;
  content_type?: string;
}

/** A channel: 0 is text, 1 direct, 11 a thread. */
export interface FakeChannel {
  id: string;
  type: number;
  guild_id?: string;
  parent_id?: string;
  name?: string;
}

export class FakeWorld {
  // The same on every one of them.
  readonly bot = user("helper", "1100000000000000001", true);
  readonly alice = user("alice", "1100000000000000002");
  readonly bob = user("bob", "1100000000000000003");
  readonly otherBot = user("other-bot", "1100000000000000004", true);
  readonly guildId = snowflake();
  readonly applicationId = this.bot.id;
  readonly channels = new Map<string, FakeChannel>();
  /** In the order in which they came; deleted ones are gone. */
  readonly messages: FakeMessage[] = [];
  readonly general: FakeChannel = this.addChannel(0);
  readonly direct: FakeChannel = this.addChannel(1);

  addChannel(type: number, id: string = snowflake(), parentId?: string): FakeChannel {
    const channel: FakeChannel = {
      id,
      type,
      ...type !== 1 && { guild_id: this.guildId },
      ...parentId !== undefined && { parent_id: parentId },
    };
    this.channels.set(id, channel);
    return channel;
  }

  userOf(id: string): FakeUser {
    const users = [this.bot, this.alice, this.bob, this.otherBot];
    return users.find((one) => one.id === id) ?? { ...this.alice, id, username: "stranger" };
  }

  /** Puts a message into a channel. */
  add(
    channelId: string,
    author: FakeUser,
    content: string,
    more: Partial<FakeMessage> = {},
  ): FakeMessage {
    const { guild_id } = this.channels.get(channelId)!;
    const ids = [...content.matchAll(/<@!?(\d+)>/g)].map(([, id]) => id!);
    const message: FakeMessage = {
      id: snowflake(),
      channel_id: channelId,
      ...guild_id !== undefined && { guild_id },
      author,
      content,
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      tts: false,
      mention_everyone: false,
      mentions: ids.map((id) => this.userOf(id)),
      mention_roles: [],
      attachments: [],
      embeds: [],
      pinned: false,
      type: 0,
      flags: 0,
      ...more,
    };
    this.messages.push(message);
    return message;
  }

  find(channelId: string, id: string): FakeMessage | undefined {
    return this.messages.find((one) => one.channel_id === channelId && one.id === id);
  }
}

function user(name: string, id: string, bot = false): FakeUser {
  return {
    id,
    username: name,
    discriminator: "0",
    global_name: null,
    avatar: null,
    ...bot && { bot },
  };
}

/** What a person sees of a text: escapes outside of code are gone. */
export function asSeen(content: string): string {
  return content.split(/(```[\s\S]*?```|``[\s\S]*?``|`[^`]*`)/)
    .map((part, index) => index % 2 === 1 ? part : part.replaceAll(/\\([^\w\s])/g, "$1"))
    .join("");
}
