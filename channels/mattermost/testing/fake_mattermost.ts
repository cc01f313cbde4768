/** A Mattermost server of the test, at 127.0.0.1, that speaks API v4 as it is documented. */

import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "../../../lib/channel/testing/mod.ts";
import { toChatId } from "../chat_address.ts";
import { FakeApi, type FakeApiOptions } from "./fake_api.ts";
import { FakeSockets } from "./fake_sockets.ts";
import { type FakeChannel, type FakePost, FakeStore } from "./fake_store.ts";
import { freePort } from "../../../tests/support/free_port.ts";

export interface FakeMattermostOptions
  extends Partial<Pick<FakeApiOptions, "maxPostSize" | "maxFileSize">> {
  /** Whether `section` names an address for clicks on buttons. */
  hasActions?: boolean;
  /** Speaks TLS, as localhost. */
  tls?: { cert: string; key: string };
}

/** A button, as the server keeps it. */
interface FakeAction {
  id: string;
  integration: { url: string; context: object };
}

/** How long people see that somebody writes; five seconds on a real server. */
const TYPING_MS = 1_000;

export class FakeMattermost implements ChannelPlatform {
  readonly store = new FakeStore();
  readonly token = `token-${crypto.randomUUID().replaceAll("-", "").slice(0, 20)}`;
  readonly sockets: FakeSockets;
  readonly api: FakeApi;
  /** A private channel, and the direct messages of alice. */
  readonly room: FakeChannel = this.store.channel("room", "P");
  readonly direct: FakeChannel = this.store.channel("direct", "D");
  readonly senders = [this.store.alice.id, this.store.bob.id] as const;
  readonly chatId = this.room.id;
  readonly hasFences = true;
  readonly limit: { max: number; sizeOf: (sent: PlatformSent) => number };
  readonly section: Record<string, unknown>;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #ending = new AbortController();
  #isRevoked = false;
  #isDown = false;
  #last: FakePost | undefined;

