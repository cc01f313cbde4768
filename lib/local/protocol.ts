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
  /** The last turn that was read of; what follows it is told where the numbers do not count. */
  turnId?: string;
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
   * after what was seen of it. The first item says after what.
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
};

const OPERATIONS: typeof CONVERSATIONS & typeof SERVICE = { ...CONVERSATIONS, ...SERVICE };

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
/** What an operation takes. */
export type Params<Op extends Operation> = ParamsOf<Local, Op>;
/** What it comes to. */
export type Result<Op extends Operation> = ResultOf<Local, Op>;
/** What it tells one after another; never where it only comes to something. */
export type Item<Op extends Operation> = ProgressOf<Local, Op>;
