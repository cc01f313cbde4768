/**
 * A server of the Bot API on this machine: paths, answers, error codes and quirks as Telegram has them.
 *
 * @module
 */

import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "../../../lib/channel/testing/channel_platform.ts";
import { BotApi } from "./bot_api.ts";
import { type FakeMessage, Refusal } from "./fake_chats.ts";
import { readCall } from "./read_call.ts";
import { type FailOptions, refusal, Troubles } from "./troubles.ts";
import type { FakeUpdate } from "./update_queue.ts";
import { deliverToWebhook } from "./webhook_delivery.ts";

const TOKEN = "777001:AAFakeTokenOfATest-0123456789_abcdef";

const SENDING = /^(?:send(?!ChatAction)|editMessage)/;

export class FakeTelegram implements ChannelPlatform {
  readonly token = TOKEN;
  readonly senders = ["1001", "1002"] as const;
  readonly chatId = "1001";
  readonly limit = { max: 4_096, sizeOf: ({ text }: PlatformSent) => text.length };
  readonly api = new BotApi();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #ending = new AbortController();
  readonly #troubles = new Troubles();
  /** How long a typing signal is shown; Telegram's time. */
  typingMs = 5_000;
  /** Of messages, by the number of their update. */
  readonly #messageIds = new Map<number, string>();
  /** Files stop behind their first byte. */
  stallFiles = false;
  /** Requests so far, with whatever token. */
  requests = 0;
  #isRevoked = false;
  #lastMessageId = 0;
  #last: FakeUpdate | undefined;

