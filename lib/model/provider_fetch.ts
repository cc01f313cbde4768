/**
 * How a provider is asked, also by the packages: bounded, without redirects, and with errors that say
 * what could not be reached and why.
 *
 * @module
 */

import { type BodyReader, readBody } from "./body_reader.ts";
import { readStreamHead, type StreamHead } from "./event_stream.ts";
import { ProviderError } from "./provider_error.ts";
import { type ProviderSpec, shownBaseUrl } from "./provider_spec.ts";

/** Bytes of an answer with an error status that are read; the rest is dropped. */
const MAX_ERROR_BYTES = 64 * 1024;

/** Bounds of an answer. */
export interface AnswerBounds {
  /** Bytes of one line of the stream, which is held in memory until it ends. */
  maxLineBytes: number;
  /** Bytes of a whole answer: arguments of calls gather until they are complete. */
  maxBytes: number;
}

/** Far beyond what 128,000 tokens take on any of the wires. */
const ANSWER_BOUNDS: AnswerBounds = {
  maxLineBytes: 16 * 1024 * 1024,
  maxBytes: 256 * 1024 * 1024,
};

/** What {@linkcode createProviderAsk} needs. */
export interface ProviderFetchDeps {
  spec: ProviderSpec;
  fetch: typeof fetch;
  bounds?: AnswerBounds;
}

/** An answer: a stream of events, or the beginning of what came with an error status. */
export interface ProviderAnswer extends Pick<Response, "ok" | "status" | "statusText" | "headers"> {
  /** Absent where there is none. */
  body?: BodyReader;
}

/** As `fetch`, of one provider. */
export type ProviderAsk = (
  input: Parameters<typeof fetch>[0],
  init?: RequestInit,
) => Promise<ProviderAnswer>;

/**
 * Asks one provider. Rejects with {@linkcode ProviderError} `provider_unreachable` when no
 * stream of events came, and with the signal's reason after an abort, which closes the connection.
 */
export function createProviderAsk(
  { spec, fetch, bounds = ANSWER_BOUNDS }: ProviderFetchDeps,
): ProviderAsk {
  const ownHeaders = lowerCased(spec.headers);
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    // The packages insist on a key and send an empty one too; a server without keys may refuse it.
    if (spec.apiKey === "") {
      for (const name of ["authorization", "x-api-key"]) {
        if (!(name in ownHeaders)) headers.delete(name);
      }
    }
    let response: Response;
    try {
      // A redirect would carry the key to wherever it points.
      response = await fetch(input, { ...init, headers, redirect: "manual" });
    } catch (error) {
      if (init?.signal?.aborted) throw init.signal.reason;
      throw unreachable(error, spec);
    }
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw redirected(response, spec);
    }
    const { body, ok, status, statusText } = response;
    const answer = (body?: BodyReader) => (
      { ok, status, statusText, headers: response.headers, body }
    );
    if (body === null) {
      if (ok) throw notAModel({ isInstead: "an empty body", isEmpty: true }, input, spec);
      return answer();
    }
    const reader = readBody(body, init?.signal ?? undefined);
    if (!ok) return answer(firstBytes(reader, MAX_ERROR_BYTES));
    const contentType = response.headers.get("content-type") ?? "";
    const head = await readStreamHead(reader, contentType, [
      spec.apiKey,
      ...Object.values(spec.headers),
    ]);
    if ("isInstead" in head) throw notAModel(head, input, spec);
    return answer(bounded(head.events, spec, bounds));
  };
}

/** The same as a fetch, for the providers' packages. */
export function createProviderFetch(deps: ProviderFetchDeps): typeof fetch {
  const ask = createProviderAsk(deps);
  return async (input, init) => {
    const { body, status, statusText, headers } = await ask(input, init);
    return new Response(body && toStream(body), { status, statusText, headers });
  };
}

