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

/** Arguments of a method, as a form has them. */
export type Args = Readonly<Record<string, string>>;

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

  /** The app writes. Throws {@linkcode Refused}. */
  writeAsBot(channel: string, more: Partial<FakeMessage>): FakeMessage {
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

  /** A message. Throws {@linkcode Refused}. */
  find(channel: string, ts: string): FakeMessage {
    const message = this.conversation(channel).messages.find((one) => one.ts === ts);
    if (message === undefined) throw new Refused("message_not_found");
    return message;
  }

  /** A message of the app itself. Throws {@linkcode Refused}. */
  own(args: Args): FakeMessage {
    const message = this.find(args.channel!, args.ts!);
    if (message.bot_id !== BOT_ID) throw new Refused("cant_update_message");
    return message;
  }
}
