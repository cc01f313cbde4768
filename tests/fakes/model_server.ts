/**
 * A model server that speaks the real wires of OpenAI chat completions, OpenAI responses and
 * Anthropic messages on a loopback port, and does what a script tells it: answer, call tools, fail,
 * stall, cut its stream, send nonsense. It knows no keys: every request is answered.
 *
 * ```ts
 * await using server = startModelServer({ script: [{ status: 503 }, { text: "Hello there" }] });
 * // providers: { local: { baseUrl: server.baseUrl } }
 * const first = await server.request(0);
 * ```
 *
 * As a process, for benches: `deno run -A tests/fakes/model_server.ts --port 0 --text hi
 * --tokens 30 --delay-ms 0` prints its base URL as the first line and serves until it is killed.
 * `--tokens N` answers N deltas of `--text`. Without a delay each answer is one write of bytes that
 * were made once, so that the server is not what a bench measures.
 *
 * It speaks HTTP over plain sockets, because `Deno.serve` does not notice a client that leaves before
 * the status line when the request's body is longer than a few hundred bytes.
 *
 * @module
 */

import { startFastModelServer } from "./fast_model_server.ts";
import { HttpConnection, type HttpRequest } from "./http_connection.ts";
import { answerOf, type Behaviour } from "./model_behaviour.ts";
import type { Wire } from "./wire.ts";
import { wireOf } from "./wires.ts";

export type { Behaviour, FakeCall } from "./model_behaviour.ts";

/** A request as it came. */
export interface RecordedRequest {
  /** From 0, failed ones included. */
  readonly index: number;
  readonly path: string;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  /** The client went away before it had the whole answer. */
  aborted: boolean;
  /** Resolves when the answer is sent whole, or the client has gone; `aborted` tells which. */
  readonly closed: Promise<void>;
  /** Resolves when the answer hangs, as `hang` wants it, or is closed. */
  readonly hanging: Promise<void>;
}

/** Options of {@linkcode startModelServer}. */
export interface ModelServerOptions {
  /**
   * What to answer: always the same; one a request, the last again and again; or what a function
   * makes of the request, which may take its time. Default `{}`, which answers "ok".
   */
  script?:
    | Behaviour
    | readonly Behaviour[]
    | ((request: RecordedRequest) => Behaviour | Promise<Behaviour>);
  /** Default 0: a free one. */
  port?: number;
  /** Whose connections it takes until it ends; else those of a port of its own. */
  at?: ModelPort;
}

/** A running fake. */
export interface ModelServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/v1`, for every type of provider. */
  readonly baseUrl: string;
  /** In the order of arrival; the first 10,000. */
  readonly requests: readonly RecordedRequest[];
  /** The request of that index, once it has come. */
  request(index: number): Promise<RecordedRequest>;
  /** Breaks every open answer and ends. */
  close(): Promise<void>;
}

const MAX_RECORDED = 10_000;

/** A port on loopback for one model server after the other; without one, connections are closed. */
export class ModelPort {
  readonly #listener: Deno.TcpListener;
  readonly #accepting: Promise<void>;
  #take: ((socket: Deno.TcpConn) => void) | undefined;

  constructor(port = 0) {
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port });
    this.#accepting = this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  /** Hands over what connects from now on; none: nobody takes it. */
  give(take?: (socket: Deno.TcpConn) => void): void {
    this.#take = take;
  }

  async close(): Promise<void> {
    this.#listener.close();
    await this.#accepting;
  }

  async #accept(): Promise<void> {
    try {
      for await (const socket of this.#listener) {
        if (this.#take === undefined) socket.close();
        else this.#take(socket);
      }
    } catch {
      // The listener was closed.
    }
  }
}

/** Starts a fake on loopback. It listens when this returns. */
export function startModelServer(
  { script = {}, port = 0, at }: ModelServerOptions = {},
): ModelServer {
  const requests: RecordedRequest[] = [];
  const waiting = new Map<number, ((request: RecordedRequest) => void)[]>();
  const open = new Map<HttpConnection, Promise<void>>();
  const source = at ?? new ModelPort(port);
  source.give((socket) => {
    const connection = new HttpConnection(socket);
    open.set(connection, serve(connection).finally(() => open.delete(connection)));
  });
  let count = 0;

  async function close(): Promise<void> {
    source.give();
    if (source !== at) await source.close();
    for (const connection of open.keys()) connection.destroy();
    await Promise.all(open.values());
  }

  async function serve(connection: HttpConnection): Promise<void> {
    try {
      for (;;) {
        const request = await connection.read();
        if (request === undefined) break;
        await handle(request, connection);
      }
    } finally {
      connection.destroy();
    }
  }

  async function handle(request: HttpRequest, connection: HttpConnection): Promise<void> {
    const path = new URL(request.path, "http://fake").pathname;
    if (request.method === "GET" && path.endsWith("/models")) {
      const models = { object: "list", data: [{ id: "fake", object: "model" }] };
      return await sendJson(connection, 200, models);
    }
    const wire = wireOf(path);
    if (wire === undefined || request.method !== "POST") {
      return await sendJson(connection, 404, { error: { message: `the fake has no ${path}` } });
    }
    const body = JSON.parse(new TextDecoder().decode(request.body));
    const hanging = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const record: RecordedRequest = {
      index: count++,
      path,
      headers: request.headers,
      body,
      aborted: false,
      closed: closed.promise,
      hanging: hanging.promise,
    };
    if (requests.length < MAX_RECORDED) {
      requests.push(record);
      for (const resolve of waiting.get(record.index) ?? []) resolve(record);
      waiting.delete(record.index);
    }
    const answer = new Answer(wire, body, connection, hanging.resolve);
    const whole = await answer.send(await behaviourFor(record));
    record.aborted = !whole;
    hanging.resolve();
    closed.resolve();
  }

  function behaviourFor(record: RecordedRequest): Behaviour | Promise<Behaviour> {
    if (typeof script === "function") return script(record);
    if (!isList(script)) return script;
    return script[Math.min(record.index, script.length - 1)] ?? {};
  }

  return {
    baseUrl: `http://127.0.0.1:${source.port}/v1`,
    requests,
    request(index) {
      const known = requests[index];
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => {
        waiting.set(index, [...(waiting.get(index) ?? []), resolve]);
      });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function isList(script: Behaviour | readonly Behaviour[]): script is readonly Behaviour[] {
  return Array.isArray(script);
}

