/**
 * A client of the WebSocket port for tests: the `ws` package, and nothing that would mend anything.
 *
 * @module
 */

// @ts-types="@types/ws"
import { WebSocket } from "ws";
import { type ServerFrame, serverFrame } from "../../lib/contract/wire/frames.ts";
import type { ClientEnvelope } from "../../lib/contract/wire/envelopes.ts";

/** What a page or a script gets to begin with. */
export interface Access {
  token: string;
  api_token: string;
  ws_url: string;
}

/** The HTTP side of a WebSocket's address. */
export function httpOf(wsUrl: string): URL {
  const url = new URL(wsUrl);
  url.protocol = url.protocol === "wss:" ? "https:" : "http:";
  return url;
}

/** Bootstraps as a local page does. */
export async function bootstrap(wsUrl: string, secret?: string): Promise<Access> {
  const response = await fetch(new URL("/webui/bootstrap", httpOf(wsUrl)), {
    headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
  });
  const body = await response.json();
  if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
  return body;
}

/** Every frame is checked against its schema. */
export class WireSocket implements Disposable {
  readonly frames: ServerFrame[] = [];
  /** Code and reason, once it has closed. */
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #socket: WebSocket;
  #news = Promise.withResolvers<void>();

  /** Connects with a token of its own, and waits for `ready`. */
  static async open(wsUrl: string, secret?: string): Promise<WireSocket> {
    const { token } = await bootstrap(wsUrl, secret);
    const socket = new WireSocket(wsUrl, token);
    await socket.next("ready");
    return socket;
  }

  constructor(wsUrl: string, token?: string, options: object = {}) {
    const url = new URL(wsUrl);
    if (token !== undefined) url.searchParams.set("token", token);
    this.#socket = new WebSocket(url, options);
    this.#socket.on("message", (data) => {
      this.frames.push(serverFrame.parse(JSON.parse(String(data))));
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      this.#socket.on("close", (code, reason) => {
        resolve({ code, reason: String(reason) });
        this.#wake();
      });
    });
    // It is followed by a close.
    this.#socket.on("error", () => {});
  }

  /** Of the frame `ready`. */
  get chatId(): string {
    return this.find("ready")!.chat_id;
  }

  send(envelope: ClientEnvelope | string): void {
    this.#socket.send(typeof envelope === "string" ? envelope : JSON.stringify(envelope));
  }

  /** A binary frame. */
  sendBytes(bytes: Uint8Array): void {
    this.#socket.send(bytes);
  }

  /** The first frame of that kind that fits, from a place on. */
  find<Event extends ServerFrame["event"]>(
    event: Event,
    fits: (frame: Extract<ServerFrame, { event: Event }>) => boolean = () => true,
    from = 0,
  ): Extract<ServerFrame, { event: Event }> | undefined {
    type Wanted = Extract<ServerFrame, { event: Event }>;
    return this.frames.slice(from).find((frame): frame is Wanted =>
      frame.event === event && fits(frame as Wanted)
    );
  }

  /** Waits for it. Rejects when the connection ends before. */
  async next<Event extends ServerFrame["event"]>(
    event: Event,
    fits?: (frame: Extract<ServerFrame, { event: Event }>) => boolean,
    from = 0,
  ): Promise<Extract<ServerFrame, { event: Event }>> {
    for (;;) {
      const found = this.find(event, fits, from);
      if (found !== undefined) return found;
      if (this.#socket.readyState === WebSocket.CLOSED) {
        throw new Error(`Closed before ${event}; it said ${JSON.stringify(this.frames.slice(-5))}`);
      }
      await this.#news.promise;
    }
  }

  /** Waits until so many frames have come, or it is closed. */
  async count(frames: number): Promise<void> {
    while (this.frames.length < frames && this.#socket.readyState !== WebSocket.CLOSED) {
      await this.#news.promise;
    }
  }

  /** Breaks the connection without a word. */
  cut(): void {
    this.#socket.terminate();
  }

  [Symbol.dispose](): void {
    this.cut();
  }

  #wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}

/** What a chat's frames amount to: each number once, in order, and the text of each stream. */
export function transcript(frames: readonly ServerFrame[], chatId: string) {
  let next: number | undefined;
  const texts = new Map<string, string>();
  const kinds: string[] = [];
  for (const frame of frames) {
    if (!("seq" in frame) || frame.seq === undefined || frame.chat_id !== chatId) continue;
    const from = frame.seq_from ?? frame.seq;
    if (next !== undefined && from !== next) {
      throw new Error(`Wanted the number ${next}, got ${from}: ${JSON.stringify(frame)}`);
    }
    next = frame.seq + 1;
    if (frame.event === "delta") {
      texts.set(frame.stream_id, (texts.get(frame.stream_id) ?? "") + frame.text);
    } else kinds.push(frame.event);
  }
  return { last: (next ?? 1) - 1, texts: [...texts.values()], kinds };
}
