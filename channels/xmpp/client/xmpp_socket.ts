/**
 * The connection under `@xmpp/client`. The library's own begins to encrypt when the server offers that,
 * and goes on in the clear where it does not; trusts no certificates of one's own; and keeps in memory
 * whatever a server sends without an end. This one is encrypted, and whoever is there has shown who it
 * is, before the library says a word.
 *
 * @module
 */

import { EventEmitter } from "node:events";
import type { Clock } from "../../../lib/base/clock.ts";
import { openConnection } from "../../../lib/channel/platform/open_connection.ts";
import { NS } from "./namespaces.ts";
import { plainFault } from "./plain_fault.ts";
import { xml, type XmlElement } from "./xmpp_library.ts";

/** `starttls`: encrypted after a word in the clear; `direct`: from the first byte; `none`: never. */
export const XMPP_TLS_MODES = ["starttls", "direct", "none"] as const;

/** Where a server is, and how it is spoken to. */
export interface ServerAddress {
  host: string;
  port: number;
  /** The name that its certificate has to have (RFC 6120, 13.7.2). */
  domain: string;
  tls: typeof XMPP_TLS_MODES[number];
  /** Certificates (PEM) of authorities beside the usual ones. */
  caCerts: readonly string[];
}

/** What a socket is made of. */
export interface SocketDeps {
  address: ServerAddress;
  clock: Pick<Clock, "after">;
  /** Waited for before more is read: whoever takes slowly is sent slowly. */
  room: () => Promise<void> | undefined;
}

/** Bytes without the end of an element; servers take a few hundred thousand from each other. */
const MAX_ELEMENT_BYTES = 4 * 1024 * 1024;

/** Bytes that wait to be written; a server that takes none of them is gone. */
const MAX_UNWRITTEN_BYTES = 4 * 1024 * 1024;

/** Bytes of what is said before encryption. */
const MAX_CLEAR_BYTES = 64 * 1024;

const CONNECT_TIMEOUT_MS = 20_000;

/** Events: `connect`, `data` and at last `close`; before that `error`, where there is one. */
export class XmppSocket extends EventEmitter {
  /** The library gives a password to nobody but a secure one. */
  secure = false;
  readonly #deps: SocketDeps;
  readonly #encoder = new TextEncoder();
  readonly #ending = new AbortController();
  #connection: Deno.Conn | undefined;
  #isOver = false;
  #unwritten = 0;
  #unread = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: SocketDeps) {
    super();
    this.#deps = deps;
    // An error that comes when nobody waits for it any more is told by `close` too.
    this.on("error", () => {});
  }

  connect(): void {
    void this.#run();
  }

  /** An element has come to its end. */
  elementRead(): void {
    this.#unread = 0;
  }

  async #run(): Promise<void> {
    const { address, clock } = this.#deps;
    const cancel = clock.after(
      CONNECT_TIMEOUT_MS,
      () => this.#end(new Error(`no answer within ${CONNECT_TIMEOUT_MS / 1_000} s`)),
    );
    try {
      const connection = await connectToServer(address, this.#ending.signal);
      cancel();
      if (this.#isOver) return connection.close();
      this.#connection = connection;
      this.secure = address.tls !== "none";
      this.emit("connect");
      await this.#read(connection);
      this.#end();
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    } finally {
      cancel();
    }
  }

  async #read(connection: Deno.Conn): Promise<void> {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const chunk = new Uint8Array(32 * 1024);
    while (!this.#isOver) {
      await this.#deps.room();
      const size = await connection.read(chunk).catch((error) => {
        if (this.#isOver) return null;
        throw error;
      });
      if (size === null || this.#isOver) return;
      this.#unread += size;
      if (this.#unread > MAX_ELEMENT_BYTES) throw new Error("the server sent XML without an end");
      const text = decoder.decode(chunk.subarray(0, size), { stream: true });
      if (text !== "") this.emit("data", text);
    }
  }

  write(text: string, done?: (error?: Error) => void): void {
    const connection = this.#connection;
    if (connection === undefined || this.#isOver) {
      return void queueMicrotask(() => done?.(new Error("The connection is closed")));
    }
    const bytes = this.#encoder.encode(text);
    this.#unwritten += bytes.length;
    if (this.#unwritten > MAX_UNWRITTEN_BYTES) {
      this.#end(new Error("the server takes nothing any more"));
      return void queueMicrotask(() => done?.(new Error("The connection is closed")));
    }
    this.#writing = this.#writing.then(async () => {
      try {
        for (let at = 0; at < bytes.length;) {
          if (this.#isOver) throw new Error("The connection is closed");
          at += await connection.write(bytes.subarray(at));
        }
        this.#unwritten -= bytes.length;
        done?.();
      } catch (error) {
        const reason = error instanceof Error ? error : new Error(String(error));
        done?.(reason);
        this.#end(reason);
      }
    });
  }

  /** Closes it when everything is written. */
  end(): void {
    void this.#writing.then(() => this.#end());
  }

  /** Closes it at once. */
  destroy(reason?: Error): void {
    this.#end(reason);
  }

  #end(reason?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const error = reason && plainFault(reason);
    this.#ending.abort(error);
    try {
      this.#connection?.close();
    } catch {
      // It is closed already.
    }
    if (error !== undefined) this.emit("error", error);
    this.emit("close", error !== undefined, error);
  }
}