async function sendJson(
  connection: HttpConnection,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<void> {
  await connection.send(
    status,
    { "content-type": "application/json", ...headers },
    JSON.stringify(body),
  );
}

/** One answer on its way. */
class Answer {
  constructor(
    readonly wire: Wire,
    // deno-lint-ignore no-explicit-any
    readonly body: any,
    readonly connection: HttpConnection,
    readonly onHang: () => void,
  ) {}

  /** Answers; false when the client left before it had everything that it was to get. */
  async send(behaviour: Behaviour): Promise<boolean> {
    const { wire, body, connection } = this;
    const { status = 200, headersDelayMs = 0, retryAfter } = behaviour;
    const headers = { ...behaviour.headers };
    if (retryAfter !== undefined) headers["retry-after"] = retryAfter;
    if (headersDelayMs > 0) await wait(headersDelayMs, connection.left);
    if (behaviour.hang === "headers") return await this.#hang();
    const asked = {
      model: body.model,
      includeUsage: body.stream_options?.include_usage === true,
    };
    const answer = answerOf(behaviour);
    if (status !== 200) {
      const error = behaviour.error ?? `the fake answers ${status}`;
      const failure = typeof error === "string" ? wire.errorBody(error, status) : error;
      await sendJson(connection, status, failure, headers);
    } else if (body.stream !== true) {
      await sendJson(connection, 200, wire.body(answer, asked), headers);
    } else {
      await connection.begin(200, { "content-type": "text/event-stream", ...headers });
      return await this.#stream(withFaults(wire, wire.events(answer, asked), behaviour), behaviour);
    }
    return !connection.left.aborted;
  }

  async #stream(
    events: readonly string[],
    { delayMs = 0, perSecond, chunkBytes, resetAfter, hold, hang }: Behaviour,
  ): Promise<boolean> {
    const { connection } = this;
    const encoder = new TextEncoder();
    const startedAt = performance.now();
    for (const [index, event] of events.entries()) {
      if (index === hang) return await this.#hang();
      if (index === hold?.after) await Promise.race([hold.until, leaving(connection.left)]);
      if (index === resetAfter) {
        connection.destroy();
        return true;
      }
      const dueMs = perSecond === undefined
        ? delayMs
        : startedAt + index * 1_000 / perSecond - performance.now();
      if (dueMs > 0) await wait(dueMs, connection.left);
      if (connection.left.aborted) return false;
      const bytes = encoder.encode(event);
      const size = chunkBytes ?? bytes.length;
      for (let at = 0; at < bytes.length; at += size) {
        await connection.chunk(bytes.subarray(at, at + size));
      }
    }
    await connection.end();
    return !connection.left.aborted;
  }

  async #hang(): Promise<boolean> {
    this.onHang();
    await leaving(this.connection.left);
    return false;
  }
}

/** The events that are sent, in the end. */
function withFaults(wire: Wire, events: string[], behaviour: Behaviour): string[] {
  const { badJsonAfter, errorAfter, endAfter, error } = behaviour;
  if (errorAfter !== undefined) {
    const message = typeof error === "string" ? error : "the fake gives up";
    return [...events.slice(0, errorAfter), wire.errorEvent(message)];
  }
  if (badJsonAfter !== undefined) {
    const bad = 'data: {"broken\n\n';
    return [...events.slice(0, badJsonAfter), bad, ...events.slice(badJsonAfter)];
  }
  return endAfter === undefined ? events : events.slice(0, endAfter);
}

async function leaving(left: AbortSignal): Promise<void> {
  if (left.aborted) return;
  await new Promise((resolve) => left.addEventListener("abort", resolve, { once: true }));
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
  });
}

if (import.meta.main) {
  const { parseArgs } = await import("@std/cli/parse-args");
  const args = parseArgs(Deno.args, { string: ["port", "text", "tokens", "delay-ms"] });
  const value = (name: string, usual: string) => String(args[name] ?? usual);
  const text = Array.from({ length: Number(value("tokens", "1")) }, () => value("text", "hi"));
  const port = Number(value("port", "0"));
  const delayMs = Number(value("delay-ms", "0"));
  const { baseUrl } = delayMs > 0
    ? startModelServer({ script: { text, delayMs }, port })
    : startFastModelServer({ text }, port);
  // deno-lint-ignore no-console
  console.log(baseUrl);
}
