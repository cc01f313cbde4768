/**
 * What a workspace of Slack holds, and the methods of the Web API on it, as
 * https://docs.slack.dev/reference/methods says.
 *
 * @module
 */

/** A message of a conversation, as the history has it. */
export interface FakeMessage {
  type: "message";
  ts: string;
  user?: string;
  team?: string;
  text: string;
  subtype?: string;
  bot_id?: string;
  thread_ts?: string;
  blocks?: Record<string, unknown>[];
  files?: Record<string, unknown>[];
  reactions: Set<string>;
  [key: string]: unknown;
}

/** A conversation. */
export interface FakeConversation {
  id: string;
  kind: "im" | "mpim" | "channel" | "group";
  /** Of a direct one. */
  user?: string;
  isMember: boolean;
  isArchived: boolean;
  messages: FakeMessage[];
}

/** A refusal of the Web API. */
export class Refused extends Error {
  readonly more: Record<string, unknown>;

  constructor(code: string, more: Record<string, unknown> = {}) {
    super(code);
    this.more = more;
  }
}

export const TEAM = "T0TEAM00001";
export const BOT_USER = "U0BOT000001";
export const BOT_ID = "B0BOT000001";
export const ALICE = "U0ALICE0001";
export const BOB = "U0BOB000002";
export const ALICE_DM = "D0ALICE0001";
export const BOB_DM = "D0BOB000002";
export const GENERAL = "C0GENERAL01";

/** The scope that each method needs. */
const SCOPES: Readonly<Record<string, string>> = {
  "chat.postMessage": "chat:write",
  "chat.update": "chat:write",
  "chat.delete": "chat:write",
  "chat.postEphemeral": "chat:write",
  "reactions.add": "reactions:write",
  "reactions.remove": "reactions:write",
  "files.getUploadURLExternal": "files:write",
  "files.completeUploadExternal": "files:write",
  "files.info": "files:read",
  "users.info": "users:read",
  "users.conversations": "channels:read",
  "conversations.history": "channels:history",
  "conversations.replies": "channels:history",
  "conversations.open": "im:write",
  "assistant.threads.setStatus": "assistant:write",
};

type Args = Readonly<Record<string, string>>;

/** See the module. */
export class FakeWorkspace {
  readonly conversations = new Map<string, FakeConversation>();
  /** What one member alone has seen. */
  readonly whispers: { user: string; channel: string; text: string }[] = [];
  readonly statuses: { channel: string; threadTs: string; status: string }[] = [];
  /** Files by their id. */
  readonly files = new Map<string, { name: string; bytes: Uint8Array<ArrayBuffer> | undefined }>();
  /** Messages with buttons, as they were posted. */
  readonly cards: { channel: string; message: FakeMessage }[] = [];
  readonly scopes: Set<string>;
  /** Objects of a page, at most. */
  maxPage = 1_000;
  #lastTs = 0;

  constructor(scopes: readonly string[]) {
    this.scopes = new Set(scopes);
    const add = (id: string, kind: FakeConversation["kind"], user?: string) =>
      this.conversations.set(id, {
        id,
        kind,
        user,
        isMember: true,
        isArchived: false,
        messages: [],
      });
    add(ALICE_DM, "im", ALICE);
    add(BOB_DM, "im", BOB);
    add(GENERAL, "channel");
    add("C0RANDOM001", "channel");
    add("G0SECRET001", "group");
    add("G0MPIM00001", "mpim");
  }

