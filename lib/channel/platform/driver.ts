/**
 * What a chat platform supplies: its wire and its text. `PlatformChannel` does the rest: connecting
 * again, the inbox, streams, notes, approvals, files, typing.
 *
 * A driver never waits, repeats or gives up. Its errors are the errors of deliveries (`callError`), or are
 * made into them by `PlatformChannel.classify`.
 *
 * @module
 */

import type { ChannelHost } from "../channel_host.ts";
import { PermanentDeliveryError } from "../delivery_error.ts";
import type { OutboundMessage } from "../../contract/outbound_message.ts";
import type { TextPart } from "../../contract/text_part.ts";
import type { Verification, VerifyAction } from "../verification.ts";
import type { IntakeEntry } from "./intake.ts";
import type { Memory } from "./memory.ts";
import type { PlatformWords } from "./platform_words.ts";
import type { Said } from "./text_pieces.ts";

/** A message of a person, as a driver reads it. */
export interface PlatformMessage<File = unknown> extends Said {
  chatId: string;
  messageId: string;
  /** An earlier one, which was edited, or taken back where this one is empty; as `HandledMessage.replaces`. */
  replaces?: string;
  /**
   * When it was edited, on a platform that gives an edit no id: it replaces the message with that
   * `messageId`.
   */
  editedAt?: string | number;
  senderId: string;
  senderName?: string;
  /** Milliseconds since 1970. */
  sentAt?: number;
  /** Comes back with everything that answers it. */
  metadata: Readonly<Record<string, unknown>>;
  files?: readonly PlatformFile<File>[];
}

/** Somebody who writes. */
export interface PlatformSender {
  senderId: string;
  senderName?: string;
  /** The chat in which it was written, where it is one with the bot alone. */
  directChatId?: string;
}

/** A file of a message, not yet fetched. */
export interface PlatformFile<File = unknown> {
  name: string;
  /** Bytes, where the platform says it. */
  bytes?: number;
  /** A recording: what is said in it goes into the text. Also set by `fetchFile`, where that learns it. Default: no. */
  isAudio?: boolean;
  /** Whose words a recording is; default `file`. */
  provenance?: TextPart["provenance"];
  /** The recording goes along, beside what is said in it. */
  isKept?: boolean;
  /** By which the driver fetches it. */
  ref: File;
}

/** A file that cannot be read, and why, in words for whoever sent it. */
export class UnreadableFileError extends PermanentDeliveryError {}

/** A click on a button, or a reaction that stands for one. */
export interface PlatformClick {
  approvalId: string;
  isApproved: boolean;
  /** First 8 digits, or all. */
  digest: string;
  senderId: string;
  senderName?: string;
  /** The platform's own: the same click that is told again is no second one. */
  clickId: string;
  /** Where nothing is kept of the approval. */
  chatId: string;
  metadata?: Readonly<Record<string, unknown>>;
  /** Whether a message of ours is the one that was clicked on; absent: the platform has made sure. */
  isOn?: (ref: unknown) => boolean;
}

/** Somebody set a reaction to a message. */
export interface PlatformReaction {
  /** Whether a message of ours is the one. */
  isOn: (ref: unknown) => boolean;
  emoji: string;
  senderId: string;
  senderName?: string;
  /** The platform's own: the same reaction that is told again is no second one. */
  id: string;
}

/** What became of a click; also the key of the word for whoever clicked. */
export type ClickOutcome = "taken" | "answered" | "expired" | "notAllowed" | "failed";

/** A file of a message on its way out. */
export interface OutgoingFile {
  path: string;
  name: string;
  bytes: number;
}

/** A button of an approval. */
export interface ApprovalButton {
  isApproval: boolean;
  label: string;
  approvalId: string;
  /** 64 hexadecimal digits. */
  digest: string;
  expiresAt: number;
}

/** A message to be posted, as one. */
export interface Posting<File = OutgoingFile> {
  chatId: string;
  /** Markdown that fits; "" for files alone. */
  text: string;
  /** `note`: in the quietest form. `own`: a word of the channel itself, or on how a goal stands. */
  kind: "answer" | "note" | "own";
  /** Of what it answers. */
  metadata: Readonly<Record<string, unknown>>;
  /** The same at every attempt, and for nothing else. */
  key: string;
  /** The first of its message: shows what it answers. */
  isFirst: boolean;
  files: readonly File[];
  buttons?: readonly ApprovalButton[];
}

/** A new text for a message of ours; its buttons go. */
export interface Edit {
  text: string;
  kind: "answer" | "note" | "approval";
  /** Nothing follows. */
  isFinal: boolean;
}

