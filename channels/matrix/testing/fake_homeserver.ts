/**
 * A homeserver for tests, which speaks the client-server API v1.11 on a port of this machine: logins,
 * long polls, transactions, media, limits and what goes wrong.
 *
 * @module
 */

import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "../../../lib/channel/testing/mod.ts";
import type { Json } from "../api/matrix_api.ts";
import { MAX_PART_BYTES } from "../text/message_content.ts";
import { type FakeAnswer, FakeApi, type FakeCall } from "./fake_api.ts";
import { type FakeEvent, FakeRooms } from "./fake_rooms.ts";

/** How the next requests of a kind go wrong. */
interface Fault {
  method: string;
  path: RegExp;
  left: number;
  /** `cut`: what was asked is done, and nobody is told so. */
  answer: FakeAnswer | "cut";
}

export class FakeHomeserver implements ChannelPlatform {
  readonly me = "@helper:example.org";
  readonly senders = ["@alice:example.org", "@bob:remote.example"] as const;
  readonly chatId = "!lobby:example.org";
  readonly hasFences = true;
  readonly limit = {
    max: MAX_PART_BYTES,
    sizeOf: ({ text }: PlatformSent) => new TextEncoder().encode(text).length,
  };
  readonly rooms = new FakeRooms();
  readonly api: FakeApi;
  /** Requests that came, the first first. */
  readonly calls: FakeCall[] = [];
  readonly #faults: Fault[] = [];
  #server: Deno.HttpServer<Deno.NetAddr> | undefined;
  #down = new AbortController();
  #port = 0;
  #last: FakeEvent | undefined;

  private constructor() {
    this.api = new FakeApi(this.rooms, this.me);
    this.rooms.create(this.chatId, [this.senders[0], this.senders[1], this.me]);
  }

  static open(): Promise<FakeHomeserver> {
    const server = new FakeHomeserver();
    server.comeUp();
    return Promise.resolve(server);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get section(): Readonly<Record<string, unknown>> {
    return {
      homeserver: this.url,
      accessToken: "syt_the_token_of_the_helper",
      editEveryMs: 100,
    };
  }

  /** Serves, at the port that it had. */
  comeUp(): void {
    this.#down = new AbortController();
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: this.#port, onListen: () => {} },
      (request) => this.#answer(request),
    );
    this.#port = this.#server.addr.port;
  }

  async goDown(): Promise<void> {
    this.#down.abort();
    await this.#server?.shutdown();
    this.#server = undefined;
  }

  async close(): Promise<void> {
    await this.goDown();
  }

  /** Resolves when the channel polls, so that nothing is old to it. */
  async polled(): Promise<void> {
    const isPolling = () =>
      this.calls.some(({ path, query }) => path.endsWith("/sync") && query.has("since"));
    while (!isPolling()) await new Promise((again) => setTimeout(again, 2));
  }

