/**
 * The other side of a channel, as the conformance kit uses it: a server of a test that speaks the
 * platform's wire, or a real one that the test has started.
 *
 * @module
 */

import type { ConnectAnswer } from "../descriptor.ts";

/** Something that somebody writes on the platform. */
export interface PlatformMessage {
  text: string;
  /** One of {@linkcode ChannelPlatform.senders}, where a person writes. */
  senderId: string;
  /** `own`: from the account that the channel itself writes with. */
  from: "person" | "bot" | "own";
}

/** What has arrived on the platform, as a person sees it. */
export interface PlatformSent {
  chatId: string;
  /** A message that was edited has its last text. */
  text: string;
  /** Names of files that came with it. */
  files?: readonly string[];
}

/**
 * Each check opens one of its own. A hook that a platform cannot have is left out, and the
 * checks that need it are named under `exempt` with the reason.
 */
export interface ChannelPlatform {
  /**
   * What has to stand in the channel's section so that it finds this platform; `allowFrom` and
   * `streaming` are set by the kit.
   */
  readonly section: Readonly<Record<string, unknown>>;
  /** Ids of two people who write here, as the runtime gives them. */
  readonly senders: readonly [string, string];
  /** A chat that the channel can send to, as the runtime names it. */
  readonly chatId: string;
  /** What messages to that chat need to find their way, where they answer none. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Leaves in the folder of a channel what logging in leaves there. `stateKey`: as its host has it. */
  prepare?(stateDir: string, stateKey: Uint8Array): Promise<void>;
  /**
   * Lets somebody write. Waits until the channel is connected, where that has to be, and resolves with the
   * platform's id of the message when it is on its way.
   */
  deliver(message: PlatformMessage): Promise<string>;
  /** Everything that has arrived so far, the first first; nothing that a person does not see. */
  sent(): readonly PlatformSent[];
  /** Ids of messages that the channel has acknowledged so far. */
  acknowledged?(): readonly string[];
  /** Gives the message that was delivered last once more, as one that was not acknowledged. */
  redeliver?(): Promise<void>;
  /** Cuts every connection and takes no more. */
  goDown?(): Promise<void>;
  /** Refuses the next message that the channel sends, and that alone. */
  refuse?(kind: "permanent" | "temporary"): void;
  /** Whether people see at the moment that an answer is being made: for `typing`. */
  isTyping?(): boolean;
  /**
   * Has somebody press a button of the approval that was shown last, as a client that has not looked
   * since: for `buttons`. Rejects where there is none (any more).
   */
  pressButton?(button: "approve" | "deny", senderId: string): Promise<void>;
  /** Lets somebody write while the channel is not there: for `catch_up`. */
  deliverAway?(message: PlatformMessage): Promise<string>;
  /** The token, or the account, counts no more from now on. */
  revoke?(): Promise<void> | void;
  /** Has somebody scan or open what a connector shows, and agree: for `connects`. */
  confirm?(show: ConnectAnswer["show"]): Promise<void> | void;
  /** What one message may hold. */
  readonly limit?: { max: number; sizeOf(sent: PlatformSent): number };
  /** Whether it shows code between fences of its own, so that each message has to close them. */
  readonly hasFences?: boolean;
  /** Ends it, with everything that it has open. */
  close(): Promise<void>;
}

/** Hooks that a platform need not have. */
export type PlatformHook =
  | "acknowledged"
  | "redeliver"
  | "goDown"
  | "refuse"
  | "isTyping"
  | "pressButton"
  | "deliverAway"
  | "revoke"
  | "confirm"
  | "limit";
