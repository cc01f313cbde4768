/**
 * Answers that grow in place, by edits of their message.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { EditedStreams, type StreamPlace } from "../../../lib/channel/platform/edited_streams.ts";
import { editContent, partsOf, textContent } from "../text/message_content.ts";
import { relationOf } from "./message_sender.ts";
import type { RoomWriter } from "./room_writer.ts";
import type { Transactions } from "./transactions.ts";

/** What streams are shown with. */
export interface StreamsDeps {
  writer: RoomWriter;
  transactions: Transactions;
  clock: Pick<Clock, "after" | "elapsed">;
  /** Least time between two edits of a message, milliseconds. */
  everyMs: number;
}

interface Shown {
  roomId: string;
  eventId: string;
}

/** A post of which nobody knows whether it arrived. */
interface Open {
  txnId: string;
  markdown: string;
}

const MAX_CHATS = 1_000;

/** The streams of a runtime. */
export function createStreams(
  { writer, transactions, clock, everyMs }: StreamsDeps,
): EditedStreams<Shown> {
  const open = new Map<string, Open>();
  /** Events that were answered last: further messages of the same answer call nobody again. */
  const answered = new Map<string, unknown>();

  async function edit({ roomId, eventId }: Shown, markdown: string): Promise<void> {
    const event = editContent(eventId, markdown, "m.text");
    await writer.send(roomId, "m.room.message", event, transactions.newId());
  }

  async function post({ chatId, metadata }: StreamPlace, markdown: string): Promise<Shown> {
    const place = writer.placeOf(chatId);
    const { eventId: question } = metadata;
    const isFirst = question === undefined || answered.get(chatId) !== question;
    const relation = isFirst ? relationOf(place, metadata) : relationOf(place, {});
    // The same text that has grown: the server knows the transaction if it has it.
    const before = open.get(chatId);
    const isAgain = before !== undefined && markdown.startsWith(before.markdown);
    const { txnId } = isAgain ? before : { txnId: transactions.newId() };
    try {
      const event = textContent(markdown, "m.text", relation);
      const eventId = await writer.send(place.roomId, "m.room.message", event, txnId);
      const shown = { roomId: place.roomId, eventId };
      if (isAgain && before.markdown !== markdown) await edit(shown, markdown);
      open.delete(chatId);
      keep(answered, chatId, question);
      return shown;
    } catch (error) {
      const isOver = error instanceof PermanentDeliveryError;
      if (isOver) open.delete(chatId);
      else keep(open, chatId, isAgain ? before : { txnId, markdown });
      throw error;
    }
  }

  return new EditedStreams<Shown>({ post, edit, split: partsOf, everyMs, clock });
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_CHATS) map.delete(map.keys().next().value!);
}