  private constructor() {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => this.#answer(request),
    );
  }

  // deno-lint-ignore require-await -- as the servers of other platforms
  static async open(): Promise<FakeTelegram> {
    return new FakeTelegram();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  get section(): Readonly<Record<string, unknown>> {
    return { token: TOKEN, apiUrl: this.url };
  }

  // What people do.

  /** A message of a person, in private or in a group. Fields of the Bot API's Message go over it. */
  say(
    text: string,
    { senderId = "1001", ...fields }: { senderId?: string } & Record<string, unknown> = {},
  ): number {
    const id = ++this.#lastMessageId;
    this.#last = this.api.queue.push({
      message: {
        message_id: id,
        date: Math.floor(Date.now() / 1_000),
        from: personOf(senderId),
        chat: { id: Number(senderId), type: "private", first_name: `Person ${senderId}` },
        ...text !== "" && { text },
        ...fields,
      },
    });
    this.#messageIds.set(this.#last.update_id, String(id));
    this.#postWebhook();
    return id;
  }

  /** Somebody changes what they said. */
  change(id: number, text: string, { senderId = "1001" } = {}): void {
    this.api.queue.push({
      edited_message: {
        message_id: id,
        date: Math.floor(Date.now() / 1_000),
        edit_date: Math.floor(Date.now() / 1_000),
        from: personOf(senderId),
        chat: { id: Number(senderId), type: "private", first_name: `Person ${senderId}` },
        text,
      },
    });
    this.#postWebhook();
  }

  /** Somebody clicks on a button of one of the bot's messages. */
  click(message: FakeMessage, label: string, senderId = "1001"): string {
    const button = message.keyboard.find(({ text }) => text.includes(label));
    if (button === undefined) throw new Error(`There is no button ${label}`);
    return this.clickData(message, button.callback_data, senderId);
  }

  clickData(message: FakeMessage, data: string, senderId = "1001"): string {
    const id = String(4_000_000 + ++this.#lastMessageId);
    const [chat, thread] = message.chatId.split("/");
    this.#last = this.api.queue.push({
      callback_query: {
        id,
        from: personOf(senderId),
        chat_instance: "1",
        data,
        message: {
          message_id: message.message_id,
          date: 1,
          chat: { id: Number(chat), type: chat!.startsWith("-") ? "supergroup" : "private" },
          ...thread !== undefined &&
            { message_thread_id: Number(thread), is_topic_message: true },
        },
      },
    });
    this.#postWebhook();
    return id;
  }

  /** Keeps a file that a message may name. */
  addFile(id: string, path: string, content: string | Uint8Array<ArrayBuffer>, size?: number) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    this.api.files.set(id, { path, bytes, size: size ?? bytes.length });
    return { file_id: id, file_unique_id: id, file_size: size ?? bytes.length };
  }

  // What Telegram does.

  /** From now on each update is given so often, acknowledged or not. */
  redeliverEach(times: number): void {
    this.api.queue.times = times;
  }

  /** The next calls of a method are refused with 429. */
  flood(method: RegExp, retryAfterS: number, times = 1): void {
    this.fail(method, 429, `Too Many Requests: retry after ${retryAfterS}`, {
      times,
      parameters: { retry_after: retryAfterS },
    });
  }

  /** The next calls of a method are refused with these words. */
  fail(method: RegExp, code: number, description: string, options: FailOptions = {}): void {
    const answer = () => refusal(code, description, options.parameters);
    this.#troubles.add({ method, answer, ...options });
  }

  /** The next call of a method is answered with something else than the Bot API's JSON. */
  answerWith(method: RegExp, body: string, status = 200): void {
    this.#troubles.add({ method, answer: () => new Response(body, { status }) });
  }

  /** The next call of a method is carried out, and its answer ends before it should. */
  cutOff(method: RegExp): void {
    const answer = () => new Response('{"ok":tr', { headers: { "content-length": "1000" } });
    this.#troubles.add({ method, answer, isCarriedOut: true });
  }

  /** Telegram does not know the token any more. */
  revoke(): void {
    this.#isRevoked = true;
    this.api.queue.release();
  }

  /** Another program asks for updates, once. */
  pollElsewhere(): void {
    this.api.queue.interrupt();
  }

  /** Another program sets a webhook. */
  setWebhookElsewhere(url: string): void {
    this.api.webhook = { url, secret: "" };
    this.api.queue.interrupt("terminated by setWebhook request");
  }

  /** The bot's own messages that are there, the first first. */
  get shown(): readonly FakeMessage[] {
    return this.api.chats.messages.filter(({ isDeleted }) => !isDeleted);
  }

  callsOf(method: string) {
    return this.api.calls.filter((one) => one.method === method).map(({ call }) => call);
  }

  /** Resolves as soon as it holds; looks again when something has happened. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((again) => setTimeout(again, 2));
  }

  // As the conformance kit uses it.

  async deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    await this.until(() => this.api.queue.polls > 0 || this.api.webhook !== undefined);
    const { me } = this.api;
    const bot = { id: 888002, is_bot: true, first_name: "Other", username: "other_bot" };
    const fields = from === "person" ? {} : { from: from === "own" ? me : bot };
    return String(this.say(text, { senderId, ...fields }));
  }

  async redeliver(): Promise<void> {
    this.api.queue.again(this.#last!);
    this.#postWebhook();
    await Promise.resolve();
  }

  deliverAway({ text, senderId }: PlatformMessage): Promise<string> {
    return Promise.resolve(String(this.say(text, { senderId })));
  }

  acknowledged(): readonly string[] {
    return this.api.queue.acknowledged.map((update) => this.#messageIds.get(update) ?? "");
  }

  isTyping(): boolean {
    const at = this.api.calls.findLastIndex(({ method }) => method === "sendChatAction");
    const isAnswered = this.api.calls.slice(at + 1).some(({ method }) => SENDING.test(method));
    return at >= 0 && !isAnswered && performance.now() - this.api.calls[at]!.atMs < this.typingMs;
  }

  pressButton(button: "approve" | "deny", senderId: string): Promise<void> {
    const message = this.api.chats.messages.findLast(({ buttons }) => buttons.length > 0);
    const pressed = message?.buttons.find(({ text }) => text.toLowerCase().includes(button));
    if (pressed === undefined) return Promise.reject(new Error("There is no such button"));
    this.clickData(message!, pressed.callback_data, senderId);
    return Promise.resolve();
  }

  sent(): readonly PlatformSent[] {
    return this.shown.map(({ chatId, text, files }) => ({
      chatId,
      text,
      files: files.map(({ name }) => name),
    }));
  }

  refuse(kind: "permanent" | "temporary"): void {
    if (kind === "permanent") this.fail(SENDING, 400, "Bad Request: chat not found");
    else this.fail(SENDING, 500, "Internal Server Error");
  }

  async goDown(): Promise<void> {
    await this.close();
  }

  async close(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    this.api.queue.release();
    await this.#server.shutdown();
  }

  /** Resolves after a request that asks for nothing was answered, or once it is down. */
  async answers(): Promise<void> {
    await fetch(this.url).then((response) => response.body?.cancel(), () => {});
    await new Promise((next) => setTimeout(next, 1));
  }

  async #answer(request: Request): Promise<Response> {
    this.requests += 1;
    const { pathname } = new URL(request.url);
    const [, isFile, token, rest] = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(pathname) ?? [];
    if (token === undefined) return new Response("nginx", { status: 404 });
    if (token !== TOKEN || this.#isRevoked) {
      await request.body?.cancel();
      return refusal(401, "Unauthorized");
    }
    if (isFile !== undefined) return this.#file(decodeURIComponent(rest!));
    const method = rest!;
    const body = await readCall(request);
    const trouble = this.#troubles.next(method);
    try {
      if (trouble !== undefined && !trouble.isCarriedOut) {
        this.api.calls.push({
          method: `${method} (refused)`,
          call: body.call,
          atMs: performance.now(),
        });
        return trouble.answer();
      }
      const ended = AbortSignal.any([request.signal, this.#ending.signal]);
      const result = await this.api.answer(method, body.call, body.files, ended);
      if (this.#isRevoked) return refusal(401, "Unauthorized");
      return trouble?.answer() ?? Response.json({ ok: true, result });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return refusal(error.code, error.message, error.parameters);
    }
  }

  #file(path: string): Response {
    const file = [...this.api.files.values()].find((one) => one.path === path);
    if (file === undefined) return refusal(404, "Not Found");
    return this.stallFiles
      ? new Response(ReadableStream.from(stalled(this.#ending.signal)))
      : new Response(file.bytes, { headers: { "content-type": "application/octet-stream" } });
  }

  #postWebhook(): void {
    if (this.api.webhook !== undefined) void deliverToWebhook(this.api, this.#ending.signal);
  }
}

/** A body that says one byte and no more, until the signal ends it: whoever read it may be gone. */
async function* stalled(ending: AbortSignal): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1);
  await new Promise((end) => ending.addEventListener("abort", end, { once: true }));
}

function personOf(senderId: string) {
  return { id: Number(senderId), is_bot: false, first_name: `Person ${senderId}` };
}
