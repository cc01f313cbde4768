/**
 * The wire of a Slack for tests: the server of its Web API, of its sockets and files, and its requests.
 *
 * @module
 */

import { callMethod } from "./fake_methods.ts";
import { FakeWorkspace, Refused } from "./fake_workspace.ts";
import { postSigned, type SignedPost } from "./post_signed.ts";

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

export class FakeWire {
  readonly section: Record<string, unknown>;
  readonly workspace: FakeWorkspace;
  readonly calls: FakeCall[] = [];
  /** Connections of Socket Mode that there ever were. */
  opened = 0;
  /** Other programs that are connected with the token. */
  others = 0;
  /** So many sockets are refused from now on. */
  refuseSockets = 0;
  /** Files that are given are not taken, and nothing is said. */
  stallUploads = false;
  /** Authorization of what asked for files. */
  readonly fileTokens: (string | null)[] = [];
  /** What `apps.connections.open` and `auth.test` say in the place of yes, by the method. */
  readonly logins: Record<string, string> = {};
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #sockets = new Set<WebSocket>();
  readonly #told = new Map<string, Told>();
  readonly #acknowledged: string[] = [];
  readonly #answers = new Map<string, ((call: FakeCall) => Response)[]>();
  /** Where what is told is posted, in the mode http. */
  protected requestUrl: string | undefined;
  #isRevoked = false;
  #isDown = false;
  protected lastId = 0;
  #last: Told | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(scopes: readonly string[]) {
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

  /** Tells something over a socket, again and again until it is acknowledged there. */
  async tell(type: string, payload: unknown, id: string): Promise<void> {
    if (this.requestUrl === undefined) await this.until(() => this.#sockets.size > 0);
    const told: Told = {
      id,
      attempts: 0,
      envelope: {
        envelope_id: `envelope-${++this.lastId}`,
        type,
        payload,
        accepts_response_payload: type !== "events_api",
      },
    };
    this.#last = told;
    if (this.requestUrl === undefined) this.#send(told);
    else await this.#request(told);
  }

  acknowledged(): readonly string[] {
    return this.#acknowledged;
  }

  async redeliver(): Promise<void> {
    const told = this.#last!;
    if (this.requestUrl !== undefined) return await this.#request(told);
    told.envelope = { ...told.envelope, envelope_id: `envelope-${++this.lastId}` };
    this.#send(told);
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
      void this.answer(call);
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
  post(url: string, payload: unknown, options: SignedPost = {}): Promise<Response> {
    return postSigned(url, payload, { secret: SIGNING_SECRET, ...options });
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
      const answer = await this.post(this.requestUrl!, envelope.payload, { isForm, headers })
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
      if (this.stallUploads) {
        await new Promise((end) => request.signal.addEventListener("abort", end));
      }
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
    return answer === undefined ? this.answer(call) : answer(call);
  }

  /** Answers a call as Slack does. */
  protected answer({ method, args }: FakeCall): Response {
    const headers = { "x-oauth-scopes": [...this.workspace.scopes].join(",") };
    try {
      const result = method === "apps.connections.open"
        ? { url: `${this.baseUrl.replace("http", "ws")}/link/?ticket=1&app_id=A0APP000001` }
        : callMethod(this.workspace, method, args, this.baseUrl);
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
      this.opened += 1;
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
