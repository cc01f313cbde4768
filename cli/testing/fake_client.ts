/**
 * A {@linkcode LocalClient} that answers from a script, for tests.
 *
 * @module
 */

import { type AgentEvent, NO_USAGE, type StoredEvent } from "../../lib/contract/events.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { Operation, Operations } from "../../lib/local/protocol.ts";

/** A request as the client saw it. */
export interface SeenRequest {
  op: Operation;
  params: unknown;
  signal?: AbortSignal;
}

/** What is answered to each operation. */
export type Script = {
  [Op in Operation]?: (
    params: Operations[Op]["params"],
    signal?: AbortSignal,
  ) => AsyncIterable<Operations[Op]["data"]> | Iterable<Operations[Op]["data"]>;
};

/** A client that plays a script and remembers what it was asked. */
export class FakeClient implements LocalClient {
  readonly seen: SeenRequest[] = [];
  readonly #script: Script;
  readonly #closed = Promise.withResolvers<void>();

  constructor(script: Script) {
    this.#script = script;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  async *request<Op extends Operation>(
    op: Op,
    params: Operations[Op]["params"],
    signal?: AbortSignal,
  ): AsyncIterable<Operations[Op]["data"]> {
    this.seen.push({ op, params, signal });
    const answer = this.#script[op];
    if (answer === undefined) throw new Error(`The script has no answer to ${op}`);
    yield* answer(params, signal) as AsyncIterable<Operations[Op]["data"]>;
  }

  close(): void {
    this.#closed.resolve();
  }
}

/** Events as a turn's reader gets them, numbered from 1. */
export function stored(...events: AgentEvent[]): StoredEvent[] {
  return events.map((event, at) => ({ seq: at + 1, turnId: "turn", event }));
}

/** The end of a turn. */
export function turnEnd(
  status: Extract<AgentEvent, { type: "turn_end" }>["status"] = "done",
): AgentEvent {
  return { type: "turn_end", status, finishReason: "stop", usage: NO_USAGE };
}

/** A turn that says this and is done. */
export function answering(...texts: string[]): StoredEvent[] {
  return stored(
    { type: "turn_start", model: "fake/model" },
    ...texts.map((text): AgentEvent => ({ type: "text_delta", streamId: "s", text })),
    { type: "segment_end", streamId: "s", resuming: false },
    turnEnd(),
  );
}
