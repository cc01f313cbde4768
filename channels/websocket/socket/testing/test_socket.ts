/**
 * A WebSocket server on a free port of loopback, and clients that say exactly which bytes they mean.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
// @ts-types="@types/ws"
import { WebSocket } from "ws";
import type { Clock } from "../../../../lib/base/clock.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import type { Peer, SocketAdmission } from "../../../../lib/channel/socket_host.ts";
import { listen, type Listener, type ListenOptions } from "../../../../lib/listen/listen.ts";
import type { Log } from "../../../../lib/base/log.ts";
import type { Connection } from "../connection.ts";
import { SocketServer, type SocketServerOptions } from "../socket_server.ts";

/** Somebody who is let in. */
export const PEER: Peer = { clientId: "tester", actor: "websocket:tester" };

/** The key of RFC 6455, 1.3, and what is answered to it. */
export const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
export const ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/** Headers of an opening handshake. */
export const UPGRADE =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
  `Sec-WebSocket-Key: ${KEY}\r\n`;

/** A log that keeps what it was told. */
export class KeptLog implements Log {
  readonly lines: string[] = [];
  readonly debug = () => {};
  readonly info = (message: string, fields?: unknown) => this.#keep("info", message, fields);
  readonly warning = (message: string, fields?: unknown) => this.#keep("warning", message, fields);
  readonly error = (message: string, fields?: unknown) => this.#keep("error", message, fields);

  #keep(level: string, message: string, fields: unknown): void {
    this.lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  }
}

/** A server that runs. */
export interface TestSocket extends AsyncDisposable {
  server: SocketServer;
  listener: Listener;
  log: KeptLog;
  port: number;
  url: string;
  /** Connections that were let in, in order. */
  connections: Connection[];
  /** The next one that is let in. */
  next(): Promise<Connection>;
}

/** What a test may set. */
export interface TestSocketOptions extends Partial<Omit<SocketServerOptions, "admission" | "log">> {
  admit?: SocketAdmission["admit"];
  clock?: Clock;
  listen?: Partial<ListenOptions>;
}

/** Opens one. Without `onConnection`, each connection says what it hears. */
export async function openTestSocket(options: TestSocketOptions = {}): Promise<TestSocket> {
  const log = new KeptLog();
  const connections: Connection[] = [];
  const awaited: ((connection: Connection) => void)[] = [];
  const { admit = () => Promise.resolve({ peer: PEER }), onConnection = echo } = options;
  const server = new SocketServer({
    path: "/",
    maxMessageBytes: 1_048_576,
    pingIntervalMs: 60_000,
    pingTimeoutMs: 60_000,
    clock: systemClock,
    ...options,
    admission: { admit },
    log,
    onConnection(connection) {
      connections.push(connection);
      onConnection(connection);
      awaited.shift()?.(connection);
    },
  });
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    setting: "channels.websocket",
    handler: () => new Response("plain", { status: 404 }),
    onUpgrade: (request, socket, head) => server.upgrade(request, socket, head),
    ...options.listen,
  });
  return {
    server,
    listener,
    log,
    connections,
    port: listener.port,
    url: `${listener.url.replace(/^http/, "ws")}/`,
    next: () => new Promise((resolve) => awaited.push(resolve)),
    async [Symbol.asyncDispose]() {
      await server.close(0);
      await listener.close(0);
    },
  };
}

/** Says back what it hears, text as `{event: "error", detail}`. */
export function echo(connection: Connection): void {
  connection.onMessage(async (message) => {
    const { OutFrame } = await import("../out_frame.ts");
    const detail = "text" in message
      ? message.text
      : `binary ${[...message.binary.subarray(0, 64)].join(" ")}`;
    connection.send(new OutFrame({ event: "error", detail }));
  });
}

/** A client of `ws` that is open. */
export async function openClient(url: string, options = {}): Promise<WebSocket> {
  const client = new WebSocket(url, options);
  await new Promise((resolve, reject) => {
    client.once("open", resolve);
    client.once("error", reject);
  });
  client.on("error", () => {});
  return client;
}

/** How a client's connection ended. */
export function closeOf(client: WebSocket): Promise<{ code: number; reason: string }> {
  return new Promise((resolve) =>
    client.once("close", (code, reason) => resolve({ code, reason: String(reason) }))
  );
}

