/**
 * The authority's way to the outbox, which the service holds: a message goes over the Worker's port
 * and is waited for.
 *
 * @module
 */

import { fromErrorData, ServiceError } from "../errors.ts";
import type { OutboxMessage } from "../journal/types.ts";
import type { Enqueued, OutboxPort, ToAuthority, ToService } from "../service/bridge.ts";

/** Messages that wait for the service's answer at the same time. */
const MAX_WAITING = 256;

interface Waiting {
  resolve(result: Enqueued): void;
  reject(error: ServiceError): void;
}

/** The outbox as the gate sees it; every promise settles, whatever becomes of the service. */
export class ServiceOutbox implements OutboxPort {
  readonly #waiting = new Map<number, Waiting>();
  #send: ((message: ToService) => void) | undefined;
  #closed = false;
  #nextId = 1;

  /** From now on messages go to the service. */
  connect(send: (message: ToService) => void): void {
    this.#send = send;
  }

  async enqueue(message: OutboxMessage, { timeoutMs }: { timeoutMs: number }): Promise<Enqueued> {
    if (this.#closed || this.#send === undefined) {
      throw new ServiceError("draining", "the service does not run");
    }
    if (this.#waiting.size >= MAX_WAITING) {
      throw new ServiceError("overloaded", `${MAX_WAITING} messages wait to be queued`);
    }
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<Enqueued>();
    const timer = setTimeout(
      () => reject(unknown(`the service did not answer within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    this.#waiting.set(id, { resolve, reject });
    try {
      this.#send({ type: "enqueue", id, message });
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Takes an answer of the service; one that nobody waits for any more is nothing. */
  receive({ id, result }: Extract<ToAuthority, { type: "enqueued" }>): void {
    const waiting = this.#waiting.get(id);
    if ("error" in result) waiting?.reject(fromErrorData(result.error));
    else waiting?.resolve(result);
  }

  /** The service is gone: fails what waits and everything that comes. */
  close(reason: string): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) reject(unknown(reason));
  }
}

function unknown(reason: string): ServiceError {
  return new ServiceError(
    "executor_fault",
    `${reason}, so it is not known whether the message was queued`,
  );
}
