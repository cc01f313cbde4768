/**
 * What a channel in a process of its own answers and tells, and what it may ask of its host. The authority
 * starts the process and hands its pipes over to the service; from then on the two speak through them. A
 * channel isn't trusted: everything that it says is checked here, and copied.
 *
 * @module
 */

import { isInside } from "../base/state_dir.ts";
import type { MetStranger } from "../channel/channel_host.ts";
import { checkInbound, checkStranger, type InboundSource } from "../channel/check_inbound.ts";
import { plainJson } from "../channel/plain_json.ts";
import type { InboundMessage, Published } from "../contract/inbound_message.ts";
import {
  type IntakeCursors,
  type IntakeRow,
  type IntakeState,
  MAX_INTAKE_DATA_CHARS,
  MAX_INTAKE_NAME_CHARS,
  MAX_INTAKE_PLACE_CHARS,
  type NewIntakeRow,
} from "../contract/intake_store.ts";
import type { OutboundMessage, ReasoningDelta, StreamDelta } from "../contract/outbound_message.ts";
import * as check from "../rpc/checks.ts";
import { call, type CallName, notice, type ParamsOf } from "../rpc/endpoint.ts";
import type { Peer } from "../rpc/peer.ts";
import type { Verification, VerifyAction } from "../channel/verification.ts";
import { readVerification } from "./read_verification.ts";

/** Messages that a worker may have published without an answer; more wait in the worker. */
export const MAX_PUBLISHING = 64;

/** Audio files that a worker may have asked to be transcribed without an answer; more wait in the worker. */
export const MAX_TRANSCRIBING = 4;

/** Calls for its intake that a worker may have without an answer. */
export const MAX_INTAKE_CALLS = 64;

/** Rows that a worker may add at once. */
export const MAX_INTAKE_ROWS = 10_000;

/** Calls that a worker may have without an answer; further ones fail at once. */
export const MAX_CALLING = 256;

/** How long a channel's own check of its settings may take, milliseconds; its signal comes before. */
export const VALIDATE_TIMEOUT_MS = 15_000;

/** Lines of a channel that reach the log: so many a second, and so many at once. */
export const LOG_RATE = { perSecond: 20, burst: 200 };

/** Strangers that a channel tells of: so many a second, and so many at once. */
export const STRANGER_RATE = { perSecond: 0.2, burst: 20 };

/** Characters of a line, and of its fields as JSON. */
export const MAX_LINE_CHARS = 2_000;
export const MAX_FIELDS_CHARS = 4_000;

/** Characters of what a runtime says of itself. */
export const MAX_DETAIL_CHARS = 302;

/** Characters of what went wrong. */
export const MAX_FAULT_CHARS = 1_000;

/** Characters of what a call came to, as JSON. */
export const MAX_RESULT_CHARS = 256 * 1024;

/** Characters that a cut text may have had; a longer one was not cut, and so is none of ours. */
const MAX_UNCUT_CHARS = 4_096;

/** What a worker is started with: the first frame. Never leaves the authority but to this one process. */
export interface WorkerBoot {
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
  /** Encrypts what a library keeps there, base64 of 32 bytes; absent where that of the home can't be read. */
  stateKey?: string;
  /** Values that never go into a log. */
  secrets: readonly string[];
  allowLocalServiceAccess: boolean;
}

/** How a call went wrong. */
export interface WorkerFault {
  kind: "temporary" | "permanent" | "later" | "uncertain" | "login_refused";
  message: string;
  /** Milliseconds, with `later`. */
  retryAfterMs?: number;
}

/** A line of a channel for the log. */
export interface ChannelLine {
  level: "debug" | "info" | "warning" | "error";
  message: string;
  data?: object;
}

/** What a channel is asked to do. */
export const CHANNEL = {
  calls: {
    /** The first one: answered when the module is loaded and the channel is made. */
    load: call<null, { supportsStreaming: boolean }>({ result: loaded }),
    /** Answered when it has ended, however that came. */
    start: call<null, void>({ result: nothing }),
    stop: call<null, void>({ result: nothing }),
    send: call<OutboundMessage, void>({ result: nothing }),
    send_delta: call<StreamDelta, void>({ result: nothing }),
    send_reasoning: call<OutboundMessage, void>({ result: nothing }),
    send_reasoning_delta: call<ReasoningDelta, void>({ result: nothing }),
    send_reasoning_end: call<Omit<ReasoningDelta, "delta">, void>({ result: nothing }),
    login: call<{ force: boolean }, unknown>({ result: plain }),
    refresh: call<{ instanceId?: string }, unknown>({ result: plain }),
    validate: call<Readonly<Record<string, unknown>>, unknown>({ result: plain }),
    connect: call<
      { action: "start" | "poll" | "cancel"; query: Readonly<Record<string, string>> },
      unknown
    >({ result: plain }),
    verify: call<{ action: VerifyAction }, Verification>({ result: readVerification }),
    /** Answered at once by a worker that is alive. */
    ping: call<null, void>({ result: nothing }),
  },
  notices: {},
};

