/** A message that the agent hears: plain JSON, all that taking it needs. */
export interface HeardMessage {
  /** Bare address of the person, or of the room. */
  chatId: string;
  isRoom: boolean;
  /** Bare address of who wrote; in a room that does not show it `<room>/<occupant id or nick>`. */
  senderId: string;
  senderName: string;
  /** Address of the connection that it came from. */
  from: string;
  content: string;
  /** Addresses of files that came with it. */
  urls: readonly string[];
  messageId: string;
  /** `messageId` of the message that it corrects (XEP-0308), or takes back where it says nothing (XEP-0424). */
  replaces?: string;
  /** Milliseconds since 1970. */
  sentAt: number;
  /** Its id as its writer knows it, for receipts; empty where it has none. */
  id: string;
  /** The id by which answers name it (XEP-0461); empty where it has none. */
  replyId: string;
  thread?: string;
  wantsReceipt: boolean;
  wantsMarker: boolean;
  isEncrypted: boolean;
}

/** What is kept of a message's metadata, to answer it. */
export interface XmppMetadata {
  thread?: string;
  /** Nick of who asked in a room. */
  nick?: string;
  replyId?: string;
  replyTo?: string;
}
