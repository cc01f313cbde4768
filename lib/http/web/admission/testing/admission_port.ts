/**
 * A real port with admission, its routes and the WebSocket server behind it; the authority is a small one
 * of the test's own.
 *
 * @module
 */

import { connect } from "node:net";
import { SocketServer } from "../../../../../channels/websocket/socket/socket_server.ts";
import { systemClock } from "../../../../base/clock.ts";
import { Operator } from "../../../../operations/operator.ts";
import type { Scope } from "../../../../contract/credentials.ts";
import { createIssuedTokens } from "../../../../state/issued_tokens.ts";
import type { Peer } from "../../../../channel/socket_host.ts";
import { issueSecret } from "../../../../config/issue_secret.ts";
import { configSchema, type WebsocketConfig } from "../../../../config/schema.ts";
import {
  createTrustedProxy,
  type TrustedProxy,
} from "../../../../trusted_proxy/create_trusted_proxy.ts";
import type { JwksNetwork } from "../../../../trusted_proxy/fetch_jwks.ts";
import { NOW_S } from "../../../../trusted_proxy/testing/issuer.ts";
import { listen } from "../../../../listen/listen.ts";
import { ManualClock } from "../../../testing/manual_clock.ts";
import { createWebApp } from "../../app.ts";
import { arrivalOf } from "../../arrival.ts";
import { createBootstrapRoutes } from "../../bootstrap_routes.ts";
import { createTokenRoutes } from "../../token_routes.ts";
import { Admission } from "../admission.ts";

/** The key of RFC 6455, 1.3. */
const KEY = "dGhlIHNhbXBsZSBub25jZQ==";

/** A token of `service tokens issue`, and what it may do. */
const LASTING: Readonly<Record<string, readonly Scope[]>> = {
  lasting_all: ["operate"],
  lasting_reader: ["read"],
  lasting_chatter: ["chat"],
  lasting_approver: ["approve"],
};

