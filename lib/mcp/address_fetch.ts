/**
 * A `fetch` that goes to addresses which were judged and nowhere else: the host's name stands in the
 * Host header and the TLS handshake alone. It follows no redirect, and bounds what a
 * server says.
 *
 * @module
 */

import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** Of one answer, and of one event of a stream. */
const MAX_ANSWER_BYTES = 10 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 8_000;
/** Addresses that are tried in turn. */
const MAX_TRIES = 3;
/** A server that closes its stream at once is not asked for it in a circle. */
const MIN_STREAM_GAP_MS = 1_000;

/** What may be asked. */
export interface AddressFetchOptions {
  /** Any other is refused. */
  url: string;
  addresses: readonly string[];
  /** After it the answer to anything but a GET is given up. */
  maxAnswerMs: number;
  /** A request with a body is about to be sent. */
  onSend?(body: string): void;
  /**
   * A stream that answers a request has ended, with an error or without. `isResumable`: it named its
   * events, and is asked for the rest.
   */
  onStreamEnd?(body: string, end: { error?: Error; isResumable: boolean }): void;
}

/** A fetch for one URL. Rejects with an Error in words for people. */
export function createAddressFetch(
  { url, addresses, maxAnswerMs, onSend, onStreamEnd }: AddressFetchOptions,
): typeof fetch {
  const own = new URL(url);
  let streamAtMs = -Infinity;
  return async (input, init = {}) => {
    const asked = new URL(input instanceof Request ? input.url : input);
    if (asked.href !== own.href) {
      throw new Error(`only ${own.origin} is asked, not ${asked.origin}`);
    }
    const method = init.method ?? "GET";
    if (method === "GET") {
      const waitMs = streamAtMs + MIN_STREAM_GAP_MS - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      streamAtMs = performance.now();
    }
    const body = typeof init.body === "string" ? init.body : undefined;
    const ends = [
      ...init.signal ? [init.signal] : [],
      ...method === "GET" ? [] : [AbortSignal.timeout(maxAnswerMs)],
    ];
    const signal = AbortSignal.any(ends);
    signal.throwIfAborted();
    if (body !== undefined) onSend?.(body);
    let failure = new Error("its host has no address");
    for (const address of addresses.slice(0, MAX_TRIES)) {
      const tried = await send({ url: own, address, method, headers: init.headers, body, signal });
      if ("response" in tried) {
        return toResponse(tried.response, own, signal, (end) => {
          if (body !== undefined) onStreamEnd?.(body, end);
        });
      }
      failure = tried.failure;
      // It may have arrived: only who was never connected to is not asked twice.
      if (tried.isSent) break;
    }
    signal.throwIfAborted();
    throw new Error(`${own.host} cannot be reached: ${failure.message}`, { cause: failure });
  };
}

interface Sent {
  url: URL;
  address: string;
  method: string;
  headers: HeadersInit | undefined;
  body: string | undefined;
  signal: AbortSignal;
}

function send(
  { url, address, method, headers, body, signal }: Sent,
): Promise<{ response: IncomingMessage } | { failure: Error; isSent: boolean }> {
  const isSecure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const bytes = body === undefined ? undefined : new TextEncoder().encode(body);
  return new Promise((resolve) => {
    let isConnected = false;
    const request = (isSecure ? requestHttps : requestHttp)({
      host: address,
      port: Number(url.port) || (isSecure ? 443 : 80),
      path: url.pathname + url.search,
      method,
      // A connection of its own: Deno's agent gives one out again that was asked to close.
      agent: false,
      // An address is no name to put into a handshake.
      servername: isSecure && address !== host ? host : undefined,
      headers: {
        ...Object.fromEntries(new Headers(headers)),
        host: url.host,
        connection: "close",
        ...bytes && { "content-length": bytes.length },
      },
    }, (response) => {
      clearTimeout(timer);
      resolve({ response });
    });
    const abort = () => request.destroy(new Error("it was cancelled"));
    const timer = setTimeout(
      () => !isConnected && request.destroy(new Error("no connection in time")),
      CONNECT_TIMEOUT_MS,
    );
    signal.addEventListener("abort", abort, { once: true });
    request.on("socket", (socket) => {
      socket.once(isSecure ? "secureConnect" : "connect", () => isConnected = true);
    });
    request.on("error", (error) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      resolve({ failure: inWords(error), isSent: isConnected });
    });
    request.end(bytes);
  });
}

type StreamEnd = { error?: Error; isResumable: boolean };

function toResponse(
  message: IncomingMessage,
  url: URL,
  signal: AbortSignal,
  onStreamEnd: (end: StreamEnd) => void,
): Response {
  const status = message.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    const location = message.headers.location;
    const target = location === undefined ? null : URL.parse(location, url);
    message.destroy();
    throw new Error(
      `${url.host} answers with a redirect to ${target?.origin ?? "nowhere"}, ` +
        "and redirects are not followed",
    );
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) {
    if (typeof value === "string") headers.set(name, value);
  }
  if (status === 204 || status === 205) {
    message.resume();
    return new Response(null, { status, headers });
  }
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  const body = boundedBody(message, signal, isStream ? { onEnd: onStreamEnd } : undefined);
  return new Response(body, { status, headers });
}

/** The body, read only as fast as it is taken; of a stream each event is bounded. */
function boundedBody(
  message: IncomingMessage,
  signal: AbortSignal,
  stream: { onEnd: (end: StreamEnd) => void } | undefined,
): ReadableStream<Uint8Array> {
  const chunks = message[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const events = new EventScan();
  let bytes = 0;
  const abort = () => message.destroy(new Error("it was cancelled"));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  const done = (error?: Error) => {
    signal.removeEventListener("abort", abort);
    stream?.onEnd({ error, isResumable: events.isResumable });
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done: isOver } = await chunks.next();
        if (isOver) {
          done();
          return controller.close();
        }
        if (stream === undefined) bytes += value.length;
        else bytes = events.push(value);
        if (bytes > MAX_ANSWER_BYTES) {
          throw new Error(`its answer has more than ${MAX_ANSWER_BYTES} bytes`);
        }
        controller.enqueue(new Uint8Array(value));
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
        message.destroy();
        controller.error(error);
      }
    },
    cancel() {
      done();
      message.destroy();
    },
  }, { highWaterMark: 0 });
}

/** Follows a stream of events (HTML standard, server-sent events) without keeping it. */
class EventScan {
  /** Some event had an id. */
  isResumable = false;
  #bytes = 0;
  /** In the line. */
  #column = 0;
  #matched = 0;

  /** Takes bytes; answers how many the event has that is not over yet. */
  push(chunk: Uint8Array): number {
    for (const byte of chunk) {
      this.#bytes += 1;
      if (byte === 0x0a) {
        // An empty line ends an event.
        if (this.#column === 0) this.#bytes = 0;
        this.#column = this.#matched = 0;
      } else if (byte !== 0x0d) {
        if (this.#column < 3 && byte === "id:".charCodeAt(this.#column)) this.#matched += 1;
        this.#column += 1;
        if (this.#matched === 3) this.isResumable = true;
      }
    }
    return this.#bytes;
  }
}

function inWords(error: Error): Error {
  const { code } = error as { code?: string };
  return code === undefined || error.message.includes(code)
    ? error
    : new Error(`${error.message} (${code})`);
}