  /** A time that no message has. */
  nextTs(nowMs = Date.now()): string {
    this.#lastTs = Math.max(this.#lastTs + 1, nowMs * 1_000);
    return (this.#lastTs / 1_000_000).toFixed(6);
  }

  conversation(id: string): FakeConversation {
    const found = this.conversations.get(id);
    if (found === undefined) throw new Refused("channel_not_found");
    return found;
  }

  /** Everything that the app has written and that is still there. */
  ofBot(): { channel: string; message: FakeMessage }[] {
    return [...this.conversations.values()].flatMap(({ id, messages }) =>
      messages.filter(({ bot_id: bot }) => bot === BOT_ID)
        .map((message) => ({ channel: id, message }))
    ).sort((a, b) => Number(a.message.ts) - Number(b.message.ts));
  }

  /** Calls a method. Throws {@linkcode Refused}. */
  call(method: string, args: Args, baseUrl: string): Record<string, unknown> {
    const needed = SCOPES[method];
    if (needed !== undefined && !this.scopes.has(needed)) {
      throw new Refused("missing_scope", { needed, provided: [...this.scopes].join(",") });
    }
    switch (method) {
      case "auth.test":
        return {
          url: "https://example.slack.com/",
          team: "Example",
          user: "helper",
          team_id: TEAM,
          user_id: BOT_USER,
          bot_id: BOT_ID,
          is_enterprise_install: false,
        };
      case "chat.postMessage":
        return this.#post(args);
      case "chat.update": {
        const message = this.#own(args);
        if (args.text !== undefined) message.text = args.text.slice(0, 40_000);
        if (args.blocks !== undefined) message.blocks = checkBlocks(args.blocks);
        message.edited = { user: BOT_USER, ts: this.nextTs() };
        return { channel: args.channel, ts: message.ts, text: message.text };
      }
      case "chat.delete": {
        const message = this.#own(args);
        const { messages } = this.conversation(args.channel!);
        messages.splice(messages.indexOf(message), 1);
        return { channel: args.channel, ts: message.ts };
      }
      case "chat.postEphemeral":
        this.conversation(args.channel!);
        this.whispers.push({ user: args.user!, channel: args.channel!, text: args.text! });
        return { message_ts: this.nextTs() };
      case "reactions.add":
      case "reactions.remove": {
        const { reactions } = this.#find(args.channel!, args.timestamp!);
        const isAdd = method === "reactions.add";
        if (isAdd === reactions.has(args.name!)) {
          throw new Refused(isAdd ? "already_reacted" : "no_reaction");
        }
        if (isAdd) reactions.add(args.name!);
        else reactions.delete(args.name!);
        return {};
      }
      case "users.info": {
        const name = ({ [ALICE]: "Alice", [BOB]: "Bob" } as Record<string, string>)[args.user!];
        if (name === undefined) throw new Refused("user_not_found");
        return { user: { id: args.user, name, profile: { display_name: name } } };
      }
      case "users.conversations": {
        const all = [...this.conversations.values()].filter((one) => one.isMember)
          .map(({ id, kind, user }) => ({ id, is_im: kind === "im", user }));
        return this.#page(all, "channels", args);
      }
      case "conversations.history": {
        const { messages } = this.conversation(args.channel!);
        const top = messages.filter((one) =>
          one.thread_ts === undefined || one.thread_ts === one.ts
        );
        return this.#page(
          top.filter(within(args)).reverse().map((one) => withReplies(one, messages)),
          "messages",
          args,
        );
      }
      case "conversations.replies": {
        const { messages } = this.conversation(args.channel!);
        const thread = messages.filter(({ ts, thread_ts }) =>
          ts === args.ts || thread_ts === args.ts
        );
        if (thread.length === 0) throw new Refused("thread_not_found");
        const [first, ...replies] = thread;
        return this.#page(
          [first!, ...replies.filter(within(args))].map((one) => withReplies(one, messages)),
          "messages",
          args,
        );
      }
      case "conversations.open": {
        const found = [...this.conversations.values()].find(({ user }) => user === args.users);
        if (found === undefined) throw new Refused("user_not_found");
        return { channel: { id: found.id } };
      }
      case "assistant.threads.setStatus":
        this.statuses.push({
          channel: args.channel_id!,
          threadTs: args.thread_ts!,
          status: args.status!,
        });
        return {};
      case "files.getUploadURLExternal": {
        const id = `F0FILE${String(this.files.size + 1).padStart(5, "0")}`;
        this.files.set(id, { name: args.filename!, bytes: undefined });
        return { upload_url: `${baseUrl}/upload/v1/${id}`, file_id: id };
      }
      case "files.completeUploadExternal": {
        const listed = JSON.parse(args.files!) as { id: string; title: string }[];
        const files = listed.map(({ id, title }) => {
          if (this.files.get(id)?.bytes === undefined) throw new Refused("file_not_found");
          return { id, title, name: this.files.get(id)!.name };
        });
        this.#write(args.channel_id!, { text: "", files, thread_ts: args.thread_ts });
        return { files };
      }
      case "files.info": {
        const file = this.files.get(args.file!);
        if (file === undefined) throw new Refused("file_not_found");
        return { file: this.fileObject(args.file!, baseUrl) };
      }
      default:
        throw new Refused("unknown_method");
    }
  }

  /** A file as messages have it. */
  fileObject(id: string, baseUrl: string, more: object = {}): Record<string, unknown> {
    const { name, bytes } = this.files.get(id)!;
    return {
      id,
      name,
      title: name,
      mimetype: "text/plain",
      mode: "hosted",
      is_external: false,
      size: bytes?.length ?? 0,
      url_private: `${baseUrl}/files-pri/${TEAM}-${id}/${encodeURIComponent(name)}`,
      url_private_download: `${baseUrl}/files-pri/${TEAM}-${id}/download/${
        encodeURIComponent(name)
      }`,
      ...more,
    };
  }

  #post(args: Args): Record<string, unknown> {
    const blocks = args.blocks === undefined ? [] : checkBlocks(args.blocks);
    if (blocks.length === 0 && !args.text) throw new Refused("no_text");
    const message = this.#write(args.channel!, {
      text: (args.text ?? "").slice(0, 40_000),
      blocks,
      thread_ts: args.thread_ts,
    });
    if (blocks.some(({ type }) => type === "actions")) {
      this.cards.push({ channel: args.channel!, message: { ...message } });
    }
    return { channel: args.channel, ts: message.ts, message: { ...message, reactions: undefined } };
  }

  #write(channel: string, more: Partial<FakeMessage>): FakeMessage {
    const conversation = this.conversation(channel);
    if (conversation.isArchived) throw new Refused("is_archived");
    if (!conversation.isMember) throw new Refused("not_in_channel");
    const message: FakeMessage = {
      type: "message",
      ts: this.nextTs(),
      user: BOT_USER,
      bot_id: BOT_ID,
      team: TEAM,
      text: "",
      reactions: new Set(),
      ...more,
    };
    conversation.messages.push(message);
    return message;
  }

  #find(channel: string, ts: string): FakeMessage {
    const message = this.conversation(channel).messages.find((one) => one.ts === ts);
    if (message === undefined) throw new Refused("message_not_found");
    return message;
  }

  #own(args: Args): FakeMessage {
    const message = this.#find(args.channel!, args.ts!);
    if (message.bot_id !== BOT_ID) throw new Refused("cant_update_message");
    return message;
  }

  #page(all: readonly unknown[], key: string, { limit, cursor }: Args): Record<string, unknown> {
    const from = Number(cursor ?? 0);
    const to = from + Math.min(Number(limit ?? 100), this.maxPage);
    const isMore = to < all.length;
    return {
      [key]: all.slice(from, to),
      has_more: isMore,
      response_metadata: { next_cursor: isMore ? String(to) : "" },
    };
  }
}