/** What a raw request was answered. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** An open port. */
export interface AdmissionPort extends AsyncDisposable {
  port: number;
  config: WebsocketConfig;
  admission: Admission;
  /** Time of tokens, failures and assertions, which say `NOW_S` at its start. */
  clock: ManualClock;
  /** Tokens of `service tokens issue`; one that is taken out is revoked. */
  lasting: Record<string, readonly Scope[]>;
  /** Who was let in, in order. */
  peers: Peer[];
  /** Every line of log and access log. */
  lines: string[];
  proxy: TrustedProxy | undefined;
  /** Opens, or tries to: `target` is path and query. Headers of one name twice: a list. */
  handshake(target?: string, headers?: Headers): Promise<RawAnswer & { peer?: Peer }>;
  /** A request that is no upgrade. */
  request(method: string, target: string, headers?: Headers): Promise<RawAnswer>;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Opens one with these keys of `channels.websocket`. */
export async function openAdmissionPort(
  keys: Record<string, unknown> = {},
  { network, approvers = [] }: { network?: JwksNetwork; approvers?: string[] } = {},
): Promise<AdmissionPort> {
  const config = configSchema.parse({ channels: { websocket: keys } }).channels.websocket;
  const clock = new ManualClock();
  const lasting = { ...LASTING };
  const lines: string[] = [];
  const keep = (level: string) => (message: string, fields: unknown = {}) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = {
    debug: keep("debug"),
    info: keep("info"),
    warning: keep("warning"),
    error: keep("error"),
  };
  const operator = new Operator({
    approvals: {} as never,
    tokens: {
      verify: (token) =>
        lasting[token] && { id: `tok_${token}`, name: "", scopes: [...lasting[token]] },
      hasAny: () => false,
    },
    port: {
      tokens: createIssuedTokens({ secret: issueSecret(config), ttlS: config.tokenTtlS, clock }),
      trustsProxy: config.trustedProxyAuth !== null,
    },
    latches: { list: () => [], clear: () => Promise.resolve(true) },
    gates: { approvers, independentApprover: false },
    verifiesSenders: () => false,
    log,
  });
  const proxy = config.trustedProxyAuth === null
    ? undefined
    : createTrustedProxy(config.trustedProxyAuth, {
      clock: { now: () => NOW_S * 1_000 + clock.now(), elapsed: clock.elapsed, after: clock.after },
      log,
      network: network ?? {
        resolve: () => Promise.reject(new Error("nothing is looked up here")),
        fetchAt: () => Promise.reject(new Error("nothing is fetched here")),
      },
    });
  const { operate } = operator;
  const admission = new Admission({ config, operate, proxy, clock, log });
  const localUsers = { require: () => Promise.resolve() };
  const app = createWebApp({
    routes: [
      ...createBootstrapRoutes({
        config,
        admission,
        localUsers,
        operate,
        approvers,
        model: () => "local/qwen3",
        transcribes: false,
        now: clock.now,
      }),
      ...createTokenRoutes({ config, admission, localUsers, operate, now: clock.now }),
      {
        method: "GET",
        path: "/api/webui/whoami",
        scope: "read",
        summary: "Who calls",
        handle: ({ caller: { credential, expiresAt: _, ...caller } }) =>
          Response.json({ ...caller, kind: credential.kind }),
      },
    ],
    guard: admission.guard,
    callerOf: (request, arrival) => admission.callerOf(request, arrival),
    failures: admission.failures,
    clock: systemClock,
    accessLog: (entry) => lines.push(JSON.stringify(entry)),
    log,
  });
  const peers: Peer[] = [];
  const server = new SocketServer({
    path: config.path,
    maxMessageBytes: config.maxMessageBytes,
    pingIntervalMs: 60_000,
    pingTimeoutMs: 60_000,
    clock: systemClock,
    admission,
    log,
    onConnection: ({ peer }) => void peers.push(peer),
  });
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    setting: "channels.websocket",
    handler: (request, _peer, incoming) => app.fetch(request, arrivalOf(incoming)),
    onUpgrade: (request, socket, head) => server.upgrade(request, socket, head),
  });
  const { port } = listener;

  const send = (method: string, target: string, headers: Headers) =>
    rawRequest(port, method, target, { Host: `127.0.0.1:${port}`, ...headers });

  return {
    port,
    config,
    admission,
    clock,
    lasting,
    peers,
    lines,
    proxy,
    async handshake(target = config.path, headers = {}) {
      const before = peers.length;
      const answer = await send("GET", target, {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": KEY,
        ...headers,
      });
      return answer.status === 101 ? { ...answer, peer: peers[before] } : answer;
    },
    request: (method, target, headers = {}) => send(method, target, headers),
    async [Symbol.asyncDispose]() {
      await server.close(0);
      await listener.close(0);
    },
  };
}

/** Says exactly these bytes, and reads one answer; of an upgrade its head, and the socket is cut then. */
function rawRequest(
  port: number,
  method: string,
  target: string,
  headers: Headers,
): Promise<RawAnswer> {
  let head = `${method} ${target} HTTP/1.1\r\n`;
  for (const [name, values] of Object.entries({ ...headers, ...close(headers) })) {
    for (const value of [values ?? []].flat()) head += `${name}: ${value}\r\n`;
  }
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${head}\r\n`));
    let text = "";
    socket.setEncoding("latin1");
    const done = () => {
      const [first = "", ...rest] = text.split("\r\n\r\n");
      const [line = "", ...fields] = first.split("\r\n");
      socket.destroy();
      resolve({
        status: Number(line.split(" ")[1]),
        headers: Object.fromEntries(
          fields.map((field) => {
            const colon = field.indexOf(":");
            return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
          }),
        ),
        body: rest.join("\r\n\r\n"),
      });
    };
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.startsWith("HTTP/1.1 101") && text.includes("\r\n\r\n")) done();
    });
    socket.on("error", reject);
    socket.on("end", done);
  });
}

function close({ Connection: connection }: Headers): Headers {
  return connection === undefined ? { Connection: "close" } : {};
}