/** What a channel tells. */
export const CHANNEL_NEWS = {
  running: notice<boolean>(flag),
  detail: notice<string>((value) => text(value).slice(0, MAX_DETAIL_CHARS)),
  log: notice<ChannelLine>(line),
  /** Its last word, and why. */
  ended: notice<string>((value) => text(value).slice(0, MAX_FAULT_CHARS)),
};

/** What a running channel may ask for. */
export function channelHost(owner: InboundSource) {
  return {
    calls: {
      publish: call<InboundMessage, Published>({ params: (value) => checkInbound(value, owner) }),
      transcribe: call<string, string>({
        params(value) {
          if (isInside(owner.stateDir, text(value))) return value as string;
          throw new Error("a file that is not in its folder");
        },
      }),
      intake_state: call<null, IntakeState>(),
      intake_add: call<{ rows: NewIntakeRow[]; cursors: IntakeCursors }, void>({
        params: check.shape({ rows: check.list(intakeRow, MAX_INTAKE_ROWS), cursors }),
      }),
      intake_next: call<{ lane: string; taken: number | null }, IntakeRow | null>({
        params: check.shape({ lane: intakeName, taken: seqOrNone }),
      }),
      intake_move: call<{ lane: string; seq: number; to: string }, void>({
        params: check.shape({ lane: intakeName, seq: check.whole, to: intakeName }),
      }),
    },
    notices: { ...CHANNEL_NEWS, stranger: notice<MetStranger>(checkStranger) },
  };
}

/** Types of the two ends. */
export type ChannelEndpoint = typeof CHANNEL;
export type ChannelHostEndpoint = ReturnType<typeof channelHost>;

/** The end of a channel. */
export type ChannelPeer = Peer<ChannelEndpoint, ChannelHostEndpoint>;

/** What a channel can be asked, and what that takes. */
export type ChannelCallName = CallName<ChannelEndpoint>;
export type ChannelParams<M extends ChannelCallName> = ParamsOf<ChannelEndpoint, M>;

/** Throws for what is no fault. */
export function readFault(value: unknown): WorkerFault {
  const { kind, message, retryAfterMs } = fields(value);
  if (
    kind !== "temporary" && kind !== "permanent" && kind !== "later" && kind !== "uncertain" &&
    kind !== "login_refused"
  ) throw new Error("it said an error of an unknown kind");
  return {
    kind,
    message: text(message).slice(0, MAX_FAULT_CHARS),
    ...typeof retryAfterMs === "number" && { retryAfterMs },
  };
}

const intakeName = check.text(MAX_INTAKE_NAME_CHARS);

const intakeRow = check.shape<NewIntakeRow>({
  lane: intakeName,
  id: intakeName,
  data: check.text(MAX_INTAKE_DATA_CHARS),
});

const seqOrNone = (value: unknown) => value === null ? null : check.whole(value);

function cursors(value: unknown): IntakeCursors {
  const pairs = Object.entries(fields(value));
  return Object.fromEntries(pairs.map(([name, place]) => [
    intakeName(name),
    check.text(MAX_INTAKE_PLACE_CHARS)(place),
  ]));
}

function loaded(value: unknown): { supportsStreaming: boolean } {
  return { supportsStreaming: flag(fields(value).supportsStreaming) };
}

function line(value: unknown): ChannelLine {
  const { level, message, data = {} } = fields(value);
  if (level !== "debug" && level !== "info" && level !== "warning" && level !== "error") {
    throw new Error("expected a known level");
  }
  const copy = plainJson(data, 2 * MAX_FIELDS_CHARS);
  return { level, message: text(message).slice(0, MAX_LINE_CHARS), data: fields(copy) };
}

function nothing(value: unknown): void {
  if (value !== undefined && value !== null) throw new Error("expected nothing");
}

function plain(value: unknown): unknown {
  if (value === undefined) return undefined;
  const copy = plainJson(value, MAX_RESULT_CHARS);
  if (copy === undefined) throw new Error("it is no plain data, or too much");
  return copy;
}

function fields(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error("expected an object");
  return value as Record<string, unknown>;
}

function flag(value: unknown): boolean {
  if (typeof value !== "boolean") throw new Error("expected true or false");
  return value;
}

function text(value: unknown): string {
  if (typeof value === "string" && value.length <= MAX_UNCUT_CHARS) return value;
  throw new Error(`expected a text of at most ${MAX_UNCUT_CHARS} characters`);
}
