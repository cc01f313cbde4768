import type { DeliveryStore } from "../contract/delivery_store.ts";
import type { ChannelTurnRows } from "./channel_turns.ts";
import { checkInteger } from "./checks.ts";
import { checkMessage, type Outbox } from "./outbox.ts";
import type { MissedMessages } from "../contract/journal.ts";
import type { OutboxLanes } from "./outbox_lanes.ts";
import type { Writer } from "./writer.ts";

/** What {@linkcode createDeliveryStore} needs. */
export interface DeliveryStoreDependencies {
  writer: Writer;
  outbox: Outbox;
  lanes: OutboxLanes;
  channelTurns: ChannelTurnRows;
  missed: Pick<MissedMessages, "sweep">;
}

/** The {@linkcode DeliveryStore} of a journal. */
export function createDeliveryStore(
  { writer, outbox, lanes, channelTurns, missed }: DeliveryStoreDependencies,
): DeliveryStore {
  return {
    chats(runtimeName, afterChatId, limit) {
      checkInteger("limit", limit, 1);
      return lanes.chats(runtimeName, afterChatId, limit);
    },
    claim: (runtimeName, chatId, isDue) =>
      writer.write("full", () => lanes.claim(runtimeName, chatId, isDue)),
    // Without it the attempt is one of which nobody knows how it went: nothing is sent twice.
    settle: (rowid, settlement) => writer.write("normal", () => lanes.settle(rowid, settlement)),
    retryUnknown: (runtimeName) => writer.write("full", () => lanes.retryUnknown(runtimeName)),
    counts: (runtimeName) => lanes.counts(runtimeName),
    tidy: () =>
      writer.write("normal", () => {
        outbox.tidy();
        missed.sweep();
      }),
    async resend(rowid) {
      checkInteger("message", rowid, 1);
      return await writer.write("full", () => lanes.resend(rowid));
    },
    async drop(rowid) {
      checkInteger("message", rowid, 1);
      return await writer.write("full", () => lanes.drop(rowid));
    },

    turn: (turnId) => channelTurns.find(turnId),
    turns(afterRowid, limit) {
      checkInteger("afterRowid", afterRowid, 0);
      checkInteger("limit", limit, 1);
      return channelTurns.page(afterRowid, limit);
    },
    async move(rowid, { seq, stream, add = [], withdraw = [], done = false }, durability = "full") {
      for (const { message } of add) checkMessage(message);
      const chars = add.reduce((sum, { message }) => sum + message.content.length, 0);
      return await writer.write(durability, () => {
        if (!channelTurns.update(rowid, { seq, stream })) return false;
        for (const added of add) outbox.add(added);
        for (const id of withdraw) outbox.withdraw(id);
        if (done) channelTurns.remove(rowid);
        return true;
      }, chars);
    },
  };
}
