/**
 * What there is from the moment that the server knows us: the way in and the way out of one bot account.
 *
 * @module
 */

import type { ChannelHost } from "../../../lib/channel/channel_host.ts";
import type { HandledMessage, Published } from "../../../lib/contract/inbound_message.ts";
import { Intake, Memory, removeLeftFiles } from "../../../lib/channel/platform/mod.ts";
import { ActionContext } from "../actions/action_context.ts";
import { ActionServer } from "../actions/action_server.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import type { HeardPost } from "../inbound/heard_post.ts";
import { Hearing } from "../inbound/hearing.ts";
import { PostFeed } from "../inbound/post_feed.ts";
import { TakePost } from "../inbound/take_post.ts";
import { Outlet } from "../outbound/outlet.ts";
import type { MattermostSettings } from "../settings.ts";
import { EventSocket } from "../socket/event_socket.ts";
import { toMattermost } from "../text/to_mattermost.ts";
import { wordsOf } from "../words.ts";
import type { ServerFacts } from "./server_facts.ts";

/** What a session is made of. */
export interface SessionDeps {
  settings: MattermostSettings;
  client: MattermostClient;
  /** Whose certificates are trusted; absent: the usual. */
  httpClient?: Deno.HttpClient;
  facts: ServerFacts;
  host: ChannelHost;
  isAllowed: (senderId: string) => boolean;
  handleMessage: (message: HandledMessage) => Promise<Published>;
  /** Connected, and heard again. */
  onReady: () => void;
  /** Another program writes with our account. */
  onStranger: () => void;
}

/** Things of one kind that are kept: threads, approvals. */
const MAX_REMEMBERED = 5_000;

interface SessionParts {
  memory: Memory;
  intake: Intake<HeardPost>;
  feed: PostFeed;
  socket: EventSocket;
  outlet: Outlet;
}

export class Session {
  /** The way out. */
  readonly outlet: Outlet;
  readonly #parts: SessionParts;
  #actions: ActionServer | undefined;

  private constructor(parts: SessionParts) {
    this.#parts = parts;
    this.outlet = parts.outlet;
  }

  /** Opens what is kept and what listens. Rejects with what cannot be opened. */
  static async open(deps: SessionDeps): Promise<Session> {
    const { host, client, settings, facts, isAllowed, handleMessage, onReady, onStranger } = deps;
    const { clock, log } = host;
    const words = wordsOf(settings.language);
    const memory = new Memory(host.stateDir, MAX_REMEMBERED);
    let intake: Intake<HeardPost> | undefined;
    try {
      await removeLeftFiles(host.stateDir);
      const context = await ActionContext.withKey(keptKey(memory));
      const listening: { actions?: ActionServer } = {};
      const socket = new EventSocket({
        url: settings.url,
        token: settings.token,
        httpClient: deps.httpClient,
        clock,
        onReady(isResumed) {
          if (!isResumed) feed.catchUp();
          onReady();
        },
        onPosted: (data) => feed.take(data),
      });
      const outlet = new Outlet({
        client,
        facts,
        memory,
        context,
        actionsUrl: () => listening.actions?.url,
        showTyping: ({ channelId, rootId }) => socket.typing(channelId, rootId),
        words,
        clock,
      });
      const taking = new TakePost({
        client,
        host,
        words,
        myId: facts.me.id,
        ackReaction: settings.ackReaction,
        handleMessage,
        onTurn: (chatId) => outlet.typing.begin(chatId),
        // Names of files stand in it, which may be those of everybody.
        tell: (chatId, messageId, text) => outlet.tell(chatId, messageId, toMattermost(text)),
        isConnected: () => socket.isReady,
      });
      intake = await Intake.open<HeardPost>({
        stateDir: host.stateDir,
        take: (heard, signal) => taking.take(heard, signal),
        note: (text) => host.setNote(text),
        clock,
        log,
      });
      const { poster } = outlet;
      const hearing = new Hearing({ settings, me: facts.me, poster, isAllowed, onStranger, log });
      const feed = new PostFeed({
        client,
        myId: facts.me.id,
        intake,
        hear: (post, isDirect, isLive) => hearing.hear(post, isDirect, isLive),
        isOfTeam: facts.isOfTeam,
        clock,
        log,
      });
      await feed.begin();
      const session = new Session({ memory, intake, feed, socket, outlet });
      if (settings.actions !== undefined) {
        const { host: address, port, publicUrl } = settings.actions;
        session.#actions = listening.actions = await ActionServer.open({
          host,
          address: { host: address, port },
          publicUrl,
          context,
          approvals: outlet.approvals,
          isAllowed,
          handleMessage,
          words,
        });
      }
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
    return this.#parts.socket.connect();
  }

  /** Ends the connection that there is. */
  disconnect(reason: string): void {
    this.#parts.socket.close(reason);
  }

  /** Puts everything away. */
  async close(): Promise<void> {
    const { memory, intake, feed, socket, outlet } = this.#parts;
    await outlet.close();
    socket.close("the channel was stopped");
    await this.#actions?.close();
    await feed.close();
    await intake.close();
    memory.close();
  }
}

/** That of the process before, so that its buttons work. */
function keptKey(memory: Memory): string {
  const kept = memory.get<string>("key", "");
  if (kept !== undefined) return kept;
  const key = ActionContext.newKey();
  memory.set("key", "", key);
  return key;
}
