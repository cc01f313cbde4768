/**
 * What is said to a channel in a Worker of its own, and what it says: plain data. The authority starts the
 * Worker and hands the port over to the service; from then on the two speak without it. Calls are
 * answered one by one, which is what keeps either side from flooding the other.
 *
 * @module
 */

import type { ErrorData } from "../base/errors.ts";
import type { InboundMessage, Published } from "../contract/inbound_message.ts";
import type { OutboundMessage, ReasoningDelta, StreamDelta } from "../contract/outbound_message.ts";

/** Messages that a place may have published without an answer; more wait in the place. */
export const MAX_PUBLISHING = 64;

/** Audio files that a place may have asked to be transcribed without an answer; more wait in the place. */
export const MAX_TRANSCRIBING = 4;

/** Calls that a place may have without an answer; further ones fail at once. */
export const MAX_CALLING = 256;

/** How long a channel's own check of its settings may take, milliseconds; its signal comes before. */
export const VALIDATE_TIMEOUT_MS = 15_000;

/** Lines of a channel that reach the log: so many a second, and so many at once. */
export const LOG_RATE = { perSecond: 20, burst: 200 };

/** What a place is started with. Never leaves the authority but to this one Worker. */
export interface PlaceBoot {
  runtimeName: string;
  /** URL of the module to load; from the static map of channels alone. */
  module: string;
  /** What it exports: a runtime class, a validator, a connector. */
  exportName: string;
  /** What it is for. */
  kind: "runtime" | "validator" | "connector";
  /** The instance's section, with defaults, flags and the values of secrets. */
  config: Readonly<Record<string, unknown>>;
  stateDir: string;
  /** Values that never go into a log. */
  secrets: readonly string[];
  allowLocalServiceAccess: boolean;
}

/** To the Worker itself, once; the port is transferred. */
export interface BootMessage {
  type: "boot";
  boot: PlaceBoot;
  port: MessagePort;
}

/** What a place is asked to do. */
export type PlaceCall =
  /** Answered when it has ended, however that came. */
  | { op: "start" }
  | { op: "stop" }
  | { op: "send"; message: OutboundMessage }
  | { op: "send_delta"; piece: StreamDelta }
  | { op: "send_reasoning"; message: OutboundMessage }
  | { op: "send_reasoning_delta"; piece: ReasoningDelta }
  | { op: "send_reasoning_end"; end: Omit<ReasoningDelta, "delta"> }
  | { op: "login"; force: boolean }
  | { op: "refresh"; instanceId?: string }
  | { op: "validate"; values: Readonly<Record<string, unknown>> }
  | { op: "connect"; action: "start" | "poll" | "cancel"; query: Readonly<Record<string, string>> }
  /** Answered at once by a place that is alive. */
  | { op: "ping" };

/** How a call went wrong. */
export interface PlaceFault {
  kind: "temporary" | "permanent" | "later" | "uncertain" | "login_refused";
  message: string;
  /** Milliseconds, with `later`. */
  retryAfterMs?: number;
}

/** To a place, over its port. */
export type ToPlace =
  | { type: "call"; id: number; call: PlaceCall }
  | { type: "published"; id: number; result: Published | { error: ErrorData } }
  | { type: "transcribed"; id: number; result: string | { error: ErrorData } };

/** From the Worker itself to whoever started it, as its last word. */
export interface EndedMessage {
  type: "ended";
  reason: string;
}

/** From a place, over its port. */
export type FromPlace =
  /** The module is loaded and the channel is made; said once, before anything but lines of the log. */
  | { type: "ready"; supportsStreaming: boolean }
  /** It could not be, or it is over: the place is of no use (any more). Said last. */
  | { type: "unusable"; message: string }
  | { type: "answer"; id: number; result?: unknown; fault?: PlaceFault }
  | { type: "publish"; id: number; message: InboundMessage }
  | { type: "transcribe"; id: number; path: string }
  | { type: "running"; isRunning: boolean }
  | { type: "detail"; detail: string }
  | { type: "log"; level: "debug" | "info" | "warning" | "error"; message: string; data?: object };
