import type { Said } from "../../../lib/channel/platform/mod.ts";

/** What waits to be given to the service. Plain JSON. */
export interface InboundItem extends Said {
  senderId: string;
  senderName?: string;
  /** The channel or thread that it was written in. */
  chatId: string;
  /** Of the message, or of the interaction. */
  messageId: string;
  /** It is an earlier one as it was changed then. */
  editedAt?: string;
  /** Milliseconds since 1970. */
  sentAt: number;
  files: InboundFile[];
  /** The first file is somebody who speaks. */
  isVoice: boolean;
  /** Written on a server, in a channel in which an answer may have a thread of its own. */
  mayThread: boolean;
  /** A message that can have a reaction. */
  isMessage: boolean;
  metadata: Record<string, unknown>;
}

/** A file of a message. */
export interface InboundFile {
  name: string;
  url: string;
  sizeBytes: number;
  contentType?: string;
}
