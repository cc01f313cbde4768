/**
 * How a command of this program talks to the service of its home: calls of `lib/rpc` over a byte stream,
 * which is the local socket, or, in the process that owns the home, a pair of transferred streams.
 *
 * A client opens the connection, and calls. What a call streams is its progress. A client that goes
 * away cancels its calls.
 *
 * @module
 */

import type { StoredEvent } from "../contract/events.ts";
import type { TextPart } from "../contract/text_part.ts";
import type { McpServerStatus } from "../mcp_servers/mcp_servers.ts";
import type { ChannelStatus } from "../channel/channel_status.ts";
import type { Published } from "../contract/inbound_message.ts";
import type { MissedRow, OutboxRow } from "../contract/journal.ts";
import type { CallSpec, ParamsOf, ProgressOf, ResultOf } from "../rpc/endpoint.ts";

/** Largest message, bytes: 64 MiB of files are 86 MiB of base64, and there is the text. */
export const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;

/** A piece of what a command asks. What a file is, the service finds out; `data` is base64. */
export type AskedPart = { type: "text" } & TextPart | {
  type: "file";
  name: string;
  data: string;
};

/** A call with one answer. */
type Call<Params, Result> = CallSpec<Params, Result, never>;
/** A call that tells one item after another, and then nothing. */
type Stream<Params, Item> = CallSpec<Params, void, Item>;

const OUTBOX = {
  /** In the order in which they came, after one; of these states and this runtime name alone. */
  outbox: {} as Stream<
    { after?: number; limit: number; states?: readonly OutboxRow["state"][]; channel?: string },
    OutboxRow
  >,
  /** Waits again, whatever became of it but `sent`. */
  outbox_resend: {} as Call<{ message: number }, OutboxRow>,
  /** Is given up. */
  outbox_drop: {} as Call<{ message: number }, OutboxRow>,
};

const CHANNELS = {
  /** How each instance is, those too that are switched off. */
  channels: {} as Stream<Record<never, never>, ChannelStatus>,
  /**
   * Sends a message to a chat. Tells its row, each time that it has changed, until it is delivered, or
   * given up, or `waitMs` are over.
   */
  channel_send: {} as Stream<
    { runtimeName: string; chatId: string; text: string; waitMs: number },
    OutboxRow
  >,
  /** Messages that came too late to be answered, in the order in which they came, after one. */
  missed: {} as Stream<{ after?: number; limit: number; channel?: string }, MissedRow>,
  /** Lists none of them any longer. */
  missed_clear: {} as Call<{ channel?: string }, { cleared: number }>,
  /** Takes one as if it had just come. */
  missed_answer: {} as Call<{ message: number }, Published>,
};

/** Something that happened in a session. */
export interface Happening {
  stored: StoredEvent;
  /** With the start of a turn: the message that it answers. */
  said?: SaidMessage;
}

/** How far a session was read. */
export interface Seen {
  seq: number;
  /** Another one: the numbers that were seen do not count any more. */
  epoch: string;
}

/** A person's message as others in the session are shown it. */
export interface SaidMessage {
  /** In the sender's own words. */
  text: string;
  /** Names of what came with it. */
  files: string[];
  /** Such as `cli:local`. */
  actor: string;
}

const CONVERSATIONS = {
  /** One turn; tells its events, to its `turn_end`, also when it is stopped. */
  turn: {} as Stream<{
    /** Full key, such as `cli:default`. */
    sessionKey: string;
    input: AskedPart[];
    /** A preset or `<provider>/<id>` instead of the configured model. */
    model?: string;
    /** False: what a person would be asked about is refused at once. Default: true. */
    asks?: boolean;
    /** Real path of the project that a new session works in. Default: the workspace. */
    folder?: string;
  }, StoredEvent>,
  /**
   * One message: tells at once what became of it, and ends with its turn. Stopping it cancels the turn;
   * what happens in the turn is told by `follow`.
   */
  say: {} as Stream<{
    sessionKey: string;
    input: AskedPart[];
    model?: string;
    folder?: string;
  }, { turnId: string } | { answer: string }>,
  /**
   * What happens in a session, whoever causes it: from the start of the turn that runs or from now on, or
   * after what was seen of it, while that still counts. The first item says after what.
   */
  follow: {} as Stream<{ key: string; seen?: Seen }, Seen & { running?: string } | Happening>,
};

const SERVICE = {
  /**
   * An operation of the table (`lib/operations/operations.ts`), with its fields; tells the items of one
   * that streams. Where it takes a token, the authority checks that. With `channel` there are only the
   * sessions of that channel.
   */
  operate: {} as CallSpec<
    { token?: string; channel?: string; request: { readonly op: string } },
    unknown,
    unknown
  >,
  /** How MCP servers are; `test` connects to one anew. */
  mcp: {} as Stream<{ op: "list" } | { op: "test"; server: string }, McpServerStatus>,
  status: {} as Call<Record<never, never>, ServiceStatus>,
};

/** How a service is. */
export interface ServiceStatus {
  version: string;
  pid: number;
  /** Absolute path of the configuration that it started with. */
  configFile: string;
  apiUrl?: string;
  wsUrl?: string;
  model: string;
  modelReason: string;
  runningTurns: number;
  queuedTurns: number;
  guests: number;
  /** What is in motion and must come back to nothing when nobody asks for anything. */
  counts: {
    pendingWrites: number;
    waitingFollowers: number;
    openTurns: number;
    openStreams: number;
  };
  checks: Record<string, { ok: boolean; detail: string }>;
}

const OPERATIONS:
  & typeof CONVERSATIONS
  & typeof SERVICE
  & typeof OUTBOX
  & typeof CHANNELS = { ...CONVERSATIONS, ...SERVICE, ...OUTBOX, ...CHANNELS };

/** What a service answers. */
export const LOCAL: {
  calls: typeof OPERATIONS & { open: Call<{ key?: string }, { version: string }> };
  notices: Record<never, never>;
} = {
  calls: {
    /** The first call of a connection; `key` where the transport is a loopback port. */
    open: {} as Call<{ key?: string }, { version: string }>,
    ...OPERATIONS,
  },
  notices: {},
};

/** {@linkcode LOCAL} as a type. */
export type Local = typeof LOCAL;
/** Name of an operation. */
export type Operation = keyof typeof OPERATIONS;
/** Operations that not every service has. */
export type OptionalOperation = keyof (typeof OUTBOX & typeof CHANNELS);
/** What an operation takes. */
export type Params<Op extends Operation> = ParamsOf<Local, Op>;
/** What it comes to. */
export type Result<Op extends Operation> = ResultOf<Local, Op>;
/** What it tells one after another; never where it only comes to something. */
export type Item<Op extends Operation> = ProgressOf<Local, Op>;
