/**
 * What waits in the inbox, as plain JSON.
 *
 * @module
 */

/** A file that came with a message. */
export interface HeardFile {
  mxc: string;
  /** JSON of how it is encrypted (`EncryptedFile`), in encrypted rooms. */
  sealed?: string;
  name: string;
  /** As the sender's client says; nobody has counted. */
  size?: number;
  /** Spoken into the client. */
  isVoice: boolean;
}

/** A message of somebody who may write. */
export interface Heard {
  roomId: string;
  chatId: string;
  threadId?: string;
  eventId: string;
  /** Event that was edited; redacted, where nothing is said. */
  replaces?: string;
  senderId: string;
  senderName: string;
  content: string;
  sentAt?: number;
  /** Whether the answer is to name whom it answers: others read along. */
  isShared: boolean;
  file?: HeardFile;
}

/** What is to be done once, at whichever attempt, also after a restart. */
export type Task =
  /** Somebody invites the account: it comes, or declines. */
  | { task: "invite"; roomId: string; inviter: string; isEncrypted?: boolean }
  /** The people of an encrypted room are told that nothing is read there. */
  | { task: "tell_encrypted"; roomId: string };

export type MatrixItem = Heard | Task;
