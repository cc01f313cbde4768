/**
 * The client side of the local protocol.
 *
 * @module
 */

import { type ErrorData, fromErrorData, ServiceError } from "../base/errors.ts";
import type { Operation, Operations } from "./protocol.ts";
import { type Duplex, lineWriter, readLines } from "./wire.ts";

/** A connection to the service of a home. */
export interface LocalClient {
  /**
   * Asks for an operation and yields its data. Throws the ServiceError that the service answered.
   * Aborting the signal, or leaving the loop early, cancels the operation there; after an abort the
   * loop goes on to what the service still says, such as the end of a cancelled turn.
   */
  request<Op extends Operation>(
    op: Op,
    params: Operations[Op]["params"],
    signal?: AbortSignal,
  ): AsyncIterable<Operations[Op]["data"]>;
  /** Resolves when the connection has ended, from either side. */
  readonly closed: Promise<void>;
  close(): void;
}

/** What the service says first on a connection, so that a client knows that it was taken in. */
interface Hello {
  hello: string;
}

/** Items that wait for a slow consumer before the connection itself is left unread. */
const HIGH_WATER = 256;

interface Pending {
  /** Resolves when there is room for more. */
  push(data: unknown): Promise<void> | undefined;
  end(error?: ServiceError): void;
}

/**
 * Speaks the protocol over a connection. Resolves once the service has greeted; rejects with
 * `draining` when the connection ended before that, which means: try again. `key` goes first where
 * the transport is a loopback port.
 */
export async function connectClient(duplex: Duplex, key?: string): Promise<LocalClient> {
  const writer = lineWriter(duplex.writable);
  const lines = readLines(duplex.readable);
  if (key !== undefined) await writer.write({ key });
  const first = await lines.next().catch(() => ({ done: true, value: undefined }));
  if (first.done || typeof (first.value as Hello | undefined)?.hello !== "string") {
    await writer.close();
    throw new ServiceError("draining", "The service of this home is just stopping");
  }
  const pending = new Map<number, Pending>();
  let nextId = 1;
  const closed = receive();

  async function receive(): Promise<void> {
    let error = new ServiceError("turn_interrupted", "The service of this home has stopped");
    try {
      for await (const line of lines) {
        const { id, data, error: failure, end } = line as {
          id: number;
          data?: unknown;
          error?: ErrorData;
          end?: true;
        };
        const request = pending.get(id);
        if (request === undefined) continue;
        if (failure !== undefined) request.end(fromErrorData(failure));
        else if (end) request.end();
        else await request.push(data);
      }
    } catch (cause) {
      error = new ServiceError("internal", "The service sent something unreadable", {}, { cause });
    }
    for (const request of pending.values()) request.end(error);
  }

  return {
    closed,
    close: () => void writer.close(),
    async *request(op, params, signal) {
      const id = nextId++;
      const cancel = () => void writer.write({ id, op: "cancel" }).catch(() => {});
      let ended = false;
      const queue: unknown[] = [];
      let failure: ServiceError | undefined;
      let wake = Promise.withResolvers<void>();
      let room: PromiseWithResolvers<void> | undefined;
      pending.set(id, {
        push: (data) => {
          queue.push(data);
          wake.resolve();
          if (queue.length < HIGH_WATER) return undefined;
          room = Promise.withResolvers();
          return room.promise;
        },
        end: (error) => {
          failure = error;
          ended = true;
          wake.resolve();
        },
      });
      signal?.addEventListener("abort", cancel);
      try {
        await writer.write({ id, op, params }).catch(() => {
          throw new ServiceError("turn_interrupted", "The service of this home has stopped");
        });
        if (signal?.aborted) cancel();
        while (true) {
          while (queue.length > 0) yield queue.shift() as Operations[typeof op]["data"];
          room?.resolve();
          if (ended) break;
          await wake.promise;
          wake = Promise.withResolvers();
        }
        if (failure) throw failure;
      } finally {
        signal?.removeEventListener("abort", cancel);
        pending.delete(id);
        room?.resolve();
        if (!ended) cancel();
      }
    },
  };
}
