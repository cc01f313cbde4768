/**
 * A {@linkcode LocalClient} that answers from a script, for tests.
 *
 * @module
 */

import { type AgentEvent, NO_USAGE, type StoredEvent } from "../../lib/contract/events.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { Item, Local, Operation, Params, Result } from "../../lib/local/protocol.ts";
import type { CallName } from "../../lib/rpc/endpoint.ts";
import type { CallOptions, PeerEnd } from "../../lib/rpc/peer.ts";

/** A call as the client saw it. */
export interface SeenCall {
  op: Operation;
  params: unknown;
  stop?: AbortSignal;
}

/** What is answered to each operation. */
export type Script = {
  [Op in Operation]?: (
    params: Params<Op>,
    stop?: AbortSignal,
  ) => Op extends "operate" ? unknown
    : [Item<Op>] extends [never] ? Result<Op> | Promise<Result<Op>>
    : AsyncIterable<Item<Op>> | Iterable<Item<Op>>;
};

/** Answers to operations of the table, by their names, as the script of `operate`. */
export function operations(
  answers: Readonly<Record<string, ((request: never) => unknown) | undefined>>,
): Required<Pick<Script, "operate">> {
  return {
    operate({ request }) {
      const answer = answers[request.op];
      if (answer === undefined) throw new Error(`The script has no answer to ${request.op}`);
      return answer(request as never);
    },
  };
}

/** A client that plays a script and remembers what it was asked. */
export class FakeClient implements LocalClient {
  readonly seen: SeenCall[] = [];
  readonly #script: Script;
  readonly #ended = Promise.withResolvers<PeerEnd>();

  constructor(script: Script) {
    this.#script = script;
  }

  get ended(): Promise<PeerEnd> {
    return this.#ended.promise;
  }

  // deno-lint-ignore require-await -- a script may throw at once
  async call(op: CallName<Local>, params: unknown, options: CallOptions<never> = {}) {
    return this.#answer(op as Operation, params, options) as never;
  }

  async *stream(op: CallName<Local>, params: unknown, options: CallOptions<never> = {}) {
    yield* this.#answer(op as Operation, params, options) as AsyncIterable<never>;
    return undefined as never;
  }

  #answer(op: Operation, params: unknown, { stop }: CallOptions<never>): unknown {
    this.seen.push({ op, params, stop });
    const answer = this.#script[op];
    if (answer === undefined) throw new Error(`The script has no answer to ${op}`);
    return answer(params as never, stop);
  }

  close(): void {
    this.#ended.resolve({ reason: "it was closed", isLost: false });
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