/** Opens a connection that is ready for a stream; rejects with why not. */
function connectToServer(address: ServerAddress, signal: AbortSignal): Promise<Deno.Conn> {
  const { host: hostname, port, tls, domain, caCerts } = address;
  return openConnection({
    hostname,
    port,
    async prepare(plain) {
      // A message and the question whether it has come are two small packets.
      plain.setNoDelay(true);
      if (tls === "starttls") await askForTls(plain, domain);
    },
    ...tls !== "none" && {
      tls: {
        hostname: domain,
        caCerts,
        // XEP-0368, 3: one port may serve more than this protocol.
        ...tls === "direct" && { alpnProtocols: ["xmpp-client"] },
      },
    },
  }, signal);
}

/** Gets the server to begin TLS (RFC 6120, 5.4). Rejects where it does not want to. */
async function askForTls(connection: Deno.Conn, domain: string): Promise<void> {
  const parser = new xml.Parser();
  const elements: XmlElement[] = [];
  let problem: Error | undefined;
  parser.on("element", (element: XmlElement) => void elements.push(element));
  parser.on("error", (error: Error) => problem = error);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const chunk = new Uint8Array(8 * 1024);
  let bytes = 0;
  let last = "";
  const next = async () => {
    while (elements.length === 0) {
      const size = await connection.read(chunk);
      if (size === null) throw new Error("the server has closed the connection");
      bytes += size;
      if (bytes > MAX_CLEAR_BYTES) throw new Error("the server says too much before encryption");
      last = decoder.decode(chunk.subarray(0, size), { stream: true });
      parser.write(last);
      if (problem !== undefined) throw problem;
    }
    return elements.shift()!;
  };
  await write(
    connection,
    "<?xml version='1.0'?>" +
      xml("stream:stream", {
        to: domain,
        version: "1.0",
        xmlns: "jabber:client",
        "xmlns:stream": NS.streams,
      }).toString().replace(/\/>$/, ">"),
  );
  const features = await next();
  if (features.getChild("starttls", NS.tls) === undefined) {
    throw new Error("the server does not offer encryption (STARTTLS)");
  }
  await write(connection, xml("starttls", { xmlns: NS.tls }).toString());
  const answer = await next();
  if (!answer.is("proceed", NS.tls)) throw new Error("the server refuses encryption (STARTTLS)");
  // What was said in the clear behind it would count as said under encryption.
  if (elements.length > 0 || !/>\s*$/.test(last)) {
    throw new Error("the server goes on in the clear behind its consent to encrypt");
  }
}

async function write(connection: Deno.Conn, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
