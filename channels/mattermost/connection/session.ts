/**
 * What there is from the moment that the server knows us: the way in and the way out of one bot account.
 *
 * @module
 */

import type { ChannelHost } from "../../../lib/channel/channel_host.ts";
import type { HandledMessage, Published } from "../../../lib/channel/inbound_message.ts";
import type { OutboundMessage, StreamDelta } from "../../../lib/channel/outbound_message.ts";
import { EditedStreams } from "../../../lib/channel/platform/edited_streams.ts";
import { Intake } from "../../../lib/channel/platform/intake.ts";
import { Memory } from "../../../lib/channel/platform/memory.ts";
import { Typing } from "../../../lib/channel/platform/typing.ts";
import { ActionContext } from "../actions/action_context.ts";
import { ActionServer } from "../actions/action_server.ts";
import { ApprovalPosts } from "../actions/approval_posts.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import { readChatId } from "../chat_address.ts";
import { type HeardPost, heardPost } from "../inbound/heard_post.ts";
import type { MattermostPost } from "../inbound/post.ts";
import { PostFeed } from "../inbound/post_feed.ts";
import { TakePost } from "../inbound/take_post.ts";
import { Poster } from "../outbound/poster.ts";
import { ProgressPosts } from "../outbound/progress_posts.ts";
import { SendMessage } from "../outbound/send_message.ts";
import type { MattermostSettings } from "../settings.ts";
import { EventSocket } from "../socket/event_socket.ts";
import { toPosts } from "../text/to_mattermost.ts";
import { wordsOf } from "../words.ts";
import type { ServerFacts } from "./server_facts.ts";

/** What a session is made of. */
export interface SessionDeps {
  settings: MattermostSettings;
  client: MattermostClient;
  facts: ServerFacts;
  host: ChannelHost;
  isAllowed: (senderId: string) => boolean;
  handleMessage: (message: HandledMessage) => Promise<Published>;
  /** Connected, and heard again. */
  onReady: () => void;
  /** Another program writes with our account. */
  onStranger: () => void;
}

/** The server forgets that somebody writes after five seconds. */
const TYPING_MS = 4_000;

/** Between two edits of an answer that grows. */
const EDIT_MS = 1_000;

/** People who are named in the log. */
const MAX_UNLISTED = 100;

/** Things of one kind that are kept: threads, approvals. */
const MAX_REMEMBERED = 5_000;

/** See the module. */
export class Session {
  readonly #deps: SessionDeps;
  readonly #memory: Memory;
  readonly #poster: Poster;
  readonly #typing: Typing;
  readonly #streams: EditedStreams<string>;
  readonly #socket: EventSocket;
  readonly #intake: Intake<HeardPost>;
  readonly #feed: PostFeed;
  readonly #progress: ProgressPosts;
  readonly #sender: SendMessage;
  readonly #unlisted = new Set<string>();
  #actions: ActionServer | undefined;

