/**
 * The service side of the local protocol: answers one guest.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { type Answering, type Endpoint, type Handlers, NO_ENDPOINT } from "../rpc/endpoint.ts";
import { Peer } from "../rpc/peer.ts";
import { serviceErrors } from "../rpc/service_errors.ts";
import { type ByteStreams, streamTransport } from "../rpc/stream_transport.ts";
import { createScrubber, type Scrubber } from "../secrets/scrubber.ts";
import {
  type Item,
  MAX_MESSAGE_BYTES,
  type Operation,
  type Params,
  type Result,
} from "./protocol.ts";

type Handler<Op extends Operation> = (
  params: Params<Op>,
  signal: AbortSignal,
) => [Item<Op>] extends [never] ? Promise<Result<Op>>
  : Op extends "operate" ? Promise<unknown>
  : AsyncIterable<Item<Op>>;

/** What answers each operation. The signal aborts when the guest cancels or goes away. */
export type OperationHandlers = { [Op in Operation]: Handler<Op> };

/** Most operations that one guest may have under way. */
const MAX_OPERATIONS = 64;

/**
 * Answers a guest until it goes away; resolves when all its operations have ended. Never rejects.
 * A guest that reads slowly slows its own operations and nothing else.
 */
export async function serveGuest(
  streams: ByteStreams,
  { handlers, version, key, scrubber = createScrubber() }: {
    handlers: OperationHandlers;
    version: string;
    key?: string;
    /** Takes secrets out of answers, such as those of a history that is older than the secret. */
    scrubber?: Pick<Scrubber, "value">;
  },
): Promise<void> {
  let isOpen = false;
  const running = new Set<Promise<unknown>>();
  const calls: Handlers<Endpoint>["calls"] = {
    open(params) {
      isOpen = key === undefined || (params as { key?: unknown }).key === key;
      if (!isOpen) peer.close("it has not said the key");
      return { version };
    },
  };
  for (const [op, handler] of Object.entries(handlers)) {
    calls[op] = (params, answering) => {
      if (!isOpen) throw new ServiceError("invalid_request", "The connection is not open yet");
      const task = answer(handler(params as never, answering.signal), answering)
        .finally(() => running.delete(task));
      running.add(task);
      return task;
    };
  }
  const errors = serviceErrors();
  const peer = new Peer({
    transport: streamTransport(streams, { maxFrameBytes: MAX_MESSAGE_BYTES }),
    mine: { calls: Object.fromEntries(Object.keys(calls).map((op) => [op, {}])), notices: {} },
    theirs: NO_ENDPOINT,
    handlers: { calls, notices: {} },
    errors: {
      ...errors,
      encode: (error) => scrubber.value(errors.encode(error)),
      busy: () => new ServiceError("queue_full", `${MAX_OPERATIONS} operations are under way`),
      unknown(op) {
        const known = Object.keys(handlers).join(", ");
        const message = `Unknown operation "${op}"; known: ${known}`;
        return new ServiceError("invalid_request", message, { param: "op" });
      },
    },
    maxAnswering: MAX_OPERATIONS,
  });
  await peer.ended;
  await Promise.allSettled(running);

  async function answer(
    said: Promise<unknown> | AsyncIterable<unknown>,
    { progress }: Answering<unknown>,
  ): Promise<unknown> {
    const answer = await said;
    if (!isIterable(answer)) return scrubber.value(answer);
    for await (const item of answer) await progress(scrubber.value(item));
  }
}

function isIterable(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;
}
