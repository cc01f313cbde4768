/**
 * Our MCP server's side of standard input and output: lines of bounded length in, whole lines out, and a
 * bound on what is under way.
 *
 * @module
 */

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import { INVALID_REQUEST, readMessages } from "./message_reader.ts";

/** Requests of the client that are under way at once. */
const MAX_UNDER_WAY = 64;
/** Of the range that JSON-RPC leaves to servers. */
const OVERLOADED = -32_000;

/** Bytes in and out. */
export interface StdioStreams {
  readable: ReadableStream<Uint8Array>;
  writable: WritableStream<Uint8Array>;
}

/** A transport over two streams; `ended` resolves when the client has gone. */
export class StdioServerTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly ended: Promise<void>;
  readonly #streams: StdioStreams;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #underWay = new Set<RequestId>();
  readonly #end = Promise.withResolvers<void>();
  #closed = false;

  constructor(streams: StdioStreams) {
    this.#streams = streams;
    this.#writer = streams.writable.getWriter();
    this.#writer.closed.catch(() => this.close());
    this.ended = this.#end.promise;
  }

  start(): Promise<void> {
    void this.#read();
    return Promise.resolve();
  }

  /** Waits until the client reads. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error("the client has gone");
    if ("id" in message && message.id !== undefined && !("method" in message)) {
      this.#underWay.delete(message.id);
    }
    await this.#write(message);
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.onclose?.();
      this.#end.resolve();
    }
    return Promise.resolve();
  }

  async #read(): Promise<void> {
    try {
      for await (const read of readMessages(this.#streams.readable)) {
        if (this.#closed) return;
        if ("message" in read) await this.#take(read.message);
        else await this.#refuse(read.id ?? null, read.code, read.problem);
      }
    } catch (error) {
      this.onerror?.(error as Error);
    } finally {
      await this.close();
    }
  }

  async #take(message: JSONRPCMessage): Promise<void> {
    if ("method" in message && "id" in message) {
      const { id } = message;
      if (this.#underWay.has(id)) {
        return await this.#refuse(id, INVALID_REQUEST, "A request of that id is under way");
      }
      if (this.#underWay.size >= MAX_UNDER_WAY) {
        return await this.#refuse(id, OVERLOADED, `${MAX_UNDER_WAY} requests are under way`);
      }
      this.#underWay.add(id);
    } else if ("method" in message && message.method === "notifications/cancelled") {
      // It gets no answer any more.
      this.#underWay.delete(message.params?.requestId as RequestId);
    }
    this.onmessage?.(message);
  }

  async #refuse(id: RequestId | null, code: number, message: string): Promise<void> {
    await this.#write({ jsonrpc: "2.0", id, error: { code, message } });
  }

  async #write(value: unknown): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
  }
}
