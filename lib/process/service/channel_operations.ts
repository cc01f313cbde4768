/**
 * What the operations of the local protocol about channels do.
 *
 * @module
 */

import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { ChannelStatus } from "../../channel/channel_status.ts";
import { isChatId } from "../../base/chat_address.ts";
import { CHAT_CHANNEL } from "../../contract/chat_session.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Journal, OutboxRow } from "../../contract/journal.ts";
import type { OperationHandlers } from "../../local/server.ts";
import { checkParams } from "./check_params.ts";
import type { Outbox } from "../../delivery/outbox.ts";

/** Longest wait for a delivery, milliseconds. */
const MAX_WAIT_MS = 600_000;

const MAX_TEXT_CHARS = 64 * 1024;

/** How often it is looked for how far the message is. */
const LOOK_MS = 100;

const sendParams = z.object({
  runtimeName: z.string().min(1).max(128),
  chatId: z.string().refine(isChatId, "expected the id of a chat: 1 to 256 visible characters"),
  text: z.string().max(MAX_TEXT_CHARS).refine((text) => text.trim() !== "", "expected a text"),
  waitMs: z.int().min(0).max(MAX_WAIT_MS),
});

/** What the operations work on. */
export interface ChannelOperationDeps {
  /** How each instance is, websocket left out. */
  statuses: () => readonly ChannelStatus[];
  outbox: Pick<Outbox, "enqueue">;
  journal: Pick<Journal, "outboxMessage">;
  /** Whether a channel of this name runs, websocket included. */
  isEnabled: (runtimeName: string) => boolean;
  /** Takes secrets out of a text that will be on record. */
  scrub: (text: string) => string;
  randomId: () => string;
  clock: Clock;
}

/** The handlers; each checks its parameters and names what is wrong with them. */
export function createChannelOperations(
  { statuses, outbox, journal, isEnabled, scrub, randomId, clock }: ChannelOperationDeps,
): Required<Pick<OperationHandlers, "channels" | "channel_send">> {
  return {
    async *channels() {
      yield* statuses();
    },
    async *channel_send(params, signal) {
      const { runtimeName, chatId, text, waitMs } = checkParams(sendParams, params);
      requireRunning(runtimeName);
      const id = `test:${randomId()}`;
      await outbox.enqueue({ id, channel: runtimeName, chatId, content: scrub(text) });
      const until = clock.elapsed() + waitMs;
      let last = "";
      while (true) {
        const row = journal.outboxMessage(id);
        // It goes with what is old, or with its session.
        if (row === undefined) return;
        const { state, attempts, error } = row;
        const now = JSON.stringify([state, attempts, error]);
        if (now !== last) yield row;
        last = now;
        if (isOver(row) || signal.aborted || clock.elapsed() >= until) return;
        await sleep(Math.min(LOOK_MS, until - clock.elapsed()), signal, clock);
      }
    },
  };

  function requireRunning(runtimeName: string): void {
    const all = statuses();
    const status = all.find((each) => each.runtimeName === runtimeName);
    if (status === undefined && runtimeName !== CHAT_CHANNEL) {
      const known = [...all.map((each) => each.runtimeName), CHAT_CHANNEL];
      throw new ServiceError(
        "not_found",
        `There is no channel ${JSON.stringify(runtimeName)}; there are ${known.join(", ")}`,
        { param: "runtimeName" },
      );
    }
    if (status === undefined ? isEnabled(runtimeName) : status.state !== "off") return;
    // It would wait for a day, and be sent when nobody thinks of it any more.
    throw new ServiceError(
      "not_enabled",
      `The channel ${runtimeName} is switched off: service plugins enable ${runtimeName}`,
    );
  }
}

function isOver({ state }: OutboxRow): boolean {
  return state !== "pending" && state !== "sending";
}

function sleep(ms: number, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(Math.max(0, ms), done);
    signal.addEventListener("abort", done, { once: true });
  });
}