/** How files go out. */
export interface FileRules<File> {
  /** Bytes of one. */
  maxBytes: number | (() => Promise<number>);
  /** The platform takes files without a byte. */
  takesEmpty?: boolean;
  /**
   * Hands a file over before it is posted; absent: the post does. `leftMs`: how long it may take, so that
   * whoever sends does not take the message for lost.
   */
  upload?(file: OutgoingFile, chatId: string, leftMs: number): Promise<File>;
  /** Those that go in one post; default: each in its own. */
  group?(files: readonly File[]): File[][];
  /** Whether the first of them stand beside the last text; default: no. */
  joins?(texts: readonly string[], groups: readonly File[][]): boolean;
}

/** A platform that somebody is logged in to. `Ref` names a message of ours, as plain JSON. */
export interface PlatformDriver<Item, Ref, File = OutgoingFile> {
  /**
   * One connection, until the signal is aborted. Resolves with why it is over; with undefined for one to be
   * renewed at once.
   */
  connect(signal: AbortSignal, ready: (who: string) => void): Promise<string | undefined>;
  /** Puts away what it has open. What is stored with the inbox is stored before it resolves. */
  close?(): Promise<void>;
  /** What waits in the inbox, as a message; undefined for nothing to be handed on (yet). */
  read(item: Item): PlatformMessage | undefined | Promise<PlatformMessage | undefined>;
  /** Fetches a file; undefined when it has more bytes. */
  fetchFile?(
    file: PlatformFile,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** How a sender is called, where the message does not say it. */
  nameOf?(senderId: string): Promise<string | undefined>;
  /** Shows that a message was taken. Nobody waits for it. */
  acknowledge?(item: Item, message: PlatformMessage): Promise<unknown>;
  /** A message was handed on, be it one that begins no turn: a command, a repeat. */
  handedOn?(item: Item): Promise<unknown>;
  /** Parts that each fit one message; none for a text of which nothing is shown. */
  split(markdown: string): string[];
  /** A text for a note; default: the first part. */
  noteOf?(markdown: string): string;
  post(posting: Posting<File>): Promise<Ref>;
  /** A post under a key that the platform has had is that message again, with its first text. */
  knowsKeys?: boolean;
  edit(ref: Ref, edit: Edit): Promise<unknown>;
  /** Takes a note away, or leaves it short. `texts`: how many it has had. */
  removeNote(ref: Ref, texts: number): Promise<unknown>;
  /** Least time between two edits in a chat, milliseconds. */
  editEveryMs(chatId: string, kind: "answer" | "note"): number;
  /** The notes stand on the platform, and have to be taken away by the next process; default: yes. */
  keepsNotes?: boolean;
  /** Tells turns of a chat apart that are at work at the same time. */
  turnOf?(metadata: OutboundMessage["metadata"]): string;
  typing?: {
    everyMs: number;
    show(chatId: string): Promise<unknown>;
    hide?(chatId: string): Promise<unknown>;
  };
  /** A turn is over: a reaction goes. */
  turnEnded?(message: OutboundMessage): Promise<unknown>;
  files?: FileRules<File>;
  /** As `BaseChannel.verify`. */
  verify?(action: VerifyAction): Promise<Verification>;
  /** Whether approvals have buttons now; absent: never. */
  hasButtons?(): boolean;
  /** Whether it was an answer to a click, and was shown to whoever clicked alone. */
  answerClick?(message: OutboundMessage): Promise<boolean>;
}

/** What a driver is given. */
export interface PlatformSession<Item> {
  host: ChannelHost;
  memory: Memory;
  words: PlatformWords;
  /** Ends every call, a moment after the channel was stopped. */
  signal: AbortSignal;
  /** As `Intake.cursor`. */
  cursor(name: string): string | undefined;
  /** Stores what came and how far was read, in one step; the platform may be told so then. */
  receive(
    entries: readonly IntakeEntry<Item>[],
    cursors?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** Stores a click that counts. */
  click(click: PlatformClick): Promise<ClickOutcome>;
  /**
   * On a platform without buttons a reaction to an approval answers it: 👍 or ✅, 👎 or ❌; the question says
   * so by `words("react", { yes, no })`. Others are left alone. Whoever is too late gets a word. Never
   * rejects.
   */
  react(reaction: PlatformReaction): Promise<void>;
  /** Whether `allowFrom` lists somebody; who is not listed may be given a code, and is named in the log, once. */
  isAllowed(sender: PlatformSender): boolean;
  /** Says what people should look into, behind "connected as …"; undefined when it is over. */
  warn(problem: string | undefined): void;
  /** How the connection is, while it is not as it should be. */
  say(state: string): void;
  /** The login is refused: the channel ends. */
  refused(error: Error): void;
}
