/**
 * The chats of a channel that lives in the service and shows the journal itself, such as the WebSocket
 * server: it needs no outbox and no copy of anything, since its readers are cursors.
 *
 * @module
 */

import type { StoredEvent } from "./events.ts";
import type { InputFile } from "./input_file.ts";

/** Where a chat is stored: its id, within the workspace of a person whom a proxy vouches for. */
export interface ChatPlace {
  chatId: string;
  /** 64 hex digits; absent: the default workspace. */
  workspaceKey?: string;
}

/** Who writes into a chat. */
export interface Sender {
  /** `websocket:<client id>`, or `webui:<claim value>` of somebody whom a proxy vouches for. */
  actor: string;
  /** Of the token; absent for whoever is not narrowed. */
  scopes?: readonly string[];
}

/** A message for a chat. */
export interface ChatMessage extends ChatPlace {
  sender: Sender;
  text: string;
  files: readonly InputFile[];
  /** A repeat of it in this chat starts no second turn. */
  clientMsgId?: string;
}

/** What became of a message. */
export type Sent =
  /** Its turn is on the disk. */
  | { kind: "turn"; turnId: string; repeated: boolean }
  /** It was a command of the chat, which is on no record. */
  | { kind: "command"; text: string };

/** A wait that can be given up. */
export interface Waiting {
  return(): void;
}

/** Events of a chat as they come. */
export interface Follow extends AsyncIterable<StoredEvent> {
  /** Ends it at once, also while it waits. */
  return(): Promise<unknown>;
}

/** How far a chat is. */
export interface ChatHead {
  /** Newest event; 0 for a chat that is empty or unknown, which nobody can tell apart. */
  seq: number;
  /** Another one than before means that numbers seen before no longer count. */
  epoch: string;
}

/** Everything rejects with a ServiceError whose message is for the client. */
export interface Chats {
  head(place: ChatPlace): ChatHead;
  /**
   * Calls when a chat that is not there yet is made, in time to follow it from its first event on.
   * Undefined, and nothing is called, when it is there. An idle connection holds this and no more.
   */
  whenMade(place: ChatPlace, call: () => void): Waiting | undefined;
  /**
   * Events of a chat after a number, then live ones. A chat that is not there yet is waited for, at the
   * cost of an entry in a map. Ends when the chat is deleted.
   */
  follow(place: ChatPlace, options: { afterSeq: number }): Follow;
  /** Accepts a message: resolves when it is on the disk (the signal aborts reading its files alone). */
  send(message: ChatMessage, signal: AbortSignal): Promise<Sent>;
  /** Ends the turn that runs; false when none does. */
  cancel(place: ChatPlace): boolean;
  /** Makes a chat of the beginning of another one of the same workspace. */
  fork(fork: ChatPlace & { sourceChatId: string; beforeUserIndex: number }): Promise<void>;
  /**
   * A connection that may write is in the chat, until the returned function is called. A turn's requester
   * counts as gone when none has been for 60 s.
   */
  join(place: ChatPlace): () => void;
  /**
   * Puts a message of the agent into a chat, once for each id. Resolves when it is on the disk.
   */
  say(message: ChatPlace & { id: string; text: string; media: readonly string[] }): Promise<void>;
  /** What is said in an audio; rejects with `not_enabled` while transcription is off. */
  transcribe(dataUrl: string, signal: AbortSignal): Promise<string>;
}
