/**
 * A message on its way in from a channel.
 *
 * @module
 */

import type { TextPart } from "./text_part.ts";

/** Characters of a message's text. */
export const MAX_INBOUND_CHARS = 256 * 1024;

/** Characters of `metadata` as JSON. */
export const MAX_METADATA_CHARS = 16 * 1024;

/** Pieces of different provenance that a message may have. */
export const MAX_INBOUND_PARTS = 1_000;

/** What a runtime says of a message. */
export interface HandledMessage {
  /** The platform's immutable id of who wrote it, where it has one. */
  senderId: string;
  /** Where an answer goes; the same value comes back in `OutboundMessage.chatId`. */
  chatId: string;
  /** What it says. Without `parts`, all of it counts as the sender's own words. */
  content: string;
  /**
   * The same in pieces, in their order, where not all of it is the sender's own: what they quote or
   * forward, what a recording says. Only `own` text is an order, and names hosts that may be fetched from
   * unasked. Counts in place of `content`; `inPieces` makes both.
   */
  parts?: readonly TextPart[];
  /**
   * Paths of files in the channel's own folder, which the service copies. Of more than 4, more than 8 MiB
   * each or 24 MiB together, the rest is left out and named in the message. They may be removed when the
   * message was accepted.
   */
  media?: readonly string[];
  /** Plain JSON that comes back with everything that answers it, such as `message_id` for threads. */
  metadata?: Readonly<Record<string, unknown>>;
  /**
   * Another session than that of the chat: `<runtime name>:<anything>`, so that a thread can have one of
   * its own.
   */
  sessionKey?: string;
  /**
   * The platform's own id of the message in its chat. A repeat of it within 8 days starts no second turn;
   * without one nothing tells a repeat.
   */
  messageId?: string;
  /**
   * `messageId` of an earlier message of the same sender in that chat, which was edited: this is what it
   * says now, and nothing is left of it where this is empty. That counts as long as its turn waits.
   */
  replaces?: string;
  /** How the sender is called; shown, never compared. */
  senderName?: string;
  /**
   * When it was written, by the platform's clock: milliseconds since 1970, one in the future counts as
   * now. One that is older than
   * `catchUpS` of the section is listed and not answered; without a time it is answered.
   */
  sentAt?: number;
}

/** As it crosses to the service: plain data. */
export interface InboundMessage extends HandledMessage {
  /** Whether the channel takes the answer piece by piece. */
  streaming: boolean;
}

/** What became of a message. The platform is acknowledged after this and not before. */
export type Published =
  /** Its turn is on the disk; `repeated`: it was already. */
  | { kind: "turn"; turnId: string; repeated: boolean }
  /** It was a command of the chat; its answer goes out like any other. */
  | { kind: "command" }
  /** It came too late to be answered, and is listed: `service channels missed`. */
  | { kind: "late" }
  /** It changed an earlier one, which waited; or nothing, as that one was begun before, or never came. */
  | { kind: "edit"; counts: boolean }
  /** `allowFrom` does not list the sender: nothing is on record. */
  | { kind: "denied" };
