/**
 * What the authority asks of the service over the Worker's port and waits for; every promise settles,
 * whatever becomes of the service.
 *
 * @module
 */

import type { ErrorData } from "../base/errors.ts";
import { fromErrorData, ServiceError } from "../base/errors.ts";
import type { ToService } from "./bridge.ts";

/** Questions of a kind that wait for an answer at the same time. */
const MAX_WAITING = 256;

interface Waiting<Answer> {
  resolve(result: Answer): void;
  reject(error: ServiceError): void;
}

/** Questions of one kind. */
export class ServiceAnswers<Answer extends object> {
  readonly #what: string;
  readonly #waiting = new Map<number, Waiting<Answer>>();
  #send: ((message: ToService) => void) | undefined;
  #closed = false;
  #nextId = 1;

  /** `what` is not known when no answer comes, such as "whether the message was queued". */
  constructor(what: string) {
    this.#what = what;
  }

  /** From now on questions go to the service. */
  connect(send: (message: ToService) => void): void {
    this.#send = send;
  }

  /** Asks, and waits for the answer with the id that the question was given. */
  async ask(question: (id: number) => ToService, timeoutMs: number): Promise<Answer> {
    if (this.#closed || this.#send === undefined) {
      throw new ServiceError("draining", "the service does not run");
    }
    if (this.#waiting.size >= MAX_WAITING) {
      throw new ServiceError("overloaded", `${MAX_WAITING} questions wait for the service`);
    }
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const timer = setTimeout(
      () => reject(this.#unknown(`the service did not answer within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    this.#waiting.set(id, { resolve, reject });
    try {
      this.#send(question(id));
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Takes an answer of the service; one that nobody waits for any more is nothing. */
  receive({ id, result }: { id: number; result: Answer | { error: ErrorData } }): void {
    const waiting = this.#waiting.get(id);
    if ("error" in result) waiting?.reject(fromErrorData(result.error));
    else waiting?.resolve(result);
  }

  /** The service is gone: fails what waits and everything that comes. */
  close(reason: string): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) reject(this.#unknown(reason));
  }

  #unknown(reason: string): ServiceError {
    return new ServiceError("executor_fault", `${reason}, so it is not known ${this.#what}`);
  }
}
