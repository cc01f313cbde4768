/**
 * The channel on a free port, over the chats of an agent whose model does as the test says.
 *
 * @module
 */

// @ts-types="@types/ws"
import { WebSocket } from "ws";
import { systemClock } from "../../../lib/base/clock.ts";
import { testAgent, type TestAgentOptions } from "../../../lib/agent/testing/test_agent.ts";
import type { Chats } from "../../../lib/contract/chats.ts";
import type { SocketHost } from "../../../lib/channel/socket_host.ts";
import { withChannelFlags } from "../../../lib/channel/with_channel_flags.ts";
import { configSchema } from "../../../lib/config/schema.ts";
import { listen } from "../../../lib/listen/listen.ts";
import type { Log } from "../../../lib/base/log.ts";
import { createChats } from "../../../lib/process/service/chats.ts";
import {
  type Frame,
  type FRAMES,
  type ServerFrame,
  serverFrame,
} from "../../../lib/contract/wire/frames.ts";
import { WebsocketChannel } from "../runtime.ts";

/** What a test may want to be otherwise. */
export interface TestChannelOptions {
  agent?: TestAgentOptions;
  /** Section `channels.websocket`. */
  section?: Record<string, unknown>;
  host?: Partial<SocketHost>;
  /** Instead of those of an agent. */
  chats?: Chats;
}

const silent: Log = { debug() {}, info() {}, warning() {}, error() {} };

/** Opens one. A client is let in by its `client_id`; `scopes` in the query narrows it. */
export async function openTestChannel({ agent, section, host, chats }: TestChannelOptions = {}) {
  const own = testAgent(agent);
  const { channels } = configSchema.parse({ channels: { websocket: section ?? {} } });
  const listeners = new Set<Parameters<SocketHost["onModelChange"]>[0]>();
  let ids = 0;
  const channel = new WebsocketChannel(withChannelFlags(channels.websocket, channels), {
    chats: chats ?? createChats({
      turns: own.turns,
      journal: own.journal,
      documents: { extract: () => Promise.reject(new Error("no documents here")) },
      scrub: (text) => text,
      clock: systemClock,
    }),
    admission: {
      admit({ url = "/" }) {
        const { searchParams } = new URL(url, "http://localhost");
        const clientId = searchParams.get("client_id") ?? "anon-000000000000";
        const scopes = searchParams.get("scopes")?.split(",");
        return Promise.resolve({ peer: { clientId, actor: `websocket:${clientId}`, scopes } });
      },
      isAllowed: () => true,
    },
    media: { sign: () => undefined },
    async openPort(onUpgrade) {
      const listener = await listen({
        host: "127.0.0.1",
        port: 0,
        setting: "channels.websocket",
        handler: () => new Response("", { status: 404 }),
        onUpgrade,
        limits: { maxConnections: 20_000 },
      });
      return {
        url: `${listener.url.replace(/^http/, "ws")}/`,
        port: listener.port,
        close: (graceMs) => listener.close(graceMs),
      };
    },
    onModelChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    scrub: (text) => text,
    clock: systemClock,
    log: silent,
    random: () => `chat-${++ids}`,
    ...host,
  });
  const running = channel.start();
  running.catch(() => {});
  const { url } = await channel.port;
  return {
    ...own,
    channel,
    running,
    url,
    listeners,
    connect: (query = "") => WireEnd.open(`${url}?${query}`),
    async [Symbol.asyncDispose]() {
      await channel.stop();
      await own[Symbol.asyncDispose]();
    },
  };
}

/** The client's end of a connection. Every frame is checked against its schema. */
export class WireEnd {
  readonly frames: ServerFrame[] = [];
  readonly closed = Promise.withResolvers<{ code: number; reason: string }>();
  readonly socket: WebSocket;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => {
      this.frames.push(serverFrame.parse(JSON.parse(String(data))));
      for (const wake of [...this.#waiting]) wake();
    });
    socket.on("close", (code, reason) => {
      this.closed.resolve({ code, reason: String(reason) });
      for (const wake of [...this.#waiting]) wake();
    });
  }

  /** Resolves when the server has greeted it. */
  static async open(url: string): Promise<WireEnd> {
    const socket = new WebSocket(url);
    const end = new WireEnd(socket);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    await end.until("ready");
    return end;
  }

  say(message: unknown): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** The first frame of an event that is so, waited for. */
  async until<Event extends keyof typeof FRAMES>(
    event: Event,
    is: (frame: Frame<Event>) => boolean = () => true,
  ): Promise<Frame<Event>> {
    for (;;) {
      const found = this.of(event).find(is);
      if (found !== undefined) return found;
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`It closed before ${event}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
      this.#waiting.delete(resolve);
    }
  }

  of<Event extends keyof typeof FRAMES>(event: Event): Frame<Event>[] {
    return this.frames.filter((frame) => frame.event === event) as Frame<Event>[];
  }

  /** Frames of a chat's events, in the order in which they came. */
  get numbered() {
    return this.frames.filter((frame): frame is ServerFrame & { seq: number; seq_from?: number } =>
      "seq" in frame && frame.seq !== undefined
    );
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed.promise;
  }
}
