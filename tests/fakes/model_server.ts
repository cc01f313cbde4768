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
 * @module
 */

import { answerOf, type Behaviour } from "./model_behaviour.ts";
import type { Wire } from "./wire.ts";
import { CHAT } from "./wire_chat.ts";
import { MESSAGES } from "./wire_messages.ts";
import { RESPONSES } from "./wire_responses.ts";

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
  /** Resolves when the answer hangs or the client has gone. */
  readonly hanging: Promise<void>;
}

/** Options of {@linkcode startModelServer}. */
export interface ModelServerOptions {
  /**
   * What to answer: always the same; one a request, the last again and again; or what a function
   * makes of the request, which may take its time. Default `{}`.
   */
  script?:
    | Behaviour
    | readonly Behaviour[]
    | ((request: RecordedRequest) => Behaviour | Promise<Behaviour>);
  /** Default 0: a free one. */
  port?: number;
  /** Whether requests are kept; default true. Without it nothing grows, but nothing is seen. */
  record?: boolean;
}

/** A running fake. */
export interface ModelServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/v1`, for every type of provider. */
  readonly baseUrl: string;
  /** In the order of arrival; the first 10,000. */
  readonly requests: readonly RecordedRequest[];
  /** The request of that index, once it has come. */
  request(index: number): Promise<RecordedRequest>;
  /** Ends every open answer and the server. */
  close(): Promise<void>;
}

const MAX_RECORDED = 10_000;

/** Starts a fake on loopback. */
export function startModelServer(options: ModelServerOptions = {}): ModelServer {
  const requests: RecordedRequest[] = [];
  const waiting = new Map<number, ((request: RecordedRequest) => void)[]>();
  const stop = new AbortController();
  const readyAnswers = new Map<string, Uint8Array<ArrayBuffer>>();
  const script = options.script ?? {};
  let count = 0;

  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    onListen() {},
    onError: () => new Response("the fake failed", { status: 500 }),
  }, handle);
  const { port } = server.addr;

  async function close(): Promise<void> {
    stop.abort();
    await server.shutdown();
  }

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
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

  async function handle(request: Request, info: Deno.ServeHandlerInfo): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (request.method === "GET" && pathname.endsWith("/models")) {
      return Response.json({ object: "list", data: [{ id: "fake", object: "model" }] });
    }
    const wire = wireOf(pathname);
    if (wire === undefined || request.method !== "POST") {
      return Response.json({ error: { message: `the fake has no ${pathname}` } }, { status: 404 });
    }
    const text = await request.text();
    const body = JSON.parse(text);
    if (options.record === false && typeof script === "object" && isPlain(script)) {
      return fast(wire, pathname, body, script as Behaviour);
    }

    const gone = new AbortController();
    let sent = false;
    const hanging = Promise.withResolvers<void>();
    const record: RecordedRequest = {
      index: count++,
      path: pathname,
      headers: request.headers,
      body,
      aborted: false,
      closed: info.completed.catch(() => {}).then(leaveIfEarly).then(hanging.resolve),
      hanging: hanging.promise,
    };
    request.signal.addEventListener("abort", leaveIfEarly);
    function leaveIfEarly(): void {
      if (sent) return;
      record.aborted = true;
      gone.abort();
    }
    if (options.record !== false && requests.length < MAX_RECORDED) {
      requests.push(record);
      for (const resolve of waiting.get(record.index) ?? []) resolve(record);
      waiting.delete(record.index);
    }
    const behaviour = await behaviourFor(record);
    const signal = AbortSignal.any([gone.signal, stop.signal]);
    const client = { signal, onHang: hanging.resolve, onSent: () => sent = true };
    return await answer(wire, body, behaviour, client);
  }

  function behaviourFor(record: RecordedRequest): Behaviour | Promise<Behaviour> {
    if (typeof script === "function") return script(record);
    if (!Array.isArray(script)) return script as Behaviour;
    return script[Math.min(record.index, script.length - 1)] ?? {};
  }

  function fast(
    wire: Wire,
    path: string,
    // deno-lint-ignore no-explicit-any
    body: any,
    behaviour: Behaviour,
  ): Response {
    const usage = body.stream_options?.include_usage === true;
    const key = `${path}\n${body.model}\n${body.stream === true}\n${usage}`;
    let bytes = readyAnswers.get(key);
    if (bytes === undefined) {
      const request = { model: body.model, includeUsage: usage };
      const made = answerOf(behaviour);
      const text = body.stream === true
        ? wire.events(made, request).join("")
        : JSON.stringify(wire.body(made, request));
      bytes = new TextEncoder().encode(text);
      if (readyAnswers.size < 100) readyAnswers.set(key, bytes);
    }
    return new Response(bytes, {
      headers: {
        "content-type": body.stream === true ? "text/event-stream" : "application/json",
      },
    });
  }
}

function wireOf(path: string): Wire | undefined {
  if (path.endsWith("/chat/completions")) return CHAT;
  if (path.endsWith("/messages")) return MESSAGES;
  if (path.endsWith("/responses")) return RESPONSES;
  return undefined;
}

/** Whether the answer is the same bytes each time, at once. */
function isPlain(script: object): boolean {
  const plain = new Set(["text", "reasoning", "signature", "calls", "usage", "finishReason"]);
  return !Array.isArray(script) && Object.keys(script).every((key) => plain.has(key));
}

/** The one who asked. */
interface Client {
  /** It has gone, or the fake ends. */
  signal: AbortSignal;
  /** Tells that nothing more comes. */
  onHang(): void;
  /** Tells that everything was sent, or broken off on purpose. */
  onSent(): void;
}

async function answer(
  wire: Wire,
  // deno-lint-ignore no-explicit-any
  body: any,
  behaviour: Behaviour,
  client: Client,
): Promise<Response> {
  const { signal, onHang, onSent } = client;
  if (behaviour.headersDelayMs) await wait(behaviour.headersDelayMs, signal);
  if (behaviour.hang === "headers") {
    onHang();
    await aborted(signal);
  }
  if (signal.aborted) return new Response(null, { status: 499 });
  const { status = 200, retryAfter } = behaviour;
  const headers = new Headers(behaviour.headers);
  if (retryAfter !== undefined) headers.set("retry-after", retryAfter);
  if (status !== 200) {
    const error = behaviour.error ?? `the fake answers ${status}`;
    onSent();
    const failure = typeof error === "string" ? wire.errorBody(error, status) : error;
    return Response.json(failure, { status, headers });
  }
  const request = {
    model: body.model,
    includeUsage: body.stream_options?.include_usage === true,
  };
  const made = answerOf(behaviour);
  if (body.stream !== true) {
    onSent();
    return Response.json(wire.body(made, request), { headers });
  }
  const events = withFaults(wire, wire.events(made, request), behaviour);
  headers.set("content-type", "text/event-stream");
  return new Response(stream(events, behaviour, client), { headers });
}

/** The events that are sent, in the end. */
function withFaults(wire: Wire, events: string[], behaviour: Behaviour): string[] {
  const { badJsonAfter, errorAfter, endAfter, error } = behaviour;
  if (errorAfter !== undefined) {
    const message = typeof error === "string" ? error : "the fake gives up";
    return [...events.slice(0, errorAfter), wire.errorEvent(message)];
  }
  if (badJsonAfter !== undefined) {
    return [
      ...events.slice(0, badJsonAfter),
      'data: {"broken\n\n',
      ...events.slice(badJsonAfter),
    ];
  }
  return endAfter === undefined ? events : events.slice(0, endAfter);
}

function stream(
  events: readonly string[],
  { delayMs = 0, chunkBytes, resetAfter, hang }: Behaviour,
  { signal, onHang, onSent }: Client,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const ended = new AbortController();
  const over = AbortSignal.any([signal, ended.signal]);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const [index, event] of events.entries()) {
      if (index === hang) {
        onHang();
        await aborted(over);
      }
      if (index === resetAfter) {
        // What was sent has to be on its way before the connection breaks.
        await wait(20, over);
        if (!over.aborted) onSent();
        throw new Error("the fake breaks the connection");
      }
      if (delayMs > 0) await wait(delayMs, over);
      if (over.aborted) return;
      const bytes = encoder.encode(event);
      const size = chunkBytes ?? bytes.length;
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
  }
  const source = chunks();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await source.next();
      if (!done) return controller.enqueue(value);
      if (!over.aborted) onSent();
      controller.close();
    },
    cancel: () => ended.abort(),
  }, { highWaterMark: 0 });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
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
  const args = parseArgs(Deno.args, {
    string: ["port", "text", "tokens", "delay-ms"],
    default: { port: "0", text: "hi", tokens: "1", "delay-ms": "0" },
  });
  const text = Array.from({ length: Number(args.tokens) }, () => args.text);
  const delayMs = Number(args["delay-ms"]);
  const { baseUrl } = startModelServer({
    script: delayMs > 0 ? { text, delayMs } : { text },
    port: Number(args.port),
    record: false,
  });
  // deno-lint-ignore no-console
  console.log(baseUrl);
}