/** Headers by their names in lower case. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function unreachable(error: unknown, spec: ProviderSpec): ProviderError {
  const where = `${spec.name} at ${shownBaseUrl(spec.baseUrl)}`;
  if (error instanceof Deno.errors.NotCapable) {
    return new ProviderError(
      "provider_unreachable",
      `cannot reach ${where}: the service was started without permission for this host; ` +
        "restart it after a change of the providers",
      false,
      {},
      { cause: error },
    );
  }
  const cause = error instanceof Error ? error.cause : undefined;
  const { why, check, transient } = reasonOf(`${error} ${cause ?? ""}`, spec);
  return new ProviderError(
    "provider_unreachable",
    `cannot reach ${where}: ${why}; ${check}`,
    transient,
    {},
    { cause: error },
  );
}

/** The cause in words. The error's own text is not shown: it holds the URL, and that may hold a key. */
function reasonOf(
  text: string,
  { name }: ProviderSpec,
): { why: string; check: string; transient: boolean } {
  const checkUrl = `check providers.${name}.baseUrl`;
  if (/refused/i.test(text)) {
    return { why: "connection refused", check: `is it running? ${checkUrl}`, transient: true };
  }
  if (/dns|lookup|resolve|name or service/i.test(text)) {
    return { why: "its name cannot be resolved", check: checkUrl, transient: true };
  }
  if (/certificate|invalid peer|UnknownIssuer/i.test(text)) {
    return { why: "its certificate is not trusted", check: checkUrl, transient: false };
  }
  if (/tls|handshake|InvalidContentType|corrupt message/i.test(text)) {
    return {
      why: "no TLS connection can be made",
      check: `${checkUrl} (http or https?)`,
      transient: true,
    };
  }
  if (/timed out|timeout/i.test(text)) {
    return { why: "the connection timed out", check: checkUrl, transient: true };
  }
  return { why: "the connection failed", check: checkUrl, transient: true };
}

function redirected(response: Response, spec: ProviderSpec): ProviderError {
  const location = response.headers.get("location") ?? "";
  const target = URL.canParse(location, spec.baseUrl)
    ? shownBaseUrl(new URL(location, spec.baseUrl).href)
    : "another address";
  return new ProviderError(
    "provider_error",
    `${spec.name} redirects to ${target}, which is not followed; set providers.${spec.name}.baseUrl ` +
      "to the final address",
    false,
    { providerStatus: response.status },
  );
}

function notAModel(
  { isInstead, isEmpty }: Extract<StreamHead, { isInstead: string }>,
  input: Parameters<typeof fetch>[0],
  { name }: ProviderSpec,
): ProviderError {
  const asked = shownBaseUrl(input instanceof Request ? input.url : String(input));
  return new ProviderError(
    "provider_unreachable",
    `${asked} answered with ${isInstead} instead of a model's stream; check providers.${name}.baseUrl ` +
      "(most servers need a path such as /v1)",
    // A proxy whose server is being started answers so too.
    isEmpty,
  );
}

function firstBytes(reader: BodyReader, maxBytes: number): BodyReader {
  let left = maxBytes;
  return {
    async read() {
      if (left === 0) {
        await reader.cancel();
        return { done: true, value: undefined };
      }
      const result = await reader.read();
      if (result.done) return result;
      const value = result.value.subarray(0, left);
      left -= value.length;
      return { done: false, value };
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function toStream(reader: BodyReader): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

function bounded(
  reader: BodyReader,
  spec: ProviderSpec,
  { maxLineBytes, maxBytes }: AnswerBounds,
): BodyReader {
  let lineBytes = 0;
  let bytes = 0;
  return {
    async read() {
      const result = await reader.read();
      if (result.done) return result;
      const { value } = result;
      const lineEnd = value.lastIndexOf(0x0a);
      lineBytes = lineEnd < 0 ? lineBytes + value.length : value.length - lineEnd - 1;
      bytes += value.length;
      if (lineBytes <= maxLineBytes && bytes <= maxBytes) return result;
      const error = new ProviderError(
        "provider_error",
        `${spec.name} sent an answer beyond ${
          lineBytes > maxLineBytes ? `${maxLineBytes} bytes in one line` : `${maxBytes} bytes`
        }`,
        false,
      );
      await reader.cancel(error);
      throw error;
    },
    cancel: (reason) => reader.cancel(reason),
  };
}
