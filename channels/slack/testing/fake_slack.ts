/**
 * Slack for tests, on 127.0.0.1: the Web API, Socket Mode and files, as its documents say they are.
 *
 * @module
 */

import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "../../../lib/channel/testing/mod.ts";
import { BOT_SCOPES, HTTP_PATH } from "../app_manifest.ts";
import { SlackSignature } from "../http/slack_signature.ts";
import {
  ALICE,
  ALICE_DM,
  BOB,
  BOB_DM,
  BOT_ID,
  BOT_USER,
  type FakeMessage,
  FakeWorkspace,
  Refused,
  TEAM,
} from "./fake_workspace.ts";

/** A call of the Web API that came. */
export interface FakeCall {
  method: string;
  args: Record<string, string>;
  atMs: number;
}

/** Something that was told and not acknowledged. */
interface Told {
  envelope: Record<string, unknown>;
  id: string;
  attempts: number;
}

const BOT_TOKEN = "xoxb-000-fake-bot-token";
const APP_TOKEN = "xapp-1-fake-app-token";
const SIGNING_SECRET = "00112233445566778899aabbccddeeff";

/** See the module. */
export class FakeSlack implements ChannelPlatform {
  readonly senders = [ALICE, BOB] as const;
  readonly chatId = ALICE_DM;
  readonly limit = { max: 12_000, sizeOf: ({ text }: PlatformSent) => text.length };
  readonly hasFences = true;
  readonly section: Record<string, unknown>;
  readonly workspace: FakeWorkspace;
  readonly calls: FakeCall[] = [];
  /** Other programs that are connected with the token. */
  others = 0;
  /** So many sockets are refused from now on. */
  refuseSockets = 0;
  /** Authorization of what asked for files. */
  readonly fileTokens: (string | null)[] = [];
  /** What `apps.connections.open` and `auth.test` say in the place of yes, by the method. */
  readonly logins: Record<string, string> = {};
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #sockets = new Set<WebSocket>();
  readonly #told = new Map<string, Told>();
  readonly #acknowledged: string[] = [];
  readonly #answers = new Map<string, ((call: FakeCall) => Response)[]>();
  #requestUrl: string | undefined;
  #isRevoked = false;
  #isDown = false;
  #lastEnvelope = 0;
  #last: Told | undefined;
  #changed = Promise.withResolvers<void>();

