/**
 * One HTTP request to an address that the gate has judged. The name goes into the Host header and the
 * TLS handshake only; this process cannot look up or reach anything else. Redirects are
 * answered, never followed.
 *
 * @module
 */

import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { UrlTarget } from "../../contract/actions.ts";

/** What is sent beside the target's own URL and headers. */
export interface HttpRequest {
  method: "GET" | "POST";
  /** Further query, behind the one that the target has. */
  query?: URLSearchParams;
  /** The target's own go over these. */
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/** Addresses that are tried in turn. */
const MAX_TRIES = 3;
const CONNECT_TIMEOUT_MS = 8_000;

/** The first answer that one of the target's addresses gives. Throws, naming the host, when none does. */
export async function requestTarget(
  target: UrlTarget,
  what: HttpRequest,
  progress: (text: string) => void,
): Promise<IncomingMessage> {
  let failure = new Error("its host has no address");
  for (const address of target.addresses.slice(0, MAX_TRIES)) {
    try {
      progress(`connecting to ${address}`);
      return await request(target, address, what);
    } catch (error) {
      failure = new Error(describe(error), { cause: error });
    }
  }
  throw new Error(`${target.host} cannot be reached: ${failure.message}`);
}

function request(
  target: UrlTarget,
  address: string,
  { method, query, headers, body }: HttpRequest,
): Promise<IncomingMessage> {
  const url = new URL(target.url);
  for (const [name, value] of query ?? []) url.searchParams.append(name, value);
  const isSecure = url.protocol === "https:";
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (isSecure ? requestHttps : requestHttp)({
    host: address,
    port: target.port,
    path: url.pathname + url.search,
    method,
    // An address is no name to put into a handshake.
    servername: isSecure && address !== target.host ? target.host : undefined,
    headers: {
      host: url.host,
      "accept-encoding": "gzip, deflate, br",
      ...headers,
      ...(body === undefined
        ? {}
        : { "content-length": String(new TextEncoder().encode(body).length) }),
      ...target.headers,
      connection: "close",
    },
  }, resolve);
  const timer = setTimeout(
    () => request.destroy(new Error(`no answer within ${CONNECT_TIMEOUT_MS / 1000} s`)),
    CONNECT_TIMEOUT_MS,
  );
  request.on("error", reject);
  request.end(body);
  return promise.finally(() => clearTimeout(timer));
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { code?: string }).code;
  return code === undefined || error.message.includes(code)
    ? error.message
    : `${error.message} (${code})`;
}
