/**
 * The other side of the webhook channel: sends signed messages until they are taken, and takes answers,
 * refuses them, leaves them unanswered or is not there at all.
 *
 * @module
 */

import { readClaim, Signer } from "../../channels/webhook/protocol/signature.ts";
import { freePort } from "./free_port.ts";
import { Happenings } from "./happenings.ts";

/** The secret that both sides have at first. */
export const WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** An event as it came. */
export interface WebhookEvent {
  type: string;
  id: string;
  chat_id: string;
  text: string;
  reply_to?: string;
  stream_id?: string;
  offset?: number;
  end?: boolean;
}

/** A message to the agent. */
export interface WebhookMessage {
  /** Of the message, the same each time that it is sent. */
  id: string;
  chat: string;
  text: string;
  /** Default `ann`. */
  sender?: string;
}

/** How a request was answered. */
export interface WebhookReply {
  status: number;
  // deno-lint-ignore no-explicit-any -- tests look at whatever came
  body: any;
}

export class WebhookSide implements AsyncDisposable {
  /** What was taken, in order. */
  readonly events: WebhookEvent[] = [];
  /** Something came, was taken or was refused. */
  readonly happenings: Happenings;
  /** Requests that came, those that were not taken too. */
  requests = 0;
  /** Requests that were not signed with a secret of ours. */
  unsigned = 0;
  /** The status of an answer to an event; one that is never settled leaves the channel waiting. */
  react: (event: WebhookEvent) => number | Promise<number> = () => 204;
  readonly #port = freePort();
  readonly #ownPort = freePort();
  #signer: Signer;
  #server: Deno.HttpServer | undefined;

  private constructor(signer: Signer, happenings: Happenings) {
    this.#signer = signer;
    this.happenings = happenings;
    this.comeBack();
  }

  static async open(happenings = new Happenings()): Promise<WebhookSide> {
    return new WebhookSide(await Signer.from([WEBHOOK_SECRET]), happenings);
  }

  /** What the channel has to know. */
  get section(): Record<string, unknown> {
    return {
      enabled: true,
      allowFrom: ["ann"],
      port: this.#port,
      url: `http://127.0.0.1:${this.#ownPort}/in`,
      secret: WEBHOOK_SECRET,
      maxPerMinute: 100_000,
    };
  }

  /** Signs and checks with another secret from now on. */
  async changeSecret(secret: string): Promise<void> {
    this.#signer = await Signer.from([secret]);
  }

  /** Refuses connections from now on. */
  async goAway(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.shutdown();
  }

  /** Takes connections again. */
  comeBack(): void {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: this.#ownPort, onListen: () => {} },
      (request) => this.#receive(request),
    );
  }

  /** Sends it once. Rejects when nobody listens, or the connection breaks. */
  async post({ id, chat, text, sender = "ann" }: WebhookMessage): Promise<WebhookReply> {
    const body = JSON.stringify({ chat_id: chat, sender_id: sender, text });
    const signed = await this.#signer.sign({
      id,
      timestampS: Math.floor(Date.now() / 1_000),
      body: new TextEncoder().encode(body),
    });
    const response = await fetch(`http://127.0.0.1:${this.#port}/webhook`, {
      method: "POST",
      headers: { "content-type": "application/json", ...signed },
      body,
    });
    const reply = { status: response.status, body: await response.json() };
    this.happenings.note();
    return reply;
  }

  /** Sends it until it is taken; how often it was refused first is `refusals`. */
  async say(message: WebhookMessage): Promise<WebhookReply & { refusals: number }> {
    for (let refusals = 0;; refusals++) {
      const reply = await this.post(message).catch(() => undefined);
      if (reply !== undefined && reply.status < 300) return { ...reply, refusals };
      if (reply !== undefined && reply.status < 500 && ![401, 429].includes(reply.status)) {
        throw new Error(`${message.id}: ${reply.status} ${JSON.stringify(reply.body)}`);
      }
      await new Promise((again) => setTimeout(again, 10));
    }
  }

  /** Resolves as soon as the channel listens. */
  async connected(): Promise<void> {
    for (;;) {
      try {
        const { body } = await fetch(`http://127.0.0.1:${this.#port}/webhook`);
        await body?.cancel();
        return;
      } catch {
        await new Promise((again) => setTimeout(again, 10));
      }
    }
  }

  /** Texts of whole messages that were taken for a chat, in order. */
  texts(chat: string): string[] {
    return this.events.filter(({ type, chat_id }) => type === "message" && chat_id === chat)
      .map(({ text }) => text);
  }

  /** Resolves when so many messages for a chat have been taken. */
  async taken(chat: string, count: number): Promise<void> {
    await this.happenings.until(() => this.texts(chat).length >= count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goAway();
  }

  async #receive(request: Request): Promise<Response> {
    // Somebody looks whether anything is there.
    if (request.method === "HEAD") return new Response(null, { status: 405 });
    const body = new Uint8Array(await request.arrayBuffer());
    this.requests += 1;
    this.happenings.note();
    const claim = readClaim(request.headers, Date.now());
    if (claim === undefined || !await this.#signer.isSigned(claim, body)) {
      this.unsigned += 1;
      return new Response(null, { status: 500 });
    }
    const event: WebhookEvent = JSON.parse(new TextDecoder().decode(body));
    const status = await this.react(event);
    if (status < 300) this.events.push(event);
    this.happenings.note();
    return new Response(null, { status });
  }
}
