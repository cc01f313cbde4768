/**
 * What an update comes to: all that taking it later needs, as plain JSON.
 *
 * @module
 */

import type { Provenance, TextPart } from "../../../lib/channel/mod.ts";

/** A file that can be fetched. */
export interface FileRef {
  fileId: string;
  kind: "photo" | "voice" | "audio" | "file";
  name: string;
  /** Where Telegram says it. */
  bytes?: number;
  /** Of what is said in it; absent: the sender's own. */
  provenance?: Provenance;
}

/** A message of a person, addressed to the bot. */
export interface HeardMessage {
  chatId: string;
  messageId: number;
  senderId: string;
  senderName: string;
  /** Milliseconds since 1970. */
  sentAt: number;
  /** It is an earlier one as it was changed then, seconds since 1970. */
  editedAt?: number;
  text: string;
  /** It in pieces, where it is not all the sender's own words. */
  parts?: readonly TextPart[];
  files: FileRef[];
  /** It is one of several messages that were sent as an album. */
  albumId?: string;
}

/** Somebody has clicked on a button. */
export interface HeardClick {
  chatId: string;
  queryId: string;
  senderId: string;
  senderName: string;
  data: string;
}

/** What waits in the intake. */
export type Heard =
  | { kind: "message"; message: HeardMessage }
  /** The messages of one album, as one. */
  | { kind: "album"; messages: HeardMessage[] };

/** What an update says. */
export type UpdateMeaning =
  | Extract<Heard, { kind: "message" }>
  | { kind: "click"; click: HeardClick }
  /** A group has another number from now on. */
  | { kind: "moved"; from: number; to: number };
