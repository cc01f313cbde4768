/**
 * The proxy of one sandboxed program, outside of its sandbox: takes connections from one Unix socket,
 * asks the authority about each host and its addresses, connects to exactly those that were judged, and
 * carries bytes. It decides nothing itself.
 *
 * @module
 */

import {
  CONNECTED,
  type HostPort,
  MAX_CONNECT_BYTES,
  parseConnectHead,
  refusalHead,
} from "../connect_head.ts";
import { readHead } from "../read_head.ts";
import { closeQuietly, tunnel, type TunnelEnd, writeAll } from "../tunnel.ts";
import type { HostAnswer, ProxyLimits, Unreached } from "./protocol.ts";

/** What a proxy works with. */
export interface ProxyDeps {
  /** Asks the authority about a host before it is looked up; `addresses` for one that needs no look-up. */
  askHost(asked: HostPort): Promise<HostAnswer>;
  /** Asks about the addresses that it has; the answer's are those to connect to. */
  askAddresses(asked: HostPort & { addresses: string[] }): Promise<HostAnswer>;
  /** Every address of a name. */
  lookUp(host: string): Promise<string[]>;
  /** Connects to an address; given up when `signal` aborts. */
  connect(address: string, port: number, signal: AbortSignal): Promise<TunnelEnd>;
  /** Told of an allowed host that could not be reached. */
  onUnreached?(unreached: Unreached): void;
  limits: ProxyLimits;
}

/** Addresses that are tried in turn. */
const MAX_TRIES = 3;

/** Why a connection is not made, as an HTTP answer. */
class Refusal extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/** Serves connections until the listener is closed. */
export async function serveProxy(
  listener: AsyncIterable<TunnelEnd>,
  deps: ProxyDeps,
): Promise<void> {
  const { limits } = deps;
  let open = 0;
  let refusing = 0;
  for await (const conn of listener) {
    if (open >= limits.maxConnections) {
      // Those that are told so are bounded too.
      if (refusing >= limits.maxConnections) {
        closeQuietly(conn);
        continue;
      }
      refusing++;
      void refuseUnread(conn, limits).finally(() => refusing--);
      continue;
    }
    open++;
    void serveConnection(conn, deps).finally(() => open--);
  }
}

async function serveConnection(conn: TunnelEnd, deps: ProxyDeps): Promise<void> {
  const { limits } = deps;
  let upstream: TunnelEnd | undefined;
  try {
    upstream = await connectAsked(conn, deps);
    await within(limits.headMs, writeAll(conn, new TextEncoder().encode(CONNECTED)));
  } catch (error) {
    if (upstream !== undefined) closeQuietly(upstream);
    // Anything else is the connection itself that broke.
    if (error instanceof Refusal) await refuse(conn, error, limits);
    else closeQuietly(conn);
    return;
  }
  await tunnel(conn, upstream, limits);
}

async function connectAsked(conn: TunnelEnd, deps: ProxyDeps): Promise<TunnelEnd> {
  const { limits } = deps;
  const read = await within(limits.headMs, readHead(conn, MAX_CONNECT_BYTES));
  if ("problem" in read) {
    throw read.problem === "too large"
      ? new Refusal(431, `a request is longer than ${MAX_CONNECT_BYTES} bytes`)
      : new Error("it has ended");
  }
  const asked = parseConnectHead(read.head);
  if (asked === undefined) {
    throw new Refusal(400, "expected CONNECT <host>:<port> HTTP/1.1 and nothing else");
  }
  if (read.rest.length > 0) throw new Refusal(400, "bytes came before the request was answered");
  const addresses = await judgedAddresses(asked, deps);
  return await connectAny(addresses, asked, deps);
}

async function judgedAddresses(asked: HostPort, deps: ProxyDeps): Promise<string[]> {
  const before = allowed(await deps.askHost(asked));
  if (before.length > 0) return before;
  let found: string[];
  try {
    found = await within(deps.limits.lookUpMs, deps.lookUp(asked.host));
  } catch (error) {
    const code = (error as { code?: string }).code;
    const why = error instanceof Refusal ? "no answer in time" : code ?? "unknown error";
    throw unreached(asked, `cannot be looked up (${why})`, deps);
  }
  return allowed(await deps.askAddresses({ ...asked, addresses: found }));
}

function allowed(answer: HostAnswer): string[] {
  if ("refused" in answer) throw new Refusal(403, answer.refused);
  return answer.addresses;
}

async function connectAny(
  addresses: readonly string[],
  asked: HostPort,
  deps: ProxyDeps,
): Promise<TunnelEnd> {
  const { connect, limits } = deps;
  let why = "it has no address";
  for (const address of addresses.slice(0, MAX_TRIES)) {
    const controller = new AbortController();
    const connecting = connect(address, asked.port, controller.signal);
    try {
      return await within(limits.connectMs, connecting);
    } catch (error) {
      controller.abort();
      // One that comes about after all is nobody's.
      connecting.then(closeQuietly, () => {});
      why = error instanceof Error ? error.message : String(error);
    }
  }
  throw unreached(asked, `cannot be reached: ${why}`, deps);
}

function unreached(
  { host, port }: HostPort,
  why: string,
  { onUnreached }: Pick<ProxyDeps, "onUnreached">,
): Refusal {
  onUnreached?.({ host, port, reason: `it ${why}` });
  return new Refusal(502, `"${host}" ${why}`);
}

/** Says that there is no place. What was sent is read first: an end with bytes unread is a reset. */
async function refuseUnread(conn: TunnelEnd, limits: ProxyLimits): Promise<void> {
  await within(limits.headMs, readHead(conn, MAX_CONNECT_BYTES)).catch(() => {});
  const told = `${limits.maxConnections} connections are open already`;
  await refuse(conn, new Refusal(503, told), limits);
}

async function refuse(
  conn: TunnelEnd,
  { status, message }: Refusal,
  { headMs }: ProxyLimits,
): Promise<void> {
  try {
    const answer = new TextEncoder().encode(refusalHead(status, message));
    await within(headMs, writeAll(conn, answer));
    await conn.closeWrite();
  } catch {
    // Whoever does not want to hear it need not.
  }
  closeQuietly(conn);
}

/** Rejects with a time-out when the promise takes longer. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Refusal(408, `no answer within ${ms / 1_000} s`)), ms);
  });
  promise.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