/** The next message of a client, as JSON. */
// deno-lint-ignore no-explicit-any
export function messageOf(client: WebSocket): Promise<any> {
  return new Promise((resolve) =>
    client.once("message", (data) => resolve(JSON.parse(String(data))))
  );
}

/** Waits until a condition holds; each turn of the event loop may change it. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Parts of a frame as RFC 6455, 5.2 names them. */
export interface RawFrame {
  fin?: boolean;
  rsv?: number;
  opcode: number;
  payload?: string | Uint8Array;
  masked?: boolean;
  /** What the length says, if not the payload's. */
  length?: number;
}

/** The bytes of a frame, right or wrong. */
export function rawFrame(frame: RawFrame): Uint8Array {
  const { fin = true, rsv = 0, opcode, masked = true } = frame;
  const payload = typeof frame.payload === "string"
    ? new TextEncoder().encode(frame.payload)
    : frame.payload ?? new Uint8Array();
  const length = frame.length ?? payload.length;
  const head = [(fin ? 0x80 : 0) | rsv << 4 | opcode];
  const mask = masked ? 0x80 : 0;
  if (length < 126) head.push(mask | length);
  else if (length < 65_536) head.push(mask | 126, length >> 8, length & 255);
  else {
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setBigUint64(0, BigInt(length));
    head.push(mask | 127, ...new Uint8Array(bytes.buffer));
  }
  const key = masked ? [0x12, 0x34, 0x56, 0x78] : [];
  const body = masked ? payload.map((byte, at) => byte ^ key[at & 3]!) : payload;
  return Buffer.concat([Uint8Array.from([...head, ...key]), body]);
}

/** What a server sent after its handshake. */
export interface RawServerFrame {
  opcode: number;
  payload: Uint8Array;
}

/** A client over a raw socket. */
export class RawClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #bytes = Buffer.alloc(0);
  #wake = () => {};
  #isClosed = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Uint8Array) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#wake();
    });
    socket.on("error", () => {});
    this.closed = new Promise((resolve) =>
      socket.on("close", () => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      })
    );
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect(port, "127.0.0.1");
    await new Promise((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new RawClient(socket);
  }

  /** One that is through the handshake. */
  static async upgraded(port: number, headers = ""): Promise<RawClient> {
    const client = await RawClient.open(port);
    client.write(`GET / HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}${headers}\r\n`);
    const head = await client.head();
    if (!head.startsWith("HTTP/1.1 101 ")) throw new Error(head);
    return client;
  }

  write(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  frame(frame: RawFrame): void {
    this.write(rawFrame(frame));
  }

  /** The header section of an answer. */
  async head(): Promise<string> {
    const end = await this.#until(() => this.#bytes.indexOf("\r\n\r\n"));
    return String(this.#take(end + 4));
  }

  /** All until the server closes. */
  async rest(): Promise<string> {
    await this.closed;
    return String(this.#bytes);
  }

  /** The next frame; undefined when the connection ends first. */
  async next(): Promise<RawServerFrame | undefined> {
    const size = await this.#until(() => frameSize(this.#bytes)).catch(() => undefined);
    if (size === undefined) return undefined;
    const bytes = this.#take(size.head + size.length);
    return { opcode: bytes[0]! & 15, payload: Uint8Array.from(bytes.subarray(size.head)) };
  }

  /** The code with which the server says goodbye, after skipping other frames; undefined for none. */
  async closeCode(): Promise<number | undefined> {
    for (;;) {
      const frame = await this.next();
      if (frame === undefined) return undefined;
      if (frame.opcode !== 8) continue;
      return frame.payload.length < 2 ? 1005 : frame.payload[0]! << 8 | frame.payload[1]!;
    }
  }

  #take(length: number): Buffer {
    const taken = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  async #until<Found>(find: () => Found | -1 | undefined): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== -1 && found !== undefined) return found as Found;
      if (this.#isClosed) throw new Error(`The connection ended after: ${this.#bytes}`);
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }
}

function frameSize(bytes: Buffer): { head: number; length: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes[1]! & 127;
  const head = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < head) return undefined;
  const length = short < 126
    ? short
    : short === 126
    ? bytes.readUInt16BE(2)
    : Number(bytes.readBigUInt64BE(2));
  return bytes.length < head + length ? undefined : { head, length };
}
