/**
 * A Discord of a test at 127.0.0.1: its HTTP API, its gateway and its store of files at one address.
 *
 * @module
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "../../../lib/channel/testing/channel_platform.ts";
import { type FakeAnswer, refused } from "./fake_answer.ts";
import { FakeApi, type FakeCall, type FakeInteraction } from "./fake_api.ts";
import { FakeGateway } from "./fake_gateway.ts";
import { asSeen, type FakeMessage, FakeWorld, snowflake } from "./fake_world.ts";

/** What somebody writes, and where. */
export interface WrittenMessage {
  channelId?: string;
  senderId?: string;
  /** Without a mention: as it is. */
  plain?: boolean;
  more?: Partial<FakeMessage>;
}

export class FakeDiscord implements ChannelPlatform {
  readonly world = new FakeWorld();
  readonly gateway: FakeGateway;
  readonly api: FakeApi;
  readonly senders: readonly [string, string] = [this.world.alice.id, this.world.bob.id];
  readonly chatId: string = this.world.general.id;
  readonly limit = { max: 2_000, sizeOf: (sent: PlatformSent) => this.#sizes.get(sent) ?? 0 };
  readonly hasFences = true;
  /** How long people see that somebody types, milliseconds. */
  typingMs = 10_000;
  readonly #sizes = new WeakMap<PlatformSent, number>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;
  #last: FakeMessage | undefined;

  private constructor() {
    this.gateway = new FakeGateway(this.world, () => this.api.token);
    this.api = new FakeApi(this.world, this.gateway);
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    this.#server.on(
      "upgrade",
      (request, socket, head) =>
        this.gateway.upgrade(request, socket, head, this.api.url.replace("http", "ws")),
    );
  }

  static async open(): Promise<FakeDiscord> {
    const fake = new FakeDiscord();
    const { promise, resolve } = Promise.withResolvers<void>();
    fake.#server.listen(0, "127.0.0.1", () => resolve());
    await promise;
    fake.#port = (fake.#server.address() as AddressInfo).port;
    fake.api.url = `http://127.0.0.1:${fake.#port}`;
    return fake;
  }

  get section(): Readonly<Record<string, unknown>> {
    return { token: this.api.token, apiUrl: `${this.api.url}/api` };
  }

