/**
 * A runtime as the service sees it, wherever it runs. Deliveries reject with `PermanentDeliveryError`,
 * `RetryLaterError`, or any other error for what a repeat may mend.
 *
 * @module
 */

import type { Verification, VerifyAction } from "./verification.ts";
import type { OutboundMessage, ReasoningDelta, StreamDelta } from "../contract/outbound_message.ts";

export interface ChannelLink {
  readonly runtimeName: string;
  readonly supportsStreaming: boolean;
  /** As the runtime reports it; false once it has ended. */
  readonly isRunning: boolean;
  send(message: OutboundMessage): Promise<void>;
  sendDelta(piece: StreamDelta): Promise<void>;
  /** A whole thought, for a channel whose answers are whole too. */
  sendReasoning(message: OutboundMessage): Promise<void>;
  sendReasoningDelta(piece: ReasoningDelta): Promise<void>;
  sendReasoningEnd(end: Omit<ReasoningDelta, "delta">): Promise<void>;
}

/** A runtime that was made and not started yet. */
export interface BuiltChannel extends ChannelLink {
  /** Runs it; resolves or rejects when it has ended, with `LoginRefusedError` where it is of no use again. */
  start(): Promise<void>;
  /** Ends it and its place, by force after `graceMs`. Never rejects. */
  stop(graceMs: number): Promise<void>;
  /** As `BaseChannel.verify`; rejects for one that has none. */
  verify(action: VerifyAction): Promise<Verification>;
  /** Resolves with why, when a call that was to deliver something found that its login is refused. */
  readonly refused: Promise<string>;
  /** Resolves with why, when it is gone without having been stopped: it crashed, or answers no more. */
  readonly lost: Promise<string>;
  /** What it says of itself, such as `connected as @mybot`. */
  readonly detail: string | undefined;
  /** Called whenever `isRunning` or `detail` has changed. */
  onChange: (() => void) | undefined;
}