function within({ oldest = "0", latest = "9999999999" }: Args) {
  return ({ ts }: FakeMessage) => Number(ts) > Number(oldest) && Number(ts) < Number(latest);
}

function withReplies(
  { reactions: _, ...message }: FakeMessage,
  all: readonly FakeMessage[],
): Record<string, unknown> {
  const replies = all.filter((one) => one.thread_ts === message.ts && one.ts !== message.ts);
  if (replies.length === 0) return message;
  return { ...message, reply_count: replies.length, latest_reply: replies.at(-1)!.ts };
}

/** The blocks of a message, within Slack's limits. */
function checkBlocks(text: string): Record<string, unknown>[] {
  const blocks = JSON.parse(text) as Record<string, unknown>[];
  if (!Array.isArray(blocks) || blocks.length > 50) throw new Refused("invalid_blocks");
  const markdown = blocks.filter(({ type }) => type === "markdown")
    .reduce((sum, { text }) => sum + String(text).length, 0);
  if (markdown > 12_000) throw new Refused("msg_blocks_too_long");
  for (const block of blocks) {
    if (block.type === "markdown" && block.text === "") throw new Refused("invalid_blocks");
    for (const one of (block.elements ?? []) as Record<string, unknown>[]) {
      if (String(one.value ?? "").length > 2_000) throw new Refused("invalid_blocks");
    }
  }
  return blocks;
}
