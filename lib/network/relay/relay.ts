/**
 * The sandbox's end of its network: a proxy on the sandbox's own loopback for programs that know proxies,
 * and a listener for each name that `/etc/hosts` leads there for those that do not. It has no more
 * rights than the program that it serves; every connection is asked for at the socket of the real proxy.
 *
 * @module
 */

import { connectHead, type HostPort, MAX_ANSWER_BYTES, refusalHead } from "../connect_head.ts";
import { latin1Bytes, readHead } from "../read_head.ts";
import { closeQuietly, tunnel, type TunnelEnd, writeAll } from "../tunnel.ts";
import { BodyEnd } from "./body_end.ts";
import { MAX_CLIENT_HEAD_BYTES, readClientRequest } from "./client_request.ts";

/** What a relay works with. */
export interface RelayDeps {
  /** A connection to the real proxy's socket. */
  connect(): Promise<TunnelEnd>;
  /** For a request to arrive. Default 30 s. */
  headMs?: number;
}

/** Connections at once; the real proxy allows fewer. */
const MAX_CONNECTIONS = 256;
const DEFAULT_HEAD_MS = 30_000;
/** The real proxy ends what idles; this is for when it is gone. */
const TIMES = { idleMs: 60 * 60_000, halfOpenMs: 10 * 60_000 };

/** Takes connections of programs; `to` is the host that the listener stands for, none for the proxy. */
export async function serveRelay(
  listener: AsyncIterable<TunnelEnd>,
  to: HostPort | undefined,
  deps: RelayDeps,
): Promise<void> {
  let open = 0;
  for await (const conn of listener) {
    if (open >= MAX_CONNECTIONS) {
      closeQuietly(conn);
      continue;
    }
    open++;
    const serving = to === undefined ? serveClient(conn, deps) : serveDirect(conn, to, deps);
    void serving.catch(() => {}).finally(() => {
      closeQuietly(conn);
      open--;
    });
  }
}

/** A program that believes that it speaks to the host: all bytes go there, or the connection ends. */
async function serveDirect(conn: TunnelEnd, to: HostPort, deps: RelayDeps): Promise<void> {
  const { upstream, early } = await ask(to, deps);
  if (upstream === undefined) return;
  await carry(conn, upstream, early);
}

async function serveClient(conn: TunnelEnd, deps: RelayDeps): Promise<void> {
  const timer = setTimeout(() => closeQuietly(conn), deps.headMs ?? DEFAULT_HEAD_MS);
  const read = await readHead(conn, MAX_CLIENT_HEAD_BYTES).finally(() => clearTimeout(timer));
  if ("problem" in read) {
    if (read.problem === "too large") await say(conn, refusalHead(431, "its head is too large"));
    return;
  }
  const request = readClientRequest(read.head);
  if (request.kind === "refused") {
    return await say(conn, refusalHead(request.status, request.reason));
  }
  if (request.kind === "tunnel" && read.rest.length > 0) {
    return await say(conn, refusalHead(400, "bytes came before the request was answered"));
  }
  const { upstream, answer, early } = await ask(request.to, deps);
  if (upstream === undefined) return await say(conn, answer);
  if (request.kind === "tunnel") {
    const first = latin1Bytes(answer);
    return await carry(conn, upstream, new Uint8Array([...first, ...early]));
  }
  const body = new BodyEnd(request.body);
  const from = oneRequest(conn, read.rest, body);
  await carry(from, oneAnswer(upstream), early, latin1Bytes(request.head));
}

/** Carries bytes both ways, after what is to be said first. Closes both. */
async function carry(
  conn: TunnelEnd,
  upstream: TunnelEnd,
  toClient: Uint8Array,
  toHost?: Uint8Array,
): Promise<void> {
  try {
    await writeAll(conn, toClient);
    if (toHost !== undefined) await writeAll(upstream, toHost);
  } catch (error) {
    closeQuietly(upstream);
    throw error;
  }
  await tunnel(conn, upstream, TIMES);
}

/** What came of asking the proxy for a host. */
type Asked =
  /** `early`: what the host said so soon that it came with the answer. */
  | { upstream: TunnelEnd; answer: string; early: Uint8Array }
  /** The answer is a refusal, whole. */
  | { upstream?: undefined; answer: string; early?: undefined };

async function ask(to: HostPort, { connect }: RelayDeps): Promise<Asked> {
  let upstream: TunnelEnd;
  try {
    upstream = await connect();
  } catch {
    return { answer: refusalHead(502, "the proxy of this sandbox is gone") };
  }
  try {
    await writeAll(upstream, latin1Bytes(connectHead(to)));
    const read = await readHead(upstream, MAX_ANSWER_BYTES);
    if ("problem" in read) throw new Error(read.problem);
    const { head, rest } = read;
    if (head.startsWith("HTTP/1.1 200 ")) return { upstream, answer: head, early: rest };
    const answer = head + await readRefusal(upstream, rest);
    closeQuietly(upstream);
    return { answer };
  } catch {
    closeQuietly(upstream);
    return { answer: refusalHead(502, "the proxy of this sandbox gave no answer") };
  }
}

/** A refusal's body, which says why and ends with the connection. */
async function readRefusal(upstream: TunnelEnd, rest: Uint8Array): Promise<string> {
  const decoder = new TextDecoder();
  let text = decoder.decode(rest, { stream: true });
  const buffer = new Uint8Array(MAX_ANSWER_BYTES);
  for (let left = MAX_ANSWER_BYTES; left > 0;) {
    const count = await upstream.read(buffer.subarray(0, left));
    if (count === null) break;
    text += decoder.decode(buffer.subarray(0, count), { stream: true });
    left -= count;
  }
  return text + decoder.decode();
}

/** A connection whose reader is given one request of it, and breaks when there is more. */
function oneRequest(conn: TunnelEnd, rest: Uint8Array<ArrayBuffer>, body: BodyEnd): TunnelEnd {
  let early: Uint8Array | undefined = rest.length > 0 ? rest : undefined;
  let isMore = false;
  return {
    async read(buffer) {
      for (;;) {
        if (isMore) throw new Error("a second request came on its connection");
        if (body.isDone && early === undefined) return await end(conn);
        let count: number | null;
        if (early !== undefined) {
          const part = early.subarray(0, buffer.length);
          buffer.set(part);
          count = part.length;
          early = early.length > count ? early.subarray(count) : undefined;
        } else {
          count = await conn.read(buffer);
        }
        if (count === null) return null;
        const taken = body.take(buffer.subarray(0, count));
        isMore = taken < count;
        if (taken > 0) return taken;
      }
    },
    write: (bytes) => conn.write(bytes),
    closeWrite: () => conn.closeWrite(),
    close: () => conn.close(),
  };
}

/** A connection that is over when its answer is: the client is not waited for. */
function oneAnswer(upstream: TunnelEnd): TunnelEnd {
  return {
    async read(buffer) {
      const count = await upstream.read(buffer);
      if (count === null) throw new Error("the answer has ended");
      return count;
    },
    write: (bytes) => upstream.write(bytes),
    closeWrite: () => upstream.closeWrite(),
    close: () => upstream.close(),
  };
}

/**
 * Waits for the end of a connection whose request is whole. Servers take an end of input for a client that
 * has left, so none is passed on; bytes that come now belong to no request, and end it.
 */
async function end(conn: TunnelEnd): Promise<null> {
  const count = await conn.read(new Uint8Array(1));
  if (count !== null) throw new Error("a second request came on its connection");
  return null;
}

async function say(conn: TunnelEnd, answer: string): Promise<void> {
  await writeAll(conn, new TextEncoder().encode(answer));
}