  private constructor(
    { maxPostSize = 16_383, maxFileSize = 104_857_600, hasActions = false, tls }:
      FakeMattermostOptions,
  ) {
    const isToken = (token: string) => !this.#isRevoked && token === this.token;
    this.sockets = new FakeSockets({ userId: this.store.bot.id, isToken });
    const publish = this.sockets.publish.bind(this.sockets);
    this.api = new FakeApi({ store: this.store, isToken, publish, maxPostSize, maxFileSize });
    this.#server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      ...tls,
      signal: this.#ending.signal,
      onListen: () => {},
      onError: () => new Response(null, { status: 500 }),
    }, (request) => {
      const isSocket = new URL(request.url).pathname.endsWith("/api/v4/websocket");
      return isSocket ? this.sockets.upgrade(request) : this.api.answer(request);
    });
    this.limit = { max: maxPostSize, sizeOf: ({ text }) => [...text].length };
    this.section = {
      url: `${
        tls === undefined ? "http://127.0.0.1" : "https://localhost"
      }:${this.#server.addr.port}`,
      token: this.token,
      respond: "all",
      replyInThread: false,
      ...hasActions && { actionsHost: "127.0.0.1", actionsPort: freePort() },
    };
  }

  static open(options: FakeMattermostOptions = {}): Promise<FakeMattermost> {
    return Promise.resolve(new FakeMattermost(options));
  }

  async deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    await this.connected();
    const { bot, robot } = this.store;
    const author = from === "own" ? bot.id : from === "bot" ? robot.id : senderId;
    const props = from === "person" ? {} : { props: { from_bot: "true" } };
    return this.write(author, text, props).id;
  }

  /** Resolves when the bot is there. */
  async connected(): Promise<void> {
    while (this.sockets.open === 0) await this.sockets.changed();
  }

  /** Somebody writes, whether the bot is there or not. */
  write(
    userId: string,
    text: string,
    more: Partial<FakePost> = {},
    channel: FakeChannel = this.room,
  ): FakePost {
    const post = this.store.post(userId, channel.id, text, more);
    this.#last = post;
    this.sockets.publish("posted", this.api.event(post), channel.id);
    return post;
  }

  deliverAway({ text, senderId }: PlatformMessage): Promise<string> {
    return Promise.resolve(this.write(senderId, text).id);
  }

  isTyping(): boolean {
    return performance.now() - this.sockets.typedMs < TYPING_MS;
  }

  async pressButton(button: "approve" | "deny", senderId: string): Promise<void> {
    const post = [...this.store.posts.values()].findLast(({ id }) => this.api.buttons.has(id));
    if (post === undefined) throw new Error("There is no button");
    await this.buttons(post.id)[button]!(senderId);
  }

  redeliver(): Promise<void> {
    this.sockets.publish("posted", this.api.event(this.#last!), this.#last!.channel_id);
    return Promise.resolve();
  }

  sent(): PlatformSent[] {
    const { bot, posts, files } = this.store;
    return [...posts.values()]
      .filter(({ user_id, pending_post_id, delete_at }) =>
        user_id === bot.id && pending_post_id !== "" && delete_at === 0
      )
      .map(({ channel_id, root_id, message, file_ids }) => ({
        chatId: toChatId({ channelId: channel_id, rootId: root_id }),
        text: message,
        files: file_ids.map((id) => files.get(id)!.name),
      }));
  }

  refuse(kind: "permanent" | "temporary"): void {
    this.api.refusals.push(
      kind === "permanent"
        ? { status: 403, id: "api.context.permissions.app_error", message: "No permission." }
        : { status: 500, id: "app.post.save.app_error", message: "Unable to save the post." },
    );
  }

  /** The token is known no more; connections that there are end. */
  async revoke(): Promise<void> {
    this.#isRevoked = true;
    await this.sockets.cut();
  }

  async goDown(): Promise<void> {
    if (this.#isDown) return;
    this.#isDown = true;
    await this.sockets.cut();
    this.#ending.abort();
    await this.#server.finished;
  }

  /** Somebody clicks on a button of a post: the server posts to where the button says. */
  async click(
    postId: string,
    userId: string,
    actionId: string,
  ): Promise<{ ephemeral_text?: string }> {
    const post = this.store.posts.get(postId)!;
    const [attachment] = (post.props.attachments ?? []) as { actions: FakeAction[] }[];
    const action = attachment?.actions.find(({ id }) => id === actionId);
    if (action === undefined) throw new Error(`The post has no button "${actionId}"`);
    return await this.#postAction(action.integration, post, userId);
  }

  /** The buttons that a post had, to be clicked on when they are gone. */
  buttons(
    postId: string,
  ): Record<string, (userId: string) => Promise<{ ephemeral_text?: string }>> {
    const post = this.store.posts.get(postId)!;
    const [{ actions }] = this.api.buttons.get(postId) as [{ actions: FakeAction[] }];
    return Object.fromEntries(actions.map(({ id, integration }) => [
      id,
      (userId: string) => this.#postAction(integration, post, userId),
    ]));
  }

  async #postAction(
    { url, context }: { url: string; context: object },
    post: FakePost,
    userId: string,
  ): Promise<{ ephemeral_text?: string }> {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({
        user_id: userId,
        user_name: this.store.users.find(({ id }) => id === userId)?.username,
        channel_id: post.channel_id,
        channel_name: this.store.channels.get(post.channel_id)!.name,
        team_id: this.store.channels.get(post.channel_id)!.team_id,
        team_domain: this.store.team.name,
        post_id: post.id,
        trigger_id: crypto.randomUUID(),
        type: "button",
        data_source: "",
        context,
      }),
    });
    if (response.status !== 200) {
      throw new Error(`status=${response.status} ${await response.text()}`);
    }
    return await response.json();
  }

  async close(): Promise<void> {
    await this.goDown();
  }
}