  private constructor(
    deps: SessionDeps,
    memory: Memory,
    context: ActionContext,
    intake: Intake<HeardPost>,
  ) {
    this.#deps = deps;
    this.#memory = memory;
    this.#intake = intake;
    const { settings, client, facts: { me, maxRunes, maxFileBytes }, host, isAllowed } = deps;
    const { clock, log } = host;
    const words = wordsOf(settings.language);
    this.#poster = new Poster({ client, myId: me.id, memory });
    const poster = this.#poster;
    this.#socket = new EventSocket({
      url: settings.url,
      token: settings.token,
      clock,
      onReady: (isResumed) => {
        if (!isResumed) this.#feed.catchUp();
        deps.onReady();
      },
      onPosted: (data) => this.#feed.take(data),
    });
    this.#typing = new Typing({
      clock,
      everyMs: TYPING_MS,
      show: (chatId) => {
        const { channelId, rootId } = readChatId(chatId);
        this.#socket.typing(channelId, rootId);
        return Promise.resolve();
      },
    });
    this.#feed = new PostFeed({
      client,
      intake,
      hear: (post, isDirect, isLive) => this.#hear(post, isDirect, isLive),
      isOfTeam: deps.facts.isOfTeam,
      clock,
      log,
    });
    this.#progress = new ProgressPosts({ client, poster, isQuiet: me.isBot, memory, clock });
    const approvals = new ApprovalPosts({ poster, memory, context, words, maxRunes });
    this.#sender = new SendMessage({
      client,
      poster,
      progress: this.#progress,
      typing: this.#typing,
      approvals,
      actionsUrl: () => this.#actions?.url,
      words,
      maxRunes,
      maxFileBytes,
    });
    this.#streams = new EditedStreams({
      post: ({ chatId }, text) => this.#postPiece(chatId, text),
      edit: (postId, text) => poster.edit(postId, text),
      split: (markdown) => toPosts(markdown, maxRunes),
      everyMs: EDIT_MS,
      clock,
    });
    this.#openActions = async () => {
      const { actions } = settings;
      if (actions === undefined) return;
      this.#actions = await ActionServer.open({
        host,
        address: { host: actions.host, port: actions.port },
        publicUrl: actions.publicUrl,
        context,
        approvals,
        isAllowed,
        handleMessage: deps.handleMessage,
        words,
      });
    };
  }

  readonly #openActions: () => Promise<void>;

  /** Opens what is kept and what listens. Rejects with what cannot be opened. */
  static async open(deps: SessionDeps): Promise<Session> {
    const { host, client, settings, facts } = deps;
    const memory = new Memory(host.stateDir, MAX_REMEMBERED);
    let intake: Intake<HeardPost> | undefined;
    try {
      const key = memory.get<string>("key", "") ?? ActionContext.newKey();
      memory.set("key", "", key);
      const opened: { session?: Session } = {};
      const taking = new TakePost({
        client,
        host,
        words: wordsOf(settings.language),
        myId: facts.me.id,
        ackReaction: settings.ackReaction,
        handleMessage: deps.handleMessage,
        onTurn: (chatId) => opened.session!.#typing.begin(chatId),
        tell: (chatId, messageId, text) => opened.session!.tell(chatId, messageId, text),
      });
      intake = await Intake.open<HeardPost>({
        stateDir: host.stateDir,
        take: (heard, signal) => taking.take(heard, signal),
        clock: host.clock,
        log: host.log,
      });
      const session = opened.session = new Session(
        deps,
        memory,
        await ActionContext.withKey(key),
        intake,
      );
      await session.#openActions();
      intake.start();
      return session;
    } catch (error) {
      await intake?.close();
      memory.close();
      throw error;
    }
  }

  /** One connection; resolves with why it is over. */
  connect(): Promise<string> {
    return this.#socket.connect();
  }

  /** Ends the connection that there is. */
  disconnect(reason: string): void {
    this.#socket.close(reason);
  }

  /** Delivers a message; rejects as `BaseChannel.send` does. */
  send(message: OutboundMessage): Promise<void> {
    return this.#sender.send(message);
  }

  /** Shows a piece of an answer; rejects as `BaseChannel.sendDelta` does. */
  push(piece: StreamDelta): Promise<void> {
    return this.#streams.push(piece);
  }

  /** Says something of the channel's own. */
  async tell(chatId: string, messageId: string, text: string): Promise<void> {
    await this.#poster.post({ address: readChatId(chatId), messageId, part: 0, text });
    this.#poster.forget(messageId, 1);
  }

  /** Puts everything away. */
  async close(): Promise<void> {
    this.#typing.close();
    this.#streams.close();
    this.#socket.close("the channel was stopped");
    await this.#actions?.close();
    await this.#feed.close();
    await this.#intake.close();
    this.#memory.close();
  }

  async #postPiece(chatId: string, text: string): Promise<string> {
    const messageId = crypto.randomUUID();
    const address = readChatId(chatId);
    const postId = await this.#poster.post({ address, messageId, part: 0, text });
    this.#poster.forget(messageId, 1);
    return postId;
  }

  #hear(post: MattermostPost, isDirect: boolean, isLive: boolean): HeardPost | undefined {
    const { settings, facts: { me }, isAllowed, onStranger } = this.#deps;
    if (isLive && post.type === "" && this.#poster.isOurs(post) === false) onStranger();
    const heard = heardPost(post, isDirect, {
      me,
      respond: settings.respond,
      replyInThread: settings.replyInThread,
      isInThread: (rootId) => this.#poster.isInThread(rootId),
    });
    if (heard === undefined || isAllowed(post.userId)) return heard;
    this.#nameUnlisted(post.userId);
    return undefined;
  }

  /** So that whoever sets it up finds the id to put there. */
  #nameUnlisted(userId: string): void {
    if (this.#unlisted.has(userId) || this.#unlisted.size >= MAX_UNLISTED) return;
    this.#unlisted.add(userId);
    this.#deps.host.log.info("Somebody was not heard: allowFrom does not list the user id", {
      userId,
    });
  }
}
