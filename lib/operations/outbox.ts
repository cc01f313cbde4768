/**
 * Messages for chats on their way out: what waits or went wrong, what is to become of it, and one by hand.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { z } from "zod";
import { isChatId } from "../base/chat_address.ts";
import { ServiceError } from "../base/errors.ts";
import { CHAT_CHANNEL } from "../contract/chat_session.ts";
import type { Journal, OutboxRow } from "../contract/journal.ts";
import { OUTBOX_STATES } from "../contract/outbox_states.ts";
import type { Outbox } from "../delivery/outbox.ts";
import { channelStatuses } from "./channel_status.ts";
import { DEFAULT_PAGE, pageLimit, seconds, toWire, whole } from "./fields.ts";
import { gatewayOperation, type GatewayParts } from "./operation.ts";

/** What these work on. */
export interface OutboxParts {
  journal: Pick<Journal, "outbox" | "outboxMessage"> & {
    deliveries: Pick<Journal["deliveries"], "resend" | "drop">;
  };
  outbox: Pick<Outbox, "enqueue" | "sayWaiting">;
  /** What waits for a chat may go out. */
  wake(runtimeName: string, chatId: string): void;
  /** Whether a channel, or an instance, of this name is on. */
  isEnabled(runtimeName: string): boolean;
  /** Takes secrets out of a text that will be on record. */
  scrub(text: string): string;
  randomId(): string;
}

const PATH = "/api/webui/outbox";
const ONE = `${PATH}/:id`;
const MAX_TEXT_CHARS = 64 * 1024;

/** Rows that are read at once. */
const READ = 256;

const STATES = [...OUTBOX_STATES, "all"] as const;
const statesForm = `one of ${STATES.join(", ")}`;
const channelForm = "the runtime name of a channel";
const channel = z.string(channelForm).min(1, channelForm).max(200, channelForm);
const chatForm = "the id of a chat: 1 to 256 visible characters";
const textForm = `text of 1 to ${MAX_TEXT_CHARS} characters`;
const id = whole(1);

const outboxRow = z.object({
  id: z.int().describe("Place in the order of delivery."),
  channel: z.string().describe("Runtime name: the channel, or one of its instances."),
  chat_id: z.string(),
  text: z.string(),
  files: z.array(z.string()).describe("Names of the files that go with it."),
  state: z.enum(OUTBOX_STATES),
  partial: z.boolean().describe("Part of a streamed answer, of which some may have arrived."),
  attempts: z.int(),
  error: z.string().optional().describe("Why the last attempt failed."),
  turn_id: z.string().optional().describe("Turn that sent it."),
  created_at: seconds,
  expires_at: seconds,
  next_attempt_at: seconds.optional(),
}).describe("A message for a chat.");

