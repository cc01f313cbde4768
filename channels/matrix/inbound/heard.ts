/**
 * What waits in the intake: a message of somebody who may write, as plain JSON.
 *
 * @module
 */

/** A file that came with a message. */
export interface HeardFile {
  mxc: string;
  name: string;
  mimeType: string;
  /** As the sender's client says; nobody has counted. */
  size: number | undefined;
  /** Spoken into the client. */
  isVoice: boolean;
}

export interface Heard {
  /** `command`: a reaction that answers an approval; nothing is shown for it. */
  kind: "message" | "command";
  roomId: string;
  chatId: string;
  threadId?: string;
  eventId: string;
  senderId: string;
  senderName: string;
  content: string;
  sentAt?: number;
  /** Whether the answer is to name whom it answers: others read along. */
  isShared: boolean;
  file?: HeardFile;
}