  async deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    await this.polled();
    const sender = from === "own" ? this.me : senderId;
    const msgtype = from === "bot" ? "m.notice" : "m.text";
    return this.say(text, { sender, msgtype, mentions: [this.me] }).event_id;
  }

  /** Somebody writes: at once, whether anybody listens or not. */
  say(
    body: string,
    { sender = this.senders[0], roomId = this.chatId, msgtype = "m.text", mentions, ...more }: {
      sender?: string;
      roomId?: string;
      msgtype?: string;
      mentions?: readonly string[];
      content?: Json;
      transaction?: FakeEvent["transaction"];
    } = {},
  ): FakeEvent {
    this.#last = this.rooms.add(roomId, {
      type: "m.room.message",
      sender,
      content: {
        msgtype,
        body,
        ...mentions && { "m.mentions": { user_ids: mentions } },
        ...more.content,
      },
      ...more.transaction && { transaction: more.transaction },
    });
    return this.#last;
  }

  /** Somebody reacts to an event. */
  react(eventId: string, key: string, sender: string = this.senders[0], roomId = this.chatId) {
    return this.rooms.add(roomId, {
      type: "m.reaction",
      sender,
      content: { "m.relates_to": { rel_type: "m.annotation", event_id: eventId, key } },
    });
  }

  /** Somebody gives one of their events another text. */
  edit(eventId: string, body: string, more: Parameters<FakeHomeserver["say"]>[1] = {}): FakeEvent {
    return this.say(`* ${body}`, {
      ...more,
      content: {
        "m.new_content": { msgtype: "m.text", body, ...more.content },
        "m.relates_to": { rel_type: "m.replace", event_id: eventId },
      },
    });
  }

  /** Takes the content of an event away; `isNew`: in a room of version 11 or later. */
  redact(event: FakeEvent, sender: string, isNew = false): void {
    event.content = {};
    const redacts = { redacts: event.event_id };
    this.rooms.add(event.roomId, {
      type: "m.room.redaction",
      ...{ sender, content: isNew ? redacts : {}, ...!isNew && redacts },
    });
  }

  /** Gives an event again, by default the one that was delivered last. */
  redeliver(event: FakeEvent | undefined = this.#last): Promise<void> {
    const { pos: _, roomId, ...same } = event!;
    this.rooms.add(roomId, same);
    return Promise.resolve();
  }

  refuse(kind: "permanent" | "temporary"): void {
    const isPermanent = kind === "permanent";
    this.fail("PUT", /\/send\/m\.room\.message\//, {
      status: isPermanent ? 403 : 500,
      body: isPermanent
        ? { errcode: "M_FORBIDDEN", error: "You don't have permission to post that to the room" }
        : { errcode: "M_UNKNOWN", error: "Internal server error" },
    });
  }

  /** The next `times` requests of the kind get that answer instead. */
  fail(method: string, path: RegExp, answer: FakeAnswer | "cut", times = 1): void {
    this.#faults.push({ method, path, left: times, answer });
  }

  /** As Synapse limits: `header` where a newer server says it there. */
  limitNext(method: string, path: RegExp, retryAfterMs: number, header = false, times = 1): void {
    this.fail(method, path, {
      status: 429,
      body: {
        errcode: "M_LIMIT_EXCEEDED",
        error: "Too Many Requests",
        ...!header && { retry_after_ms: retryAfterMs },
      },
      ...header && { headers: { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) } },
    }, times);
  }

  revoke(): Promise<void> {
    this.signOut({ soft: false });
    return Promise.resolve();
  }

  /** Signs every session out; `soft`: the same device may log in again. */
  signOut({ soft }: { soft: boolean }): void {
    this.api.revoke(soft);
    this.rooms.wake();
  }

  isTyping(): boolean {
    return this.api.typing.size > 0;
  }

  /** Clicks on one of the reactions that the helper has put under its last question. */
  pressButton(button: "approve" | "deny", senderId: string): Promise<void> {
    const mark = button === "approve" ? "✅" : "❌";
    const asked = this.reactions().at(-1);
    const offered = this.reactions().filter(({ eventId }) => eventId === asked?.eventId);
    if (asked === undefined || !offered.some(({ key }) => key === mark)) {
      return Promise.reject(new Error("There is nothing to click on"));
    }
    this.react(asked.eventId, mark, senderId);
    return Promise.resolve();
  }

  deliverAway({ text, senderId }: PlatformMessage): Promise<string> {
    return Promise.resolve(this.say(text, { sender: senderId, mentions: [this.me] }).event_id);
  }

  /** What stands before the place that the channel asks to go on from. */
  acknowledged(): readonly string[] {
    const place = Math.max(
      0,
      ...this.calls.filter(({ path }) => path.endsWith("/sync"))
        .map(({ query }) => Number(query.get("since")?.slice(1) ?? 0)),
    );
    return [...this.rooms.rooms.values()].flatMap(({ timeline }) => timeline)
      .filter(({ pos }) => pos <= place).map(({ event_id }) => event_id);
  }

  /** Messages of the helper as people see them now, with their last text. */
  sent(): PlatformSent[] {
    return this.shownEvents().map(({ event, content }) => {
      const relation = event.content["m.relates_to"] as Json | undefined;
      const chatId = relation?.rel_type === "m.thread"
        ? `${event.roomId}/${relation.event_id}`
        : event.roomId;
      const isFile = typeof content.url === "string";
      return {
        chatId,
        text: isFile ? "" : String(content.body),
        ...isFile && { files: [String(content.filename ?? content.body)] },
      };
    });
  }

  /** The same with everything that they have. */
  shownEvents(sender = this.me): { event: FakeEvent; content: Json }[] {
    const messages = [...this.rooms.rooms.values()].flatMap(({ timeline }) => timeline)
      .filter((event) => event.type === "m.room.message" && event.sender === sender)
      .sort((a, b) => a.pos - b.pos);
    const replaces = ({ content }: FakeEvent) => {
      const relation = content["m.relates_to"] as Json | undefined;
      return relation?.rel_type === "m.replace" ? relation.event_id : undefined;
    };
    return messages.filter((event) => replaces(event) === undefined).map((event) => {
      const edit = messages.findLast((other) => replaces(other) === event.event_id);
      return { event, content: (edit?.content["m.new_content"] ?? event.content) as Json };
    });
  }

  /** Reactions of the helper. */
  reactions(): { eventId: string; key: string }[] {
    return [...this.rooms.rooms.values()].flatMap(({ timeline }) => timeline)
      .filter(({ type, sender }) => type === "m.reaction" && sender === this.me)
      .map(({ content }) => content["m.relates_to"] as Json)
      .map(({ event_id, key }) => ({ eventId: String(event_id), key: String(key) }));
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const { method, headers } = request;
    const bytes = new Uint8Array(await request.arrayBuffer());
    const call: FakeCall = {
      method,
      path: url.pathname,
      query: url.searchParams,
      token: headers.get("authorization")?.replace(/^Bearer /, ""),
      type: headers.get("content-type") ?? "",
      bytes,
      atMs: performance.now(),
    };
    this.calls.push(call);
    const fault = this.#faults.find(({ left, ...one }) =>
      left > 0 && one.method === method && one.path.test(url.pathname)
    );
    if (fault !== undefined) fault.left -= 1;
    if (fault !== undefined && fault.answer !== "cut") return toResponse(fault.answer);
    const { signal } = this.#down;
    const answer = await this.api.answer(call, AbortSignal.any([signal, request.signal]));
    if (fault === undefined) return toResponse(answer);
    // Less than was announced: the connection is cut.
    const empty = new ReadableStream({ start: (stream) => stream.close() });
    return new Response(empty, { headers: { "content-length": "100" } });
  }
}

function toResponse({ status, body, headers, raw }: FakeAnswer): Response {
  return raw !== undefined
    ? new Response(raw, { status, headers })
    : Response.json(body, { status, headers });
}
