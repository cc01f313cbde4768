/**
 * A bot account while it is logged in: the wire of Mattermost, for `PlatformChannel`. Posts are made once,
 * also when nobody said that one was taken, and marked so that a post of ours is known from one that another
 * program makes with our token.
 *
 * @module
 */

import { createHash } from "node:crypto";
import {
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import {
  type ApprovalButton,
  type Edit,
  failedCall,
  type FileRules,
  noAnswer,
  type OutgoingFile,
  type PlatformDriver,
  type PlatformFile,
  type PlatformMessage,
  type PlatformSession,
  type Posting,
  splitQuotes,
} from "../../lib/channel/platform/mod.ts";
import { ActionContext } from "./actions/action_context.ts";
import { ActionServer } from "./actions/action_server.ts";
import type { MattermostClient } from "./api/mattermost_client.ts";
import { readChatId } from "./chat_address.ts";
import { type ServerFacts, serverFacts } from "./connection/server_facts.ts";
import { type HeardPost, heardPost } from "./inbound/heard_post.ts";
import { type AboutPost, PostFeed } from "./inbound/post_feed.ts";
import { isId, type MattermostPost, type PostFile } from "./inbound/post.ts";
import { type MattermostConfig, teamOf } from "./settings.ts";
import { EventSocket } from "./socket/event_socket.ts";
import { toPosts } from "./text/to_mattermost.ts";

/** What a driver is made of. */
export interface MattermostDriverDeps {
  settings: MattermostConfig;
  client: MattermostClient;
  /** Whose certificates are trusted; absent: the usual. */
  httpClient?: Deno.HttpClient;
  session: PlatformSession<HeardPost>;
}

/** A file that was uploaded. */
interface UploadedFile {
  id: string;
  name: string;
}

/** The server forgets that somebody writes after five seconds. */
const TYPING_MS = 4_000;

/** Between two edits of a note, and of an answer that grows, milliseconds. */
const NOTE_MS = 1_500;
const EDIT_MS = 1_000;

/** Files of one post. */
const MAX_POST_FILES = 10;

/** Property of a post that says whose it is. */
const MARK = "service_message";

/** Newest posts of a channel among which one is looked for that may have been taken. */
const LOOKED_AT = 60;

const STRANGER =
  "another program writes with this bot's token: end it, or give it a bot of its own";

export class MattermostDriver implements PlatformDriver<HeardPost, string, UploadedFile> {
  readonly files: FileRules<UploadedFile>;
  readonly typing = {
    everyMs: TYPING_MS,
    show: (chatId: string) => {
      const { channelId, rootId } = readChatId(chatId);
      return Promise.resolve(this.#socket.typing(channelId, rootId));
    },
  };
  readonly #deps: MattermostDriverDeps;
  readonly #facts: ServerFacts;
  /** Of this channel's folder, so that it outlives restarts. */
  readonly #origin: string;
  readonly #socket: EventSocket;
  readonly #feed: PostFeed;
  #onReady = () => {};
  #actions: { server: ActionServer; context: ActionContext } | undefined;

  private constructor(deps: MattermostDriverDeps, facts: ServerFacts) {
    this.#deps = deps;
    this.#facts = facts;
    const { client, settings: { url, token }, httpClient, session } = deps;
    const { host: { clock, log } } = session;
    this.#origin = kept(session.memory, "origin", () => crypto.randomUUID().slice(0, 8));
    this.files = {
      maxBytes: facts.maxFileBytes,
      takesEmpty: true,
      upload: (file, chatId) => this.#upload(file, chatId),
      group: (files) => chunks(files, MAX_POST_FILES),
      joins: () => true,
    };
    this.#feed = new PostFeed({
      client,
      myId: facts.me.id,
      intake: { add: session.receive, cursor: session.cursor },
      hear: (post, about) => this.#hear(post, about),
      isOfTeam: facts.isOfTeam,
      clock,
      log,
    });
    this.#socket = new EventSocket({
      url,
      token,
      httpClient,
      clock,
      onReady: (isResumed) => {
        if (!isResumed) this.#feed.catchUp();
        this.#onReady();
      },
      onEvent: (event, data) => this.#feed.take(event, data),
    });
  }

  /** Rejects as a call does, or with what cannot be opened. */
  static async open(deps: MattermostDriverDeps): Promise<MattermostDriver> {
    const { client, settings, session } = deps;
    const driver = new MattermostDriver(deps, await serverFacts(client, teamOf(settings)));
    await driver.#feed.begin();
    if (settings.actionsHost === "") return driver;
    const context = new ActionContext(kept(session.memory, "key", ActionContext.newKey));
    const server = await ActionServer.open({ session, settings, context });
    driver.#actions = { server, context };
    return driver;
  }

  async connect(signal: AbortSignal, ready: (who: string) => void): Promise<string> {
    const { client, settings: { url } } = this.#deps;
    // A token that was revoked ends the connection without a word.
    await client.getMe();
    if (signal.aborted) return "";
    this.#onReady = () => ready(`@${this.#facts.me.username} to ${new URL(url).host}`);
    const end = () => this.#socket.close("the channel was stopped");
    signal.addEventListener("abort", end, { once: true });
    try {
      return await this.#socket.connect();
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  async close(): Promise<void> {
    await this.#actions?.server.close();
    await this.#feed.close();
  }

  /** The post as it is heard; undefined for one that is not. */
  #hear(post: MattermostPost, { isLive, ...about }: AboutPost): HeardPost | undefined {
    const { settings: { respond, replyInThread }, session } = this.#deps;
    const { me } = this.#facts;
    if (isLive && post.type === "" && this.#isOurs(post) === false) session.warn(STRANGER);
    const isInThread = (rootId: string) => session.memory.get("thread", rootId) !== undefined;
    const heard = heardPost(post, about, { me, respond, replyInThread, isInThread });
    if (heard === undefined) return undefined;
    const { userId: senderId, chatId } = heard;
    const sender = { senderId, ...about.isDirect && { directChatId: chatId } };
    return session.isAllowed(sender) ? heard : undefined;
  }

  read(heard: HeardPost): PlatformMessage<PostFile> {
    const { id, editedAt, chatId, userId, text, createAt, files, senderName } = heard;
    const provenance = text === "" && files.length === 1 ? "own" : "file";
    return {
      chatId,
      messageId: id,
      editedAt,
      senderId: userId,
      ...senderName !== undefined && { senderName },
      sentAt: createAt,
      metadata: { post_id: id },
      content: text,
      parts: splitQuotes(text, { reach: "paragraph" }),
      files: files.map((file) => ({
        name: file.name,
        bytes: file.size,
        isAudio: file.mimeType.startsWith("audio/"),
        provenance,
        ref: file,
      })),
    };
  }

  fetchFile({ ref }: PlatformFile, maxBytes: number) {
    return this.#deps.client.fetchFile((ref as PostFile).id, maxBytes);
  }

  async nameOf(userId: string): Promise<string> {
    return (await this.#deps.client.getUser(userId)).username;
  }

  async acknowledge({ id }: HeardPost): Promise<void> {
    const { client, settings: { ackReaction } } = this.#deps;
    const name = ackReaction.replace(/^:|:$/g, "").toLowerCase();
    if (name !== "") await client.addReaction(this.#facts.me.id, id, name);
  }

  split(markdown: string): string[] {
    return toPosts(markdown, this.#facts.maxRunes);
  }

  editEveryMs(_: string, kind: "answer" | "note"): number {
    return kind === "note" ? NOTE_MS : EDIT_MS;
  }

  hasButtons(): boolean {
    return this.#actions !== undefined;
  }

  async post(posting: Posting<UploadedFile>): Promise<string> {
    const { chatId, text, files, buttons, kind } = posting;
    const { client } = this.#deps;
    const { me } = this.#facts;
    const { channelId, rootId } = readChatId(chatId);
    const key = `${this.#origin}.${posting.key}.${digestOf(text)}`;
    const attachments = buttons === undefined ? {} : this.#attachmentsOf(buttons);
    const body = {
      channel_id: channelId,
      root_id: rootId,
      message: text,
      // The server knows it for half a minute, and makes no second post then.
      pending_post_id: `${me.id}:${key}`,
      props: { ...attachments, [MARK]: key },
      ...files.length > 0 && { file_ids: files.map(({ id }) => id) },
    } as Parameters<MattermostClient["createPost"]>[0];
    let id: unknown;
    let failure: unknown = noAnswer("The server's answer to a post has no id");
    try {
      const isQuiet = kind === "note" && me.isBot;
      id = (await (isQuiet ? client.createQuietPost(body) : client.createPost(body)))?.id;
    } catch (error) {
      if (failedCall(error) !== undefined) failure = error;
      if (!mayBeTaken(error)) throw error;
    }
    if (!isId(id)) id = await this.#find(channelId, key);
    if (!isId(id)) throw failure;
    this.#deps.session.memory.set("thread", rootId !== "" ? rootId : id, 1);
    return id;
  }

  async edit(postId: string, { text, kind }: Edit): Promise<void> {
    const props = kind !== "approval"
      ? {}
      : { props: { attachments: [], [MARK]: `${this.#origin}.${postId}` } };
    const patch = { id: postId, message: text, ...props };
    await this.#deps.client.patchPost(patch as Parameters<MattermostClient["patchPost"]>[0]);
  }

  removeNote(postId: string): Promise<unknown> {
    return this.#deps.client.deletePost(postId);
  }

  #attachmentsOf(buttons: readonly ApprovalButton[]) {
    const { server: { url }, context } = this.#actions!;
    const actions = buttons.map(({ isApproval, label, approvalId, digest }) => {
      const verb = isApproval ? "approve" : "deny";
      return {
        id: verb,
        name: label,
        type: "button",
        style: isApproval ? "primary" : "danger",
        integration: { url, context: context.seal({ verb, approvalId, digest }) },
      };
    });
    return { attachments: [{ text: "", actions }] };
  }

  async #upload({ path, name }: OutgoingFile, chatId: string): Promise<UploadedFile> {
    const form = new FormData();
    form.set("channel_id", readChatId(chatId).channelId);
    form.append("files", new Blob([await Deno.readFile(path)]), name);
    const answer: { file_infos?: { id?: unknown }[] } | null = await this.#deps.client.uploadFile(
      form,
    );
    const [info] = answer?.file_infos ?? [];
    if (isId(info?.id)) return { id: info.id, name };
    // The post would stand there without it.
    throw noAnswer("The server's answer to an upload names no file");
  }

  /** Whether a post of our account was made here; `undefined` for one of somebody else. */
  #isOurs({ userId, props }: MattermostPost): boolean | undefined {
    if (userId !== this.#facts.me.id) return undefined;
    const mark = props[MARK];
    return typeof mark === "string" && mark.startsWith(`${this.#origin}.`);
  }

  /** The post that was taken though nobody said so; undefined where there is none, or nobody says it. */
  async #find(channelId: string, key: string): Promise<string | undefined> {
    try {
      const { posts } = await this.#deps.client.getPosts(channelId, 0, LOOKED_AT, false);
      return Object.values(posts).find(({ user_id, props }) =>
        user_id === this.#facts.me.id && (props as Record<string, unknown> | null)?.[MARK] === key
      )?.id;
    } catch {
      return undefined;
    }
  }
}

/** Whether a post may have been made though nobody said so. */
function mayBeTaken(error: unknown): boolean {
  const call = failedCall(error);
  // The package looks into the answer to a post, and finds no post in it.
  if (call === undefined) return !(error instanceof PermanentDeliveryError);
  // A server that stumbles over what comes behind the post has it by then.
  return call.status >= 500 || error instanceof UncertainDeliveryError ||
    call.code.startsWith("api.post.deduplicate_create_post");
}

/** Tells a text from another that is given the same id. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** That of the process before, so that its posts and buttons are known. */
function kept(memory: PlatformSession<never>["memory"], kind: string, make: () => string): string {
  const before = memory.get<string>(kind, "");
  if (before !== undefined) return before;
  const made = make();
  memory.set(kind, "", made);
  return made;
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from(
    { length: Math.ceil(all.length / size) },
    (_, at) => all.slice(at * size, (at + 1) * size),
  );
}
