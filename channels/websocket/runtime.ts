/**
 * The WebSocket server channel: a port, connections on it, and a session of the wire protocol for each.
 *
 * @module
 */

import type { StoredEvent } from "../../lib/contract/events.ts";
import { Channel } from "../../lib/channel/channel.ts";
import type { OutboundMessage } from "../../lib/contract/outbound_message.ts";
import type { OpenPort, SocketHost } from "../../lib/channel/socket_host.ts";
import type { ChannelFlags } from "../../lib/channel/with_channel_flags.ts";
import type { WebsocketConfig } from "../../lib/config/schema.ts";
import { CHAT_ID } from "../../lib/contract/wire/frames.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { FrameSource } from "./protocol/chat_frames.ts";
import { ClientSession } from "./protocol/client_session.ts";
import { ResumeTickets } from "./protocol/resume_tickets.ts";
import type { Connection } from "./socket/connection.ts";
import { OutFrame } from "./socket/out_frame.ts";
import { type SocketCounts, SocketServer } from "./socket/socket_server.ts";

/** `channels.websocket`, with every flag set (`withChannelFlags`). */
export type WebsocketChannelConfig =
  & Pick<
    WebsocketConfig,
    "allowFrom" | "path" | "maxMessageBytes" | "pingIntervalS" | "pingTimeoutS" | "streaming"
  >
  & ChannelFlags;

/** Milliseconds in which clients may answer that they are left, and requests may end. */
const STOP_GRACE_MS = 2_000;

export class WebsocketChannel extends Channel<WebsocketChannelConfig> {
  override readonly name = "websocket";
  readonly #host: SocketHost;
  readonly #server: SocketServer;
  readonly #sessions = new Map<Connection, ClientSession>();
  readonly #stopped = Promise.withResolvers<void>();
  readonly #opened = Promise.withResolvers<OpenPort>();
  #run: Promise<void> | undefined;
  #isRunning = false;

  constructor(config: WebsocketChannelConfig, host: SocketHost) {
    super(config);
    this.#host = host;
    // Who waits for neither is told by start.
    this.#opened.promise.catch(() => {});
    const source: FrameSource = {
      streaming: config.streaming,
      showReasoning: config.showReasoning,
      sendProgress: config.sendProgress,
      sendToolHints: config.sendToolHints,
      signMedia: (path, name) => host.media.sign(path, name),
      made: new WeakMap<StoredEvent, OutFrame>(),
    };
    const tickets = new ResumeTickets();
    this.#server = new SocketServer({
      admission: host.admission,
      path: config.path,
      maxMessageBytes: config.maxMessageBytes,
      pingIntervalMs: config.pingIntervalS * 1000,
      pingTimeoutMs: config.pingTimeoutS * 1000,
      clock: host.clock,
      log: host.log,
      onConnection: (connection) => {
        const session = new ClientSession({ host, connection, source, tickets });
        this.#sessions.set(connection, session);
        session.begin(() => this.#sessions.delete(connection));
      },
    });
  }

  override get isRunning(): boolean {
    return this.#isRunning;
  }

  /** The port, as soon as it is open; rejects when it cannot be opened. */
  get port(): Promise<OpenPort> {
    return this.#opened.promise;
  }

  /** `chats`: those that connections follow, each as often as it is followed. */
  counts(): SocketCounts & { chats: number } {
    const chats = this.#sessions.values().reduce((sum, { chats }) => sum + chats, 0);
    return { ...this.#server.counts(), chats };
  }

  override start(): Promise<void> {
    if (this.#run !== undefined) {
      return Promise.reject(new Error("Cannot start the WebSocket channel a second time"));
    }
    return this.#run = this.#serve();
  }

  override async stop(): Promise<void> {
    this.#isRunning = false;
    this.#stopped.resolve();
    this.#run ??= Promise.resolve();
    // What goes wrong is told by start.
    await this.#run.catch(() => {});
    this.#opened.reject(new Error("The WebSocket channel was stopped"));
  }

  async #serve(): Promise<void> {
    this.#isRunning = true;
    const forget = this.#host.onModelChange(({ name, preset }) => {
      const frame = new OutFrame({
        event: "runtime_model_updated",
        model_name: name,
        ...preset !== undefined && { model_preset: preset },
      });
      for (const connection of this.#sessions.keys()) connection.send(frame);
    });
    try {
      const port = await this.#host.openPort((request, socket, head) =>
        this.#server.upgrade(request, socket, head)
      );
      this.#opened.resolve(port);
      await this.#stopped.promise;
      await Promise.all([this.#server.close(STOP_GRACE_MS), port.close(STOP_GRACE_MS)]);
    } catch (error) {
      this.#opened.reject(error);
      throw error;
    } finally {
      this.#isRunning = false;
      forget();
    }
  }

  /** Puts a message of the agent into a chat; who follows the chat sees it, now or later. */
  override async send({ id, chatId, content, media, event }: OutboundMessage): Promise<void> {
    // Turns of these chats are shown by their events; there is nothing else to deliver.
    if (event !== undefined) return;
    if (!CHAT_ID.test(chatId)) {
      throw new ServiceError(
        "invalid_request",
        `Cannot send to chat_id ${JSON.stringify(chatId.slice(0, 80))}: ` +
          "expected 1 to 64 of A-Z a-z 0-9 _ : -",
        { param: "chat_id" },
      );
    }
    await this.#host.chats.say({ chatId, id, text: content, media });
  }

  static override defaultConfig(): Record<string, unknown> {
    return {
      enabled: true,
      host: "127.0.0.1",
      port: 8765,
      path: "/",
      allowFrom: ["*"],
      streaming: true,
    };
  }
}
