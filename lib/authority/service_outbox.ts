/**
 * The authority's way to the outbox, which the service holds: a message goes over the Worker's port
 * and is waited for.
 *
 * @module
 */

import type { AllowedMessage, Enqueued, OutboxPort } from "../contract/ports.ts";
import type { ToAuthority, ToService } from "./bridge.ts";
import { ServiceAnswers } from "./service_answers.ts";

/** The outbox as the gate sees it; every promise settles, whatever becomes of the service. */
export class ServiceOutbox implements OutboxPort {
  readonly #answers = new ServiceAnswers<Enqueued>("whether the message was queued");

  /** From now on messages go to the service. */
  connect(send: (message: ToService) => void): void {
    this.#answers.connect(send);
  }

  async enqueue(message: AllowedMessage, { timeoutMs }: { timeoutMs: number }): Promise<Enqueued> {
    return await this.#answers.ask((id) => ({ type: "enqueue", id, message }), timeoutMs);
  }

  /** Takes an answer of the service; one that nobody waits for any more is nothing. */
  receive(answer: Extract<ToAuthority, { type: "enqueued" }>): void {
    this.#answers.receive(answer);
  }

  /** The service is gone: fails what waits and everything that comes. */
  close(reason: string): void {
    this.#answers.close(reason);
  }
}