/** Operations on the outbox. */
export const OUTBOX = {
  "outbox.list": gatewayOperation({
    summary: "List undelivered messages",
    // What is written to people is for whoever may decide on it.
    scope: "operate",
    command: "outbox list",
    input: z.object({
      state: z.array(z.enum(STATES, statesForm)).optional()
        .describe(`Only these states: ${STATES.join(", ")} (default: all but sent).`),
      channel: channel.optional().describe("Only this channel or instance."),
      limit: pageLimit(1_000),
      after: whole(0).optional().describe(
        "Only messages after this one, such as the cursor of a page.",
      ),
    }),
    output: z.object({
      messages: z.array(outboxRow).describe("In the order of delivery."),
      after: z.int().optional().describe("Cursor of the next page; absent on the last."),
    }),
    route: { method: "GET", path: PATH },
    async run({ state = [], channel, limit = DEFAULT_PAGE, after = 0 }, { journal }, { signal }) {
      const isWanted = (row: OutboxRow) =>
        (state.length === 0 ? row.state !== "sent" : isNamed(row, state)) &&
        (channel === undefined || row.channel === channel);
      const found: OutboxRow[] = [];
      for (let from = after; found.length <= limit && !signal.aborted;) {
        const rows = journal.outbox(from, READ);
        found.push(...rows.filter(isWanted));
        if (rows.length < READ) break;
        from = rows.at(-1)!.rowid;
        // There may be many that are not asked for: others have their turn in between.
        await new Promise((resolve) => setImmediate(resolve));
      }
      const page = found.slice(0, limit);
      return {
        messages: page.map(rowOf),
        ...found.length > limit && { after: page.at(-1)!.rowid },
      };
    },
  }),
  "outbox.send": gatewayOperation({
    summary: "Send a message to a chat",
    scope: "operate",
    command: "channels send",
    args: ["channel", "chat_id", "text"],
    input: z.object({
      channel,
      chat_id: z.string(chatForm).refine(isChatId, chatForm),
      text: z.string(textForm).max(MAX_TEXT_CHARS, textForm)
        .refine((text) => text.trim() !== "", textForm),
    }, "an object"),
    output: outboxRow,
    route: {
      method: "POST",
      path: PATH,
      errors: ["not_found", "overloaded"],
      maxBodyBytes: 512 * 1024,
    },
    async run({ channel, chat_id: chatId, text }, parts) {
      requireRunning(channel, parts);
      const { journal, outbox, scrub, randomId } = parts;
      const id = `test:${randomId()}`;
      await outbox.enqueue({ id, channel, chatId, content: scrub(text) });
      return rowOf(journal.outboxMessage(id)!);
    },
  }),
  "outbox.get": gatewayOperation({
    summary: "Show a message of the outbox",
    scope: "operate",
    input: z.object({ id }),
    output: outboxRow,
    route: { method: "GET", path: ONE, errors: ["invalid_request", "not_found"] },
    run({ id }, { journal }) {
      const [row] = journal.outbox(id - 1, 1);
      if (row?.rowid === id) return rowOf(row);
      throw new ServiceError("not_found", `There is no message ${id}`, { param: "id" });
    },
  }),
  "outbox.resend": gatewayOperation({
    summary: "Send a message again; it may arrive twice",
    scope: "operate",
    command: "outbox resend",
    input: z.object({ id }),
    output: outboxRow,
    route: { method: "POST", path: `${ONE}/resend`, errors: ["invalid_request", "not_found"] },
    async run({ id }, { journal, outbox, wake, isEnabled }) {
      const row = await journal.deliveries.resend(id);
      // Nothing else delivers to chats of this service.
      if (row.channel !== CHAT_CHANNEL) wake(row.channel, row.chatId);
      else if (isEnabled(CHAT_CHANNEL)) await outbox.sayWaiting();
      return rowOf(row);
    },
  }),
  "outbox.drop": gatewayOperation({
    summary: "Give up on a message",
    scope: "operate",
    command: "outbox drop",
    input: z.object({ id }),
    output: outboxRow,
    route: { method: "POST", path: `${ONE}/drop`, errors: ["invalid_request", "not_found"] },
    async run({ id }, { journal, wake }) {
      const row = await journal.deliveries.drop(id);
      // What it held up may go out.
      wake(row.channel, row.chatId);
      return rowOf(row);
    },
  }),
};

function isNamed({ state }: OutboxRow, states: readonly (typeof STATES[number])[]): boolean {
  return states.some((each) => each === "all" || each === state);
}

function requireRunning(runtimeName: string, parts: GatewayParts): void {
  const all = channelStatuses(parts);
  const status = all.find((each) => each.runtimeName === runtimeName);
  if (status === undefined && runtimeName !== CHAT_CHANNEL) {
    const known = [...all.map((each) => each.runtimeName), CHAT_CHANNEL];
    throw new ServiceError(
      "not_found",
      `There is no channel ${JSON.stringify(runtimeName)}; there are ${known.join(", ")}`,
      { param: "channel" },
    );
  }
  if (status === undefined ? parts.isEnabled(runtimeName) : status.state !== "off") return;
  // It would wait for a day, and be sent when nobody thinks of it any more.
  throw new ServiceError(
    "not_enabled",
    `The channel ${runtimeName} is switched off: service plugins enable ${runtimeName}`,
  );
}

function rowOf(row: OutboxRow) {
  return toWire(outboxRow, {
    ...row,
    id: row.rowid,
    text: row.content,
    files: (row.media ?? []).map(({ name }) => name),
    partial: row.isPiece === true,
    nextAttemptAt: row.notBefore,
  });
}
