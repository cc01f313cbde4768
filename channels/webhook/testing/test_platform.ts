/** A system on the other side of a webhook, over real HTTP. */

import type { ChannelPlatform, PlatformSent } from "../../../lib/channel/testing/mod.ts";
import { readClaim, Signer } from "../protocol/signature.ts";
import { freePort } from "../../../tests/support/free_port.ts";

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** An event that the channel has sent. */
export interface Event {
  type: string;
  id: string;
  chat_id: string;
  text?: string;
  stream_id?: string;
  offset?: number;
  end?: boolean;
  media?: { name: string; data_url: string }[];
  [field: string]: unknown;
}

/** How the next request of the channel is answered. */
export interface Reaction {
  status: number;
  headers?: Record<string, string>;
}

export class TestPlatform implements ChannelPlatform {
  readonly senders = ["alice", "bob"] as const;
  readonly chatId = "room-1";
  readonly section: Record<string, unknown>;
  readonly events: Event[] = [];
  /** Ids of all requests of the channel, those that were refused too. */
  readonly ids: string[] = [];
  readonly reactions: Reaction[] = [];
  readonly problems: string[] = [];
  readonly #signer: Signer;
  readonly #acknowledged: string[] = [];
  readonly #requests: Promise<unknown>[] = [];
  #server: Deno.HttpServer | undefined;
  #last: { id: string; body: string } | undefined;
  #changed = Promise.withResolvers<void>();

  private constructor(signer: Signer, port: number) {
    this.#signer = signer;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#receive(request),
    );
    const { port: ownPort } = this.#server.addr as Deno.NetAddr;
    this.section = { port, url: `http://127.0.0.1:${ownPort}/in`, secret: SECRET };
  }

  static async open(): Promise<TestPlatform> {
    return new TestPlatform(await Signer.from([SECRET]), freePort());
  }

  get channelUrl(): string {
    return `http://127.0.0.1:${this.section.port}/webhook`;
  }

  /** Resolves with the next event for which it holds. */
  async event(holds: (event: Event) => boolean): Promise<Event> {
    for (;;) {
      const found = this.events.find(holds);
      if (found !== undefined) return found;
      await this.#changed.promise;
    }
  }

  async deliver(
    { text, senderId, from }: { text: string; senderId: string; from: "person" | "bot" | "own" },
  ): Promise<string> {
    await this.connected();
    const id = `msg_${crypto.randomUUID()}`;
    const person = { chat_id: this.chatId, sender_id: senderId, text };
    const own = { type: "message", id, channel: "webhook", chat_id: this.chatId, text };
    this.#last = { id, body: JSON.stringify(from === "own" ? own : person) };
    this.#send(this.#last);
    return id;
  }

  redeliver(): Promise<void> {
    this.#send(this.#last!);
    return Promise.resolve();
  }

  #send(message: { id: string; body: string }): void {
    const sent = this.post(message).then(({ status }) => {
      if (status < 300) this.#acknowledged.push(message.id);
    }, () => {});
    this.#requests.push(sent);
  }

  /** A signed request; resolves with how it was answered. */
  async post(
    { id = `msg_${crypto.randomUUID()}`, body, headers = {}, signal }: {
      id?: string;
      body: string | object;
      headers?: Record<string, string>;
      signal?: AbortSignal;
    },
    // deno-lint-ignore no-explicit-any
  ): Promise<{ status: number; headers: Headers; body: any }> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const signed = await this.sign(id, text);
    const response = await fetch(this.channelUrl, {
      method: "POST",
      headers: { "content-type": "application/json", ...signed, ...headers },
      body: text,
      signal,
    });
    const said = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(said) : said,
    };
  }

  sign(id: string, body: string, timestampS = Math.floor(Date.now() / 1_000)) {
    return this.#signer.sign({ id, timestampS, body: new TextEncoder().encode(body) });
  }

  /** Resolves as soon as the channel listens. */
  async connected(): Promise<void> {
    for (;;) {
      try {
        const { body } = await fetch(this.channelUrl);
        await body?.cancel();
        return;
      } catch {
        await new Promise((again) => setTimeout(again, 5));
      }
    }
  }

  sent(): readonly PlatformSent[] {
    const sent: PlatformSent[] = [];
    const open = new Map<string, PlatformSent>();
    for (const event of this.events) {
      const { type, chat_id: chatId, text = "", stream_id: stream, end, media = [] } = event;
      const files = media.map(({ name }) => name);
      if (type === "message" || type === "approval") sent.push({ chatId, text, files });
      if (type !== "delta") continue;
      let whole = open.get(stream!);
      if (whole === undefined) open.set(stream!, whole = { chatId, text: "" });
      if (whole.text === "") sent.push(whole);
      whole.text += text;
      if (end) open.delete(stream!);
    }
    return sent;
  }

  acknowledged(): readonly string[] {
    return this.#acknowledged;
  }

  refuse(kind: "permanent" | "temporary"): void {
    this.reactions.push({ status: kind === "permanent" ? 410 : 500 });
  }

  async goDown(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.shutdown();
  }

  async close(): Promise<void> {
    await this.goDown();
    await Promise.all(this.#requests);
  }

  async #receive(request: Request): Promise<Response> {
    const body = new Uint8Array(await request.arrayBuffer());
    if (request.method === "HEAD") return new Response(null, { status: 405 });
    const claim = readClaim(request.headers, Date.now());
    if (claim === undefined || !await this.#signer.isSigned(claim, body)) {
      this.problems.push("a request that is not signed");
      return new Response(null, { status: 401 });
    }
    this.ids.push(claim.id);
    const { status, headers } = this.reactions.shift() ?? { status: 204 };
    if (status < 300) {
      this.events.push(JSON.parse(new TextDecoder().decode(body)));
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    }
    return new Response(null, { status, headers });
  }
}
