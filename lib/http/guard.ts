/**
 * Keeps web pages away from a service on somebody's machine: the Host check stops names that were
 * rebound to this address, the Origin check pages of
 * other origins, and the body types what a form can send without asking.
 *
 * It runs before the key is looked at, so that a page cannot even guess keys. Clients that are no
 * browsers send no Origin and pass.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** What the guard lets through beside the service's own. */
export interface GuardOptions {
  /** Names, with a port if only that one, such as `agent.example` or `agent.example:8443`. */
  allowedHosts: readonly string[];
  /** Whole origins, such as `https://app.example`. `null` and `*` never match. */
  allowedOrigins: readonly string[];
  /** Section of the configuration that the lists stand in, for errors; default `api`. */
  setting?: string;
  /** The listener speaks TLS, so its own pages are those of the https origin. */
  secure?: boolean;
}

/** Exceptions of one request. */
export interface GuardExceptions {
  /** The route answers under any Host (GET /health). */
  anyHost?: boolean;
  /** A link on any page may lead here: GET of a static page. */
  page?: boolean;
}

/** What of a request is looked at: a handshake of a WebSocket is none of the fetch standard. */
export interface GuardedRequest {
  method: string;
  url: string;
  headers: { get(name: string): string | null };
}

/** Decides by the headers that a browser sets and a page cannot change. */
export class BrowserGuard {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #setting: string;
  readonly #secure: boolean;

  constructor(options: GuardOptions) {
    this.#setting = options.setting ?? "api";
    this.#secure = options.secure ?? false;
    this.#hosts = new Set(options.allowedHosts.map((host) => host.trim().toLowerCase()));
    this.#origins = new Set(
      options.allowedOrigins.map((origin) => origin.trim().toLowerCase().replace(/\/$/, ""))
        .filter((origin) => origin !== "null" && origin !== "*"),
    );
  }

  /** Throws `forbidden_host` or `forbidden_origin`. */
  check(request: GuardedRequest, exceptions: GuardExceptions = {}): void {
    const { headers } = request;
    const host = requestHost(request);
    if (!exceptions.anyHost && !this.#isOwnHost(host)) {
      throw new ServiceError(
        "forbidden_host",
        `The Host header must be an IP address, a loopback name or a name in ${this.#setting}.allowedHosts`,
      );
    }
    const origin = headers.get("origin");
    if (origin !== null) {
      if (origin.toLowerCase() === this.#ownOrigin(host) || this.allows(origin)) return;
    } else if (headers.get("sec-fetch-site") !== "cross-site") {
      return;
    }
    const navigates = exceptions.page && headers.get("sec-fetch-mode") === "navigate" &&
      (request.method === "GET" || request.method === "HEAD");
    if (navigates) return;
    throw new ServiceError(
      "forbidden_origin",
      `Requests from web pages are only taken from origins in ${this.#setting}.allowedOrigins`,
    );
  }

  /** Whether an Origin is one of `allowedOrigins`: those get CORS headers. */
  allows(origin: string): boolean {
    return this.#origins.has(origin.toLowerCase());
  }

  /** Behind a proxy with TLS this server speaks http: the https origin goes into allowedOrigins. */
  #ownOrigin(host: string): string {
    return this.#secure
      ? `https://${host.replace(/:443$/, "")}`
      : `http://${host.replace(/:80$/, "")}`;
  }

  #isOwnHost(host: string): boolean {
    if (IPV4.test(host) || IPV6.test(host)) return true;
    const name = host.replace(/:\d{1,5}$/, "").replace(/\.$/, "");
    if (name === "localhost" || /^[a-z0-9.-]+\.localhost$/.test(name)) return true;
    return this.#hosts.has(name) || this.#hosts.has(host);
  }
}

// No name looks like these: in a URL, a host whose last label is a number is an IPv4 address, and
// brackets stand around IPv6 addresses alone.
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?::\d{1,5})?$/;
const IPV6 = /^\[[0-9a-f:.]+\](?::\d{1,5})?$/;

/** The host that the client believes to talk to, lower case. HTTP/2 has it in the URL alone. */
function requestHost(request: GuardedRequest): string {
  const host = request.headers.get("host");
  if (host !== null) return host.trim().toLowerCase();
  const start = request.url.indexOf("://") + 3;
  const end = request.url.indexOf("/", start);
  return request.url.slice(start, end === -1 ? undefined : end).toLowerCase();
}

/** Media types of bodies that a route can be sent. */
const BODY_TYPES = ["application/json", "multipart/form-data"] as const;

/** One of the accepted body types. */
export type BodyType = typeof BODY_TYPES[number];

/**
 * The media type of a request's body, undefined if it has none. Throws `unsupported_media_type` for
 * one that a page could send without a preflight, or that nobody here reads.
 */
export function bodyType(request: Request): BodyType | undefined {
  const header = request.headers.get("content-type");
  if (header === null && !hasBody(request)) return undefined;
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new ServiceError(
      "unsupported_media_type",
      `The header Content-Encoding must be absent, got ${JSON.stringify(encoding.slice(0, 100))}`,
      { param: "Content-Encoding" },
    );
  }
  const semicolon = header?.indexOf(";") ?? -1;
  const type = (semicolon === -1 ? header : header?.slice(0, semicolon))?.trim().toLowerCase();
  const known = BODY_TYPES.find((accepted) => accepted === type);
  if (known !== undefined) return known;
  const got = header === null ? "none" : JSON.stringify(header.slice(0, 100));
  throw new ServiceError(
    "unsupported_media_type",
    `The header Content-Type must be application/json or multipart/form-data, got ${got}`,
    { param: "Content-Type" },
  );
}

/** Whether a request that came over the wire has a body. */
export function hasBody(request: Request): boolean {
  const length = request.headers.get("content-length");
  if (length !== null) return Number(length) !== 0;
  return request.headers.get("transfer-encoding") !== null;
}