  async deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    await this.gateway.connected();
    const { bot, otherBot, alice } = this.world;
    const author = from === "own" ? bot.id : from === "bot" ? otherBot.id : senderId ?? alice.id;
    return this.write(text, { senderId: author }).id;
  }

  /** Lets somebody write, whether anybody listens or not. */
  write(text: string, { channelId, senderId, plain, more }: WrittenMessage = {}): FakeMessage {
    const { world } = this;
    const id = channelId ?? world.general.id;
    const isDirect = world.channels.get(id)?.type === 1;
    const content = plain === true || isDirect ? text : `<@${world.bot.id}> ${text}`;
    const author = world.userOf(senderId ?? world.alice.id);
    this.#last = world.add(id, author, content, more);
    this.gateway.dispatch("MESSAGE_CREATE", this.#last);
    return this.#last;
  }

  redeliver(): Promise<void> {
    this.gateway.dispatch("MESSAGE_CREATE", this.#last);
    return Promise.resolve();
  }

  sent(): readonly PlatformSent[] {
    const { bot } = this.world;
    return this.world.messages
      .filter(({ author, flags, id }) =>
        author === bot && (flags & 128) === 0 && id !== this.#last?.id
      )
      .map(({ channel_id, content, attachments }) => {
        const sent = {
          chatId: channel_id,
          text: asSeen(content),
          files: attachments.map(({ filename }) => filename),
        };
        this.#sizes.set(sent, [...content].length);
        return sent;
      });
  }

  refuse(kind: "permanent" | "temporary"): void {
    this.#interceptOnce(
      kind === "permanent"
        ? refused(403, 50001, "Missing Access")
        : { status: 500, body: { code: 0, message: "500: Internal Server Error" } },
    );
  }

  isTyping(): boolean {
    const last = this.api.typing.at(-1);
    if (last === undefined) return false;
    const { bot, messages } = this.world;
    // A message of whoever types ends it.
    const isSaid = messages.some(({ author, channel_id, timestamp }) =>
      author === bot && channel_id === last.channelId && Date.parse(timestamp) > last.atMs
    );
    return !isSaid && Date.now() < last.atMs + this.typingMs;
  }

  async pressButton(button: "approve" | "deny", senderId: string): Promise<void> {
    const { shown } = this.api;
    if (shown === undefined) throw new Error("There are no buttons");
    await this.gateway.connected();
    const [row] = shown.components as { components: { custom_id: string }[] }[];
    const { custom_id } = row!.components.find((one) => one.custom_id.startsWith(button))!;
    const { answers } = this.press(shown.message, custom_id, senderId);
    while (answers.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  deliverAway({ text, senderId }: PlatformMessage): Promise<string> {
    return Promise.resolve(this.write(text, { senderId }).id);
  }

  /** Somebody has made a new token. */
  revoke(): void {
    this.api.token = `another-token-${crypto.randomUUID()}`;
    this.gateway.close(4004);
  }

  /** Answers the next message, or edit of one, so. */
  refuseWith(answer: FakeAnswer): void {
    this.#interceptOnce(answer);
  }

  /** Somebody uses the slash command. */
  ask(
    text: string,
    { senderId = this.world.alice.id, channelId = this.chatId } = {},
  ): FakeInteraction {
    const options = [{ name: "text", type: 3, value: text }];
    return this.#interact(senderId, channelId, {
      type: 2,
      data: { id: snowflake(), name: "ask", type: 1, options },
    });
  }

  /** Somebody presses a button of a message. */
  press(
    { id, channel_id: channelId }: FakeMessage,
    customId: string,
    senderId: string = this.world.alice.id,
  ): FakeInteraction {
    return this.#interact(senderId, channelId, {
      type: 3,
      message: this.world.find(channelId, id),
      data: { custom_id: customId, component_type: 2 },
    });
  }

  /** Keeps a file; gives what a message has of it. */
  attach(
    filename: string,
    content: Uint8Array<ArrayBuffer>,
    type = "text/plain",
  ): FakeMessage["attachments"][number] {
    const id = snowflake();
    this.api.files.set(id, content);
    const url = `${this.api.url}/files/${id}/${encodeURIComponent(filename)}`;
    return { id, filename, size: content.length, url, proxy_url: url, content_type: type };
  }

  async goDown(): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#server.close(() => closed.resolve());
    for (const socket of this.#sockets) socket.destroy();
    this.gateway.cut();
    await closed.promise;
  }

  /** At the address that it had. */
  async comeBack(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.listen(this.#port, "127.0.0.1", () => resolve());
    await promise;
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.goDown();
  }

  #interact(senderId: string, channelId: string, more: Record<string, unknown>): FakeInteraction {
    const interaction: FakeInteraction = {
      id: snowflake(),
      token: `interaction-${crypto.randomUUID()}`,
      channelId,
      answers: [],
    };
    this.api.interactions.set(interaction.token, interaction);
    const user = this.world.userOf(senderId);
    const isDirect = this.world.channels.get(channelId)?.type === 1;
    this.gateway.dispatch("INTERACTION_CREATE", {
      id: interaction.id,
      application_id: this.world.applicationId,
      token: interaction.token,
      version: 1,
      channel_id: channelId,
      ...isDirect ? { user } : { guild_id: this.world.guildId, member: { user, roles: [] } },
      ...more,
    });
    return interaction;
  }

  #interceptOnce(answer: FakeAnswer): void {
    const before = this.api.intercept;
    this.api.intercept = (call) => {
      const isMessage = /^\/(channels|webhooks)\/.*\/messages(\/[^/]+)?$/.test(call.path);
      if (!isMessage || !["POST", "PATCH"].includes(call.method)) return before(call);
      this.api.intercept = before;
      return answer;
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = new URL(request.url!, this.api.url);
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      for await (const chunk of request) chunks.push(new Uint8Array(chunk));
      const [, fileId] = /^\/files\/(\d+)\//.exec(url.pathname) ?? [];
      if (fileId !== undefined) {
        const content = this.api.files.get(fileId);
        response.writeHead(content === undefined ? 404 : 200);
        return void response.end(content);
      }
      const call = await callOf(request, url, new Blob(chunks));
      const answer = this.api.answer(call);
      if (answer.isCut === true) return void request.socket.destroy();
      const text = answer.raw ?? (answer.body === undefined ? "" : JSON.stringify(answer.body));
      const isJson = text !== "";
      response.writeHead(answer.status, {
        ...isJson && { "Content-Type": "application/json" },
        ...answer.headers,
      });
      response.end(text);
    } catch {
      request.socket.destroy();
    }
  }
}

async function callOf(request: IncomingMessage, url: URL, content: Blob): Promise<FakeCall> {
  const headers = new Headers(request.headers as Record<string, string>);
  const method = request.method!;
  const type = headers.get("content-type") ?? "";
  const call = {
    method,
    path: url.pathname.replace(/^\/api\/v10/, ""),
    query: url.searchParams,
    headers,
  };
  if (!type.startsWith("multipart/form-data")) {
    const text = await content.text();
    return { ...call, body: text === "" ? {} : JSON.parse(text), files: [] };
  }
  const form = await new Response(content, { headers: { "content-type": type } }).formData();
  const files = [...form.values()].filter((value) => value instanceof File);
  return { ...call, body: JSON.parse(String(form.get("payload_json") ?? "{}")), files };
}
