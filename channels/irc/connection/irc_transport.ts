/**
 * The connection under `irc-framework`, within bounds: the library's own keeps a line without an end in
 * memory for as long as the server goes on with it.
 *
 * @module
 */

import { EventEmitter } from "node:events";
import type { Clock } from "../../../lib/base/clock.ts";
import { openConnection } from "../../../lib/channel/platform/open_connection.ts";

/** Where a server is, and how it is spoken to. */
export interface ServerAddress {
  host: string;
  port: number;
  tls: boolean;
  /** Certificates (PEM) of authorities beside the usual ones. */
  caCerts: readonly string[];
}

/** What a transport is made of. */
export interface TransportDeps {
  address: ServerAddress;
  connect: (address: ServerAddress, signal: AbortSignal) => Promise<Deno.Conn>;
  clock: Pick<Clock, "after">;
  /** Waited for before more is read: whoever reads slowly is sent slowly. */
  room: () => Promise<void> | undefined;
}

/** Bytes of a line: 8,191 of tags (IRCv3) and 512 of message, and what servers add to that. */
const MAX_LINE_BYTES = 16 * 1024;

/** Bytes that wait to be written; a server that takes none of them is gone. */
const MAX_UNWRITTEN_BYTES = 256 * 1024;

const CONNECT_TIMEOUT_MS = 20_000;

/** Opens a connection; rejects with why not. */
export function connectToServer(
  { host: hostname, port, tls, caCerts }: ServerAddress,
  signal: AbortSignal,
): Promise<Deno.Conn> {
  return openConnection({ hostname, port, ...tls && { tls: { hostname, caCerts } } }, signal);
}

/** A class as `irc-framework` wants its `transport`. */
export function transportClass(deps: TransportDeps): new () => IrcTransport {
  return class extends IrcTransport {
    constructor() {
      super(deps);
    }
  };
}

/** Events: `open`, `line` and at last `close`, with an Error where there was one. */
export class IrcTransport extends EventEmitter {
  readonly #deps: TransportDeps;
  readonly #encoder = new TextEncoder();
  readonly #ending = new AbortController();
  #connection: Deno.Conn | undefined;
  #isOver = false;
  #unwritten = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: TransportDeps) {
    super();
    this.#deps = deps;
  }

  isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Everything is UTF-8. */
  setEncoding(): boolean {
    return true;
  }

  connect(): void {
    void this.#run();
  }

  async #run(): Promise<void> {
    const { address, connect, clock } = this.#deps;
    const cancel = clock.after(
      CONNECT_TIMEOUT_MS,
      () => this.#end(new Error(`no answer within ${CONNECT_TIMEOUT_MS / 1_000} s`)),
    );
    try {
      const connection = await connect(address, this.#ending.signal);
      cancel();
      if (this.#isOver) return connection.close();
      this.#connection = connection;
      this.emit("open");
      await this.#read(connection);
      this.#end();
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    } finally {
      cancel();
    }
  }

  async #read(connection: Deno.Conn): Promise<void> {
    const chunk = new Uint8Array(16 * 1024);
    let rest = new Uint8Array();
    while (!this.#isOver) {
      await this.#deps.room();
      const size = await connection.read(chunk).catch((error) => {
        // It was closed here.
        if (this.#isOver) return null;
        throw error;
      });
      if (size === null || this.#isOver) return;
      const bytes = new Uint8Array(rest.length + size);
      bytes.set(rest);
      bytes.set(chunk.subarray(0, size), rest.length);
      let start = 0;
      for (let end; (end = bytes.indexOf(0x0A, start)) !== -1; start = end + 1) {
        this.#tell(bytes.subarray(start, end));
        if (this.#isOver) return;
      }
      rest = bytes.slice(start);
      if (rest.length > MAX_LINE_BYTES) throw new Error("the server sent a line without an end");
    }
  }

  #tell(bytes: Uint8Array): void {
    if (bytes.length > MAX_LINE_BYTES) return;
    const line = decode(bytes).replace(/[\r\0]/g, "");
    try {
      if (line !== "") this.emit("line", line);
    } catch {
      // A line that the library cannot make sense of, such as one without its parameters.
    }
  }

  writeLine(line: string, done?: () => void): void {
    const connection = this.#connection;
    if (connection === undefined || this.#isOver) return void done?.();
    // Whatever was put together above: one line stays one.
    const bytes = this.#encoder.encode(`${line.replace(/[\r\n\0]+/g, " ")}\r\n`);
    this.#unwritten += bytes.length;
    if (this.#unwritten > MAX_UNWRITTEN_BYTES) {
      return this.#end(new Error("the server takes nothing any more"));
    }
    this.#writing = this.#writing.then(async () => {
      try {
        for (let at = 0; at < bytes.length && !this.#isOver;) {
          at += await connection.write(bytes.subarray(at));
        }
        this.#unwritten -= bytes.length;
        done?.();
      } catch (error) {
        this.#end(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  /** Ends it without a word to anybody. */
  disposeSocket(): void {
    this.removeAllListeners();
    this.#end();
  }

  close(): void {
    this.#end();
  }

  #end(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ending.abort(error);
    try {
      this.#connection?.close();
    } catch {
      // It is closed already.
    }
    this.#connection = undefined;
    this.emit("close", error ?? false);
  }
}

/** Nearly everything is UTF-8; what is not was written in an older client. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