  private constructor(scopes: readonly string[]) {
    this.workspace = new FakeWorkspace(scopes);
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#serve(request),
    );
    this.section = {
      botToken: BOT_TOKEN,
      appToken: APP_TOKEN,
      signingSecret: SIGNING_SECRET,
      apiUrl: `${this.baseUrl}/api/`,
    };
  }

  /** `http`: tells by requests to the port that the section has then, and not over sockets. */
  static open(
    { scopes = BOT_SCOPES, mode = "socket" }: {
      scopes?: readonly string[];
      mode?: "socket" | "http";
    } = {},
  ): Promise<FakeSlack> {
    const fake = new FakeSlack(scopes);
    if (mode === "http") {
      const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const { port } = listener.addr;
      listener.close();
      Object.assign(fake.section, { mode, host: "127.0.0.1", port });
      fake.#requestUrl = `http://127.0.0.1:${port}${HTTP_PATH}`;
    }
    return Promise.resolve(fake);
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Resolves as soon as it holds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#changed.promise;
  }

  /** Something was written by somebody, and nobody is told. */
  write(channel: string, message: Partial<FakeMessage> & { text: string }): FakeMessage {
    const written: FakeMessage = {
      type: "message",
      ts: this.workspace.nextTs(),
      user: ALICE,
      team: TEAM,
      reactions: new Set(),
      ...message,
    };
    this.workspace.conversation(channel).messages.push(written);
    return written;
  }

  /** Somebody writes, and the app is told. Resolves with the `ts` when it is on its way. */
  async say(
    channel: string,
    message: Partial<FakeMessage> & { text: string },
    { as = ["message"], eventType }: { as?: readonly string[]; eventType?: string } = {},
  ): Promise<string> {
    const written = this.write(channel, message);
    for (const type of as) {
      await this.tell(
        "events_api",
        this.eventOf(channel, written, eventType ?? type),
        written.ts,
      );
    }
    return written.ts;
  }

  /** The body of an event. */
  eventOf(
    channel: string,
    { reactions: _, ...message }: FakeMessage,
    type = "message",
  ): Record<string, unknown> {
    const { kind } = this.workspace.conversation(channel);
    return {
      token: "verification",
      team_id: TEAM,
      api_app_id: "A0APP000001",
      type: "event_callback",
      event_id: `Ev${String(++this.#lastEnvelope).padStart(8, "0")}`,
      event_time: Math.floor(Number(message.ts)),
      authorizations: [{ team_id: TEAM, user_id: BOT_USER, is_bot: true }],
      event: {
        ...message,
        type,
        channel,
        event_ts: message.ts,
        ...type === "message" && { channel_type: kind },
      },
    };
  }

  /** Tells something over a socket, again and again until it is acknowledged there. */
  async tell(type: string, payload: unknown, id: string): Promise<void> {
    if (this.#requestUrl === undefined) await this.until(() => this.#sockets.size > 0);
    const told: Told = {
      id,
      attempts: 0,
      envelope: {
        envelope_id: `envelope-${++this.#lastEnvelope}`,
        type,
        payload,
        accepts_response_payload: type !== "events_api",
      },
    };
    this.#last = told;
    if (this.#requestUrl === undefined) this.#send(told);
    else await this.#request(told);
  }

  /** Somebody clicks on a button of a message. Resolves with the payload that was told. */
  async click(
    { channel, message }: { channel: string; message: FakeMessage },
    actionId: string,
    user: string = ALICE,
    more: { actionTs?: string } = {},
  ): Promise<Record<string, unknown>> {
    const payload = this.clickOf({ channel, message }, actionId, user, more);
    await this.tell("interactive", payload, `click-${user}`);
    return payload;
  }

  /** The payload of a click. */
  clickOf(
    { channel, message }: { channel: string; message: FakeMessage },
    actionId: string,
    user: string = ALICE,
    { actionTs = this.workspace.nextTs() }: { actionTs?: string } = {},
  ): Record<string, unknown> {
    const actions = message.blocks?.find(({ type }) => type === "actions");
    const elements = actions?.elements as Record<string, unknown>[] | undefined;
    const button = elements?.find((one) => one.action_id === actionId);
    const { reactions: _, ...shown } = message;
    return {
      type: "block_actions",
      user: { id: user, username: "somebody", name: "somebody", team_id: TEAM },
      api_app_id: "A0APP000001",
      container: {
        type: "message",
        message_ts: message.ts,
        channel_id: channel,
        is_ephemeral: false,
        ...message.thread_ts !== undefined && { thread_ts: message.thread_ts },
      },
      trigger_id: "1.2.abc",
      team: { id: TEAM, domain: "example" },
      channel: { id: channel, name: "directmessage" },
      message: shown,
      actions: [{ ...button, type: "button", block_id: "b", action_ts: actionTs }],
    };
  }

  async deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    const channel = senderId === BOB ? BOB_DM : ALICE_DM;
    const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    switch (from) {
      case "person":
        return await this.say(channel, { text: escaped, user: senderId });
      case "own":
        return await this.say(channel, { text: escaped, user: BOT_USER, bot_id: BOT_ID });
      case "bot":
        return await this.say(channel, {
          text: escaped,
          user: undefined,
          subtype: "bot_message",
          bot_id: "B0OTHER0001",
        });
    }
  }

  sent(): readonly PlatformSent[] {
    return this.workspace.ofBot().map(({ channel, message }) => ({
      chatId: message.thread_ts === undefined ? channel : `${channel}:${message.thread_ts}`,
      text: textOfMessage(message),
      files: (message.files ?? []).map(({ name }) => String(name)),
    }));
  }

  acknowledged(): readonly string[] {
    return this.#acknowledged;
  }

  async redeliver(): Promise<void> {
    const told = this.#last!;
    if (this.#requestUrl !== undefined) return await this.#request(told);
    told.envelope = { ...told.envelope, envelope_id: `envelope-${++this.#lastEnvelope}` };
    this.#send(told);
  }

  /** People see it by the reaction, or by the status of a thread. */
  isTyping(): boolean {
    const { conversations, statuses } = this.workspace;
    return (statuses.at(-1)?.status ?? "") !== "" ||
      [...conversations.values()].some(({ messages }) =>
        messages.some(({ reactions }) => reactions.has("eyes"))
      );
  }

  async pressButton(button: "approve" | "deny", senderId: string): Promise<void> {
    const card = this.workspace.cards.at(-1);
    if (card === undefined) throw new Error("There is no button");
    await this.click(card, `approval_${button}`, senderId);
  }

  deliverAway({ text, senderId }: PlatformMessage): Promise<string> {
    const channel = senderId === BOB ? BOB_DM : ALICE_DM;
    return Promise.resolve(this.write(channel, { text, user: senderId }).ts);
  }

  refuse(kind: "permanent" | "temporary"): void {
    const error = kind === "permanent" ? "is_archived" : "service_unavailable";
    const answer = () => Response.json({ ok: false, error });
    let isUsed = false;
    for (const method of ["chat.postMessage", "chat.update"]) {
      this.answerNext(method, (call) => {
        if (isUsed) return this.#answer(call);
        isUsed = true;
        return answer();
      });
    }
  }

  /** The next calls of a method are too many. */
  limitRate(method: string, retryAfterS: number, times = 1): void {
    for (let count = 0; count < times; count += 1) {
      this.answerNext(method, () =>
        Response.json({ ok: false, error: "ratelimited" }, {
          status: 429,
          headers: { "retry-after": String(retryAfterS) },
        }));
    }
  }

  /** Answers the next call of a method. */
  answerNext(method: string, answer: (call: FakeCall) => Response): void {
    const waiting = this.#answers.get(method) ?? [];
    waiting.push(answer);
    this.#answers.set(method, waiting);
  }

  /** The next call of a method is done, and its answer cut off. */
  loseAnswer(method: string): void {
    this.answerNext(method, (call) => {
      void this.#answer(call);
      // More was said to come than comes.
      return new Response("{", { headers: { "content-length": "100" } });
    });
  }

  /** Both tokens are taken no more. */
  revoke(): void {
    this.#isRevoked = true;
  }

  /** Slack wants the app to connect anew. */
  refresh(reason: "warning" | "refresh_requested" | "link_disabled"): void {
    for (const socket of this.#sockets) {
      socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "wss" } }));
    }
  }

  /** Sends a text over the sockets as it is. */
  sendRaw(text: string): void {
    for (const socket of this.#sockets) socket.send(text);
  }

  /** Ends every socket. What was not acknowledged is told again on the next. */
  cut(): void {
    for (const socket of this.#sockets) socket.close(1001);
    this.#sockets.clear();
  }

  /** A request of the mode http, signed. */
  async post(
    url: string,
    payload: unknown,
    { secret = SIGNING_SECRET, atMs = Date.now(), isForm = false, headers = {}, cut = false }: {
      secret?: string;
      atMs?: number;
      isForm?: boolean;
      headers?: Record<string, string>;
      cut?: boolean;
    } = {},
  ): Promise<Response> {
    const text = JSON.stringify(payload);
    const words = isForm ? new URLSearchParams({ payload: text }).toString() : text;
    const body = new TextEncoder().encode(words);
    const timestamp = String(Math.floor(atMs / 1_000));
    const signature = await (await SlackSignature.from(secret)).sign(timestamp, body);
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": cut ? signature.slice(0, -1) : signature,
        ...headers,
      },
      body,
    });
    return new Response(await response.text(), response);
  }

  async goDown(): Promise<void> {
    if (this.#isDown) return;
    this.#isDown = true;
    this.cut();
    await this.#server.shutdown();
  }

  close(): Promise<void> {
    return this.goDown();
  }

  /** Posts until the app takes it, as it may not listen yet. */
  async #request({ envelope, id }: Told): Promise<void> {
    const isForm = envelope.type === "interactive";
    for (let attempt = 0; !this.#isDown; attempt += 1) {
      const headers: Record<string, string> = attempt === 0
        ? {}
        : { "x-slack-retry-num": String(attempt), "x-slack-retry-reason": "http_error" };
      const answer = await this.post(this.#requestUrl!, envelope.payload, { isForm, headers })
        .catch(() => undefined);
      if (answer?.ok) return void this.#acknowledged.push(id);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #send(told: Told): void {
    this.#told.set(String(told.envelope.envelope_id), told);
    const [socket] = [...this.#sockets].filter((one) => one.readyState === WebSocket.OPEN)
      .reverse();
    if (socket === undefined) return;
    const attempt = told.attempts++;
    socket.send(JSON.stringify({
      ...told.envelope,
      ...attempt > 0 && { retry_attempt: attempt, retry_reason: "timeout" },
    }));
  }

  async #serve(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const [, root = "", ...rest] = url.pathname.split("/");
    if (root === "api") return await this.#api(request, rest.join("/"));
    if (root === "link") return this.#link(request);
    if (root === "upload") {
      this.fileTokens.push(request.headers.get("authorization"));
      const file = this.workspace.files.get(rest[1] ?? "");
      if (file === undefined) return new Response("none", { status: 404 });
      file.bytes = new Uint8Array(await request.arrayBuffer());
      return new Response(`OK - ${file.bytes.length}`);
    }
    if (root === "files-pri") {
      this.fileTokens.push(request.headers.get("authorization"));
      const answer = this.#answers.get("files-pri")?.shift();
      if (answer !== undefined) return answer({ method: "files-pri", args: {}, atMs: 0 });
      const file = this.workspace.files.get(rest[0]?.split("-")[1] ?? "");
      if (request.headers.get("authorization") !== `Bearer ${BOT_TOKEN}`) {
        return new Response("<html>Sign in", { headers: { "content-type": "text/html" } });
      }
      return new Response(file?.bytes ?? null, {
        headers: { "content-type": "application/octet-stream" },
      });
    }
    return new Response("none", { status: 404 });
  }

  async #api(request: Request, method: string): Promise<Response> {
    const args = Object.fromEntries(new URLSearchParams(await request.text()));
    const token = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
    const call = { method, args, atMs: Date.now() };
    this.calls.push(call);
    queueMicrotask(() => this.#wake());
    const wanted = method === "apps.connections.open" ? APP_TOKEN : BOT_TOKEN;
    const problem = this.#isRevoked
      ? "token_revoked"
      : token !== wanted
      ? "invalid_auth"
      : this.logins[method];
    if (problem !== undefined) {
      return Response.json({
        ok: false,
        error: problem,
        ...problem === "missing_scope" && { needed: "connections:write" },
      });
    }
    const answer = this.#answers.get(method)?.shift();
    return answer === undefined ? this.#answer(call) : answer(call);
  }

  #answer({ method, args }: FakeCall): Response {
    const headers = { "x-oauth-scopes": [...this.workspace.scopes].join(",") };
    try {
      const result = method === "apps.connections.open"
        ? { url: `${this.baseUrl.replace("http", "ws")}/link/?ticket=1&app_id=A0APP000001` }
        : this.workspace.call(method, args, this.baseUrl);
      return Response.json({ ok: true, ...result }, { headers });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return Response.json({ ok: false, error: error.message, ...error.more }, { headers });
    }
  }

  #link(request: Request): Response {
    if (this.refuseSockets > 0) {
      this.refuseSockets -= 1;
      return new Response("too_many_websockets", { status: 503 });
    }
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onopen = () => {
      this.#sockets.add(socket);
      socket.send(JSON.stringify({
        type: "hello",
        num_connections: this.#sockets.size + this.others,
        debug_info: { host: "applink", build_number: 1, approximate_connection_time: 18_060 },
        connection_info: { app_id: "A0APP000001" },
      }));
      for (const told of this.#told.values()) this.#send(told);
      this.#wake();
    };
    socket.onmessage = ({ data }) => {
      const { envelope_id: id } = JSON.parse(data) as { envelope_id: string };
      const told = this.#told.get(id);
      this.#told.delete(id);
      if (told !== undefined) this.#acknowledged.push(told.id);
      this.#wake();
    };
    socket.onclose = socket.onerror = () => {
      this.#sockets.delete(socket);
      this.#wake();
    };
    return response;
  }
}

/** What a person sees of a message. */
export function textOfMessage({ text, blocks = [] }: FakeMessage): string {
  const shown = blocks.flatMap((block) => {
    const { text, elements = [] } = block as { text?: unknown; elements?: { text?: unknown }[] };
    if (block.type === "markdown") return [String(text)];
    if (block.type === "section") return [String((text as { text: string }).text)];
    return block.type === "context" ? elements.map((one) => String(one.text)) : [];
  });
  return shown.length > 0 ? shown.join("\n") : text;
}
