/**
 * Approvals: Matrix has no buttons, so a message that asks has two reactions to click, and each is taken
 * for the command that answers it. Which message asks what is kept, so that it is known after a restart.
 *
 * @module
 */

import type { OutboundEvent, OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import { approvalCommand, type Memory } from "../../../lib/channel/platform/mod.ts";
import type { Heard } from "../inbound/heard.ts";
import { type MatrixEvent, record } from "../sync/sync_answer.ts";
import { editContent, textContent } from "../text/message_content.ts";
import type { Words } from "../words.ts";
import type { MessageSender } from "./message_sender.ts";
import type { RoomWriter } from "./room_writer.ts";
import type { Transactions } from "./transactions.ts";

/** What approvals are shown with. */
export interface ApprovalsDeps {
  sender: MessageSender;
  writer: RoomWriter;
  transactions: Transactions;
  memory: Pick<Memory, "get" | "set">;
  words: Words;
  now: () => number;
  log: { warning(message: string, fields?: Record<string, string>): void };
}

type Asked = OutboundEvent & { type: "approval" };
type Resolved = OutboundEvent & { type: "approval_resolved" };

/** A message that asks. */
interface Kept {
  id: string;
  /** First 8 digits of the digest. */
  digest: string;
  chatId: string;
  text: string;
  expiresAt: number;
  isOver: boolean;
  /** Who has reacted, and with which event: at most so many as are worth knowing. */
  reacted: Record<string, string>;
}

const YES = "✅";
const NO = "❌";
const MAX_REACTED = 50;
const MAX_KEPT_CHARS = 4_000;

export class Approvals {
  readonly #deps: ApprovalsDeps;
  readonly #telling = new Set<Promise<void>>();

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
  }

  /** Asks. Rejects as a send does. */
  async ask(message: OutboundMessage, { id, digest, expiresAt, denyOnly }: Asked): Promise<void> {
    const { sender, writer, transactions, memory, words } = this.#deps;
    const { chatId, content } = message;
    const hint = content.trim() === "" || denyOnly ? "" : `\n\n${words("react")}`;
    const [eventId] = await sender.send({ ...message, content: content + hint });
    if (eventId === undefined) return;
    const kept: Kept = {
      id,
      digest: digest.slice(0, 8),
      chatId,
      text: message.content.slice(0, MAX_KEPT_CHARS).toWellFormed(),
      expiresAt,
      isOver: false,
      reacted: {},
    };
    // A second try of the same message has not asked anew.
    if (memory.get("approval", eventId) === undefined) memory.set("approval", eventId, kept);
    memory.set("approval_message", `${chatId} ${id}`, eventId);
    const { roomId } = writer.placeOf(chatId);
    for (const key of denyOnly ? [NO] : [YES, NO]) {
      // They only save typing: without them people choose the same two by hand.
      await writer.react(roomId, eventId, key, await transactions.idOf("react", eventId, key))
        .catch((error) => this.#deps.log.warning("A reaction could not be added", reasonOf(error)));
    }
  }

  /** Shows in the message how it came out. Rejects as a send does. */
  async resolved(message: OutboundMessage, { id, outcome }: Resolved): Promise<void> {
    const { sender, writer, transactions, memory, words } = this.#deps;
    const { chatId } = message;
    const eventId = memory.get<string>("approval_message", `${chatId} ${id}`);
    const kept = eventId === undefined ? undefined : memory.get<Kept>("approval", eventId);
    if (eventId === undefined || kept === undefined) return void await sender.send(message);
    memory.set("approval", eventId, { ...kept, isOver: true });
    const how = message.content.trim() === "" ? words(outcome) : message.content;
    const { roomId } = writer.placeOf(chatId);
    const event = editContent(eventId, `${kept.text}\n\n${how}`, "m.text");
    const txnId = await transactions.idOf("resolved", chatId, id);
    await writer.send(roomId, "m.room.message", event, txnId);
  }

  /** The command that a reaction is, once for each person; one that is too late gets a word. */
  readReaction(roomId: string, event: MatrixEvent): Heard | undefined {
    const { memory, now } = this.#deps;
    const { rel_type, event_id: eventId, key } = record(event.content["m.relates_to"]);
    if (rel_type !== "m.annotation" || typeof eventId !== "string") return undefined;
    // With or without the selector that asks for the coloured form.
    const mark = typeof key === "string" ? key.replaceAll("\uFE0F", "") : "";
    if (mark !== YES && mark !== NO) return undefined;
    const kept = memory.get<Kept>("approval", eventId);
    if (kept === undefined || kept.chatId.split("/$")[0] !== roomId) return undefined;
    if (kept.isOver || kept.expiresAt <= now()) {
      return void this.#tellLate(kept, eventId, event.sender);
    }
    // The same event again is one that was not on the disk yet.
    const first = kept.reacted[event.sender];
    if (first !== undefined && first !== event.eventId) return undefined;
    // A crowd that may not answer keeps nobody from it who may.
    if (Object.keys(kept.reacted).length < MAX_REACTED) {
      const reacted = { ...kept.reacted, [event.sender]: event.eventId };
      memory.set("approval", eventId, { ...kept, reacted });
    }
    return {
      kind: "command",
      roomId,
      chatId: kept.chatId,
      eventId: event.eventId,
      senderId: event.sender,
      senderName: event.sender,
      content: approvalCommand({ ...kept, isApproved: mark === YES }),
      isShared: false,
      ...event.sentAt !== undefined && { sentAt: event.sentAt },
    };
  }

  /** Resolves when nothing is being said any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#telling);
  }

  /** Once to each person: the same transaction again is the same event. */
  #tellLate({ chatId }: Kept, eventId: string, userId: string): void {
    const { writer, transactions, words, log } = this.#deps;
    const tell = async () => {
      const { roomId, threadId } = writer.placeOf(chatId);
      const relation = threadId === undefined ? {} : { threadId };
      const event = textContent(words("alreadyAnswered"), "m.notice", relation);
      const txnId = await transactions.idOf("late", eventId, userId);
      await writer.send(roomId, "m.room.message", event, txnId);
    };
    const telling = tell()
      .catch((error) => log.warning("A late answer could not be told so", reasonOf(error)))
      .finally(() => this.#telling.delete(telling));
    this.#telling.add(telling);
  }
}

function reasonOf(error: unknown): { reason: string } {
  return { reason: error instanceof Error ? error.message : String(error) };
}
