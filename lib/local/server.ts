/**
 * The service side of the local protocol: answers one guest, and listens for guests.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../base/errors.ts";
import { createScrubber, type Scrubber } from "../secrets/scrubber.ts";
import type {
  AutomationOperations,
  ChannelOperations,
  LocalRequest,
  LocalResponse,
  Operation,
  Operations,
  OutboxOperations,
} from "./protocol.ts";
import { type Duplex, lineWriter, readLines } from "./wire.ts";

type Handler<Op extends Operation> = (
  params: Operations[Op]["params"],
  signal: AbortSignal,
) => AsyncIterable<Operations[Op]["data"]>;

type Optional = keyof (AutomationOperations & OutboxOperations & ChannelOperations);

/**
 * What answers each operation; those of automations, the outbox and channels where there are some. The
 * signal aborts when the guest cancels or goes away.
 */
export type OperationHandlers =
  & { [Op in Exclude<Operation, Optional>]: Handler<Op> }
  & { [Op in Optional]?: Handler<Op> };

/** Most operations that one guest may have under way. */
const MAX_OPERATIONS = 64;

/**
 * Answers a guest until it goes away; resolves when all its operations have ended. Never rejects.
 * A guest that reads slowly slows its own operations and nothing else.
 */
export async function serveGuest(
  duplex: Duplex,
  { handlers, version, key, scrubber = createScrubber() }: {
    handlers: OperationHandlers;
    version: string;
    key?: string;
    /** Takes secrets out of answers, such as those of a history that is older than the secret. */
    scrubber?: Pick<Scrubber, "value">;
  },
): Promise<void> {
  const writer = lineWriter(duplex.writable);
  const respond = (response: LocalResponse) => writer.write(scrubber.value(response));
  const running = new Map<number, AbortController>();
  const tasks = new Set<Promise<void>>();
  const lines = readLines(duplex.readable);
  try {
    if (key !== undefined) {
      const first = (await lines.next()).value as { key?: unknown } | undefined;
      if (first?.key !== key) return;
    }
    await writer.write({ hello: version });
    for await (const line of lines) {
      const request = line as LocalRequest;
      if (request.op === "cancel") running.get(request.id)?.abort();
      else if (running.size >= MAX_OPERATIONS) {
        const error = new ServiceError("queue_full", `${MAX_OPERATIONS} operations are under way`);
        await respond({ id: request.id, error: toErrorData(error) });
      } else {
        const controller = new AbortController();
        running.set(request.id, controller);
        const task = answer(request, controller.signal).finally(() => {
          running.delete(request.id);
          tasks.delete(task);
        });
        tasks.add(task);
      }
    }
  } catch {
    // The guest sent something unreadable or vanished: its operations end below.
  } finally {
    for (const controller of running.values()) controller.abort();
    await Promise.allSettled(tasks);
    await writer.close();
  }

  async function answer(
    { id, op, params }: Exclude<LocalRequest, { op: "cancel" }>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      if (!Object.hasOwn(handlers, op)) {
        const known = Object.keys(handlers).join(", ");
        throw new ServiceError("invalid_request", `Unknown operation "${op}"; known: ${known}`, {
          param: "op",
        });
      }
      const data =
        (handlers[op] as (params: unknown, signal: AbortSignal) => AsyncIterable<unknown>)(
          params,
          signal,
        );
      for await (const item of data) await respond({ id, data: item });
      await respond({ id, end: true });
    } catch (error) {
      await respond({ id, error: toErrorData(error) }).catch(() => {});
    }
  }
}
