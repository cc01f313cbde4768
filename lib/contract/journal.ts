/**
 * What the journal holds and offers: sessions, turns, messages and events in one SQLite file.
 *
 * One writer. Every write is a closure that is put into a batch; one batch is committed per turn of
 * the event loop, and readers are woken after its commit, so nobody sees what could still be lost.
 * Work per append and per read does not depend on how long a session is.
 *
 * @module
 */

import type { TextPart } from "./text_part.ts";
import type { AgentEvent, ModelUsage, StoredEvent, TurnStatus, Usage } from "./events.ts";
import type { Message, OutFile, UserPart } from "./messages.ts";
import type { TurnAutomation } from "./turns.ts";
import type { AutomationStore } from "./automation_store.ts";
import type { DeliveryStore } from "./delivery_store.ts";
import type { IntakeStore } from "./intake_store.ts";
import type { RetentionStore } from "./retention.ts";
import type { OutboundEvent } from "./outbound_message.ts";
import type { ErrorData } from "../base/errors.ts";
import type { OutboxState } from "./outbox_states.ts";

/** A conversation. */
export interface Session {
  id: number;
  /** `<channel>:<id>`, such as `api:default`. */
  key: string;
  /** First words of its first message, or what somebody called it. */
  title: string;
  /** The preset whose model answers in it; absent for the configured one. */
  modelPreset?: string;
  /** Real path of the project that it works in; absent: the workspace. */
  folder?: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /**
   * When a turn was last accepted or ended, or a message said. No two sessions share one (a tie moves
   * on by a millisecond), so that it serves as the cursor of `sessions()`.
   */
  updatedAt: number;
  turns: number;
  /** Retention keeps it. */
  pinned?: true;
  /** Its last event; 0 when there is none. */
  lastSeq: number;
}

/** What opened a turn. It is the inbox row: written before anything is acknowledged. */
export interface NewTurn {
  id: string;
  sessionKey: string;
  channel: string;
  actor: string;
  input: UserPart[];
  /**
   * Whether the work goes on after a restart. False for work whose caller is gone with the process
   * (chat completions, one-shot commands): that closes as `interrupted`.
   */
  durable: boolean;
  /** What opened it, when no person did. Such a turn begins a context of its own. */
  automation?: TurnAutomation;
}

/** What makes two requests the same one: a caller's key, in a scope, over a digest of the body. */
export interface RequestKey {
  /** Who uses the key and where, such as credential and session. */
  scope: string;
  key: string;
  /** Of everything that the request says; another one under the same key is a conflict. */
  digest: string;
  /**
   * Stays also when the turn ends before its start, or is cancelled before any tool ran. Default: it is
   * free then.
   */
  outlivesCancel?: boolean;
}

/** What the index of responses keeps beside the turn. */
export interface ResponseFacts {
  /** Digest of the credential that may use it. */
  credential: string;
  /** What the response object repeats of its request; plain JSON. */
  request: Record<string, unknown>;
}

/** An entry of the index of responses. */
export interface ResponseEntry extends ResponseFacts {
  turnId: string;
  sessionKey: string;
}

/** What is written together with a turn's row. */
export interface AcceptOptions {
  /**
   * Kept for 8 days; gone when the turn ends before its start, when it is cancelled before any tool ran, or
   * with its session.
   */
  requestKey?: RequestKey;
  response?: ResponseFacts;
  /** Notes that the turn's answer goes to a chat of a channel. */
  delivery?: TurnDelivery;
  /** Project of the session; it is refused with `conflict` where the session began in another folder. */
  folder?: string;
  /** Nobody is before it in its session: `start` and its `turn_start` are written with it. */
  begin?: { model: string };
  /** Nobody is told of it before its end, so that its acceptance may reach the disk with that. */
  toldAtEnd?: boolean;
}

/** Where a turn's answer goes. */
export interface TurnDelivery {
  runtimeName: string;
  /** As the channel names it. */
  chatId: string;
  /** Plain JSON that goes out with everything that answers the message. */
  metadata: Readonly<Record<string, unknown>>;
  /** Whether the channel takes the answer piece by piece. */
  streaming: boolean;
}

/** A message for a chat on another channel, as it waits to be delivered. */
export interface OutboxMessage {
  /** Unique: a second one with it is not queued. */
  id: string;
  /** Turn that sends it, if one does. */
  turnId?: string;
  /** Runtime name: the channel, or one of its instances. */
  channel: string;
  chatId: string;
  content: string;
  media?: readonly OutFile[];
  /** Plain JSON: what the channel is to know of the message that it answers. */
  metadata?: Readonly<Record<string, unknown>>;
  event?: OutboundEvent;
}

/** A row of the outbox. */
export interface OutboxRow extends OutboxMessage {
  /** Order of delivery. */
  rowid: number;
  state: OutboxState;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** 24 h later, or less where it is of no use as long; later once it was resent. */
  expiresAt: number;
  /** Tries so far, each counted before it is made. */
  attempts: number;
  /** Milliseconds since 1970 before which it is not tried again. */
  notBefore?: number;
  /** How the last attempt went wrong. */
  error?: string;
  /** It is text of a stream, which may have arrived as a part of it. */
  isPiece?: true;
}

/** A turn on record. */
export interface Turn extends NewTurn {
  /** Its place in the order of acceptance over all sessions; the cursor of `turns()`. */
  rowid: number;
  sessionId: number;
  /** The session's last seq when it was accepted (later: first started): its events come after it. */
  afterSeq: number;
  status: "queued" | "running" | TurnStatus;
  /** How often a run of it was started, written before each. */
  attempts: number;
  /** How many of those runs a crash has ended, as far as `recover` has found them. */
  crashes: number;
  acceptedAt: number;
  startedAt?: number;
  endedAt?: number;
  usage?: Usage;
  /** The same by model, the one that it was begun with first; absent before its end. */
  models?: readonly ModelUsage[];
  error?: ErrorData;
}

/** A message of the context with its place on record. */
export interface StoredMessage {
  id: number;
  turnId: string;
  message: Message;
  /** Estimated tokens. */
  tokens: number;
}

/** A stretch of a session's messages that ends before a place. */
export interface HistoryPage {
  /** Oldest first. */
  messages: StoredMessage[];
  /** Messages of people before the first of these: the index of the first of theirs. */
  userIndex: number;
  /** The cursor of the page before this one; absent when this is the first. */
  before?: number;
}

/** A message of the agent for a session, which no turn of that session says. */
export interface Saying {
  /** Unique among these and the messages of the outbox: a second one with it is not said. */
  id: string;
  /** Made when there is none; the part before the colon is the channel. */
  sessionKey: string;
  /** Blank only with media. */
  text: string;
  /** Those of the media folder stay there for as long as the session. */
  media?: readonly OutFile[];
  replyTo?: string;
  /** Turn of another session that sends it, if one does. */
  turnId?: string;
}

/** Which sessions are listed. */
export type SessionsPage = SessionFilter & {
  limit: number;
  /** Only those updated earlier: a page's cursor. */
  before?: number;
};

/**
 * Which sessions are meant; `{}` is all of them. `owner`: the 32 hex digits of a person's chats
 * (`chatOwner`), or null for the sessions that are in no person's workspace; costs no more for what others
 * have. `channel`: those of one channel, such as `api`.
 */
export type SessionFilter =
  | { owner?: string | null; channel?: undefined }
  | { owner?: undefined; channel?: string };

/** What is looked for in the texts of sessions. */
export type SessionSearch = SessionsPage & {
  /** Words, and phrases in quotes. The last word may be the beginning of one. */
  q: string;
};

/** A session in which something was found. */
export interface FoundSession {
  session: Session;
  /** Texts that hold all that was looked for. */
  count: number;
  /** The newest of them. */
  texts: FoundText[];
}

/** A message, or the title of a session, in which something was found. */
export interface FoundText {
  /** The message's; 0 for the title. */
  id: number;
  turnId: string;
  role: "user" | "assistant" | "title";
  snippet: SnippetPart[];
}

/** A piece of a text: what was looked for, or what is about it. */
export interface SnippetPart {
  text: string;
  match: boolean;
}

/** What a model was used for on a day, by turns of a channel. */
export interface UsageRow {
  /** Its first millisecond since 1970, UTC. */
  day: number;
  channel: string;
  /** `<provider>/<model id>`. */
  model: string;
  /** Turns that were begun with it. */
  turns: number;
  /** What it answered, also in turns that were begun with another. */
  usage: Usage;
}

/** Where a session branches off another. */
export interface Fork {
  sourceKey: string;
  /** Key of the new session. */
  targetKey: string;
  /**
   * Messages of people that the fork keeps, with what was answered: those before the one of this
   * index, counted from 0. As many as there are: all.
   */
  beforeUserIndex: number;
}

/**
 * How sure a write has to be: `full` is on the disk before the promise resolves. `paced` is as sure as
 * `normal`, and waits some milliseconds for its neighbours: what comes token by token.
 */
export type Durability = "full" | "normal" | "paced";

/** What a follower of a session asks for. */
export interface FollowOptions {
  /** Events with a higher seq; 0 for all. */
  afterSeq: number;
  /** Ends the iteration (without an error). */
  signal?: AbortSignal;
  /** Default true. False: stop at the end of what there is instead of waiting for more. */
  live?: boolean;
  /** It need not have them at once: `isFollowed` does not count it. Default false. */
  patient?: boolean;
}

/** A wait that can be given up. */
export interface Waiting {
  /** It waits no more. */
  return(): void;
}

/** Events of a session that need not be there yet. */
export interface KeyFollow extends AsyncIterable<StoredEvent> {
  /** Ends it at once, also while it waits: a signal would be dearer than all else that it holds. */
  return(): Promise<unknown>;
}

/** What of the journal is in motion, for health and for tests. */
export interface JournalCounts {
  /** Writes that are not committed yet. */
  pendingWrites: number;
  /** Followers that wait for news, or for their session. */
  waitingFollowers: number;
  /** Turns that are queued or running and whose state is held in memory. */
  openTurns: number;
  /** Messages that wait in the outbox. */
  outbox: number;
}

/** The journal. Every promise of a write rejects with the cause if its batch could not be committed. */
export interface Journal {
  /**
   * Accepts a turn: makes its session if new, writes the row with its input, the references to its
   * files and what the options say, `full` but for `toldAtEnd`. With a request key that is on record
   * nothing is written: the turn of that key is returned as `repeated`, or `idempotency_conflict`
   * thrown.
   * `begun`: the `turn_start` of one that was begun; the turn is as it was before that.
   */
  accept(
    turn: NewTurn,
    options?: AcceptOptions,
  ): Promise<{ turn: Turn; repeated: boolean; begun?: StoredEvent }>;
  /**
   * Gives a turn that was never started another input, and resolves when that is on the disk; false for
   * any other turn.
   */
  revise(turnId: string, input: UserPart[]): Promise<boolean>;
  /** The key that the turn was accepted with: what its sender calls the message. */
  requestKeyOf(turnId: string): string | undefined;
  /** The turn that was accepted with this key. Throws `idempotency_conflict` for another digest. */
  repeated(key: RequestKey): Turn | undefined;
  /**
   * Marks a turn as running and counts the attempt. With the first one its user message enters the
   * context, as the newest: one that waited must not stand before the answer that it waited for.
   * Resolves after the commit, which also holds what was written in the same turn of the event loop.
   */
  start(turnId: string): Promise<void>;
  /**
   * Adds events to a turn, anything but `turn_end` and `summary`, which `end` and `compact` write.
   * Durability `normal` unless told. Appends of one session keep their order. Resolves with the seq
   * of the last one, after the commit. The events belong to the journal from then on: readers are
   * handed the very same objects. Throws `invalid_request` when the turn is unknown or has ended.
   */
  append(turnId: string, events: readonly AgentEvent[], durability?: Durability): Promise<number>;
  /**
   * Adds a message of the context, after the events if given, in one transaction. Durability is
   * `full` for tool results, which may not be lost once the model has seen them, else `normal`.
   */
  addMessage(
    turnId: string,
    message: Message,
    options?: { events?: readonly AgentEvent[]; durability?: Durability },
  ): Promise<void>;
  /**
   * Ends a turn: adds its answer (if any) as `addMessage` would, appends `error` (if any) and
   * `turn_end`, sets the row; `full`, all of it or nothing. What it left open is closed before its end, as in `recover`, so that every reader and every later turn finds whole streams,
   * calls and messages. With `forget`, the turn's messages leave the model's context (they stay on
   * record). Throws `invalid_request` when the turn is unknown or has ended.
   */
  end(turnId: string, end: {
    answer?: { message: Message; events: readonly AgentEvent[] };
    event: Extract<AgentEvent, { type: "turn_end" }>;
    error?: ErrorData;
    forget: boolean;
  }): Promise<void>;
  /**
   * Puts a turn that runs back to waiting, `full`: the next start goes on with it as after a crash, and
   * counts none. Throws `invalid_request` when the turn is unknown or has ended.
   */
  requeue(turnId: string): Promise<void>;
  /**
   * Replaces everything before `keepFrom` (a message id; one past the last keeps nothing) in the
   * context of the session by a summary, and appends the `summary` event. The raw history stays.
   */
  compact(turnId: string, summary: string, keepFrom: number): Promise<void>;

  /** The model's context of a session, oldest first, the summary (if any) in front. */
  context(sessionId: number): StoredMessage[];
  /** The context as it was when a turn began, without the turn's own; empty for one that never did. */
  contextBefore(turn: Pick<Turn, "id" | "sessionId">): StoredMessage[];
  /** Every message ever, in pages by id, also those no longer in the context, and summaries. */
  history(sessionId: number, afterId: number, limit: number): StoredMessage[];
  /**
   * The newest messages of a session, or those before a message's id. Ids of a session only rise, so
   * a page is the same whatever is said meanwhile. The index alone is counted, along an index that
   * holds nothing else.
   */
  historyPage(sessionId: number, options: { limit: number; before?: number }): HistoryPage;
  /** Estimated tokens of the context of a session. */
  contextTokens(sessionId: number): number;
  /**
   * Events from a number on, then live ones as they are committed. Any number of followers; each
   * reads pages of at most 256 rows, so a slow one costs nothing but its own place. Ends when the
   * session is deleted.
   */
  follow(sessionId: number, options: FollowOptions): AsyncIterable<StoredEvent>;
  /** Whether somebody, who is not `patient`, reads the events of a session and has not come to an end. */
  isFollowed(sessionId: number): boolean;

  /**
   * Calls when a session of the key is made, in time to follow it from its first event on; never after the
   * end. Undefined, and nothing is called, when there is one. It holds less than a follower that waits.
   */
  whenMade(key: string, call: () => void): Waiting | undefined;
  /**
   * As `follow`, by the key, also of a session that is not there yet: that one is waited for, by
   * whatever it is made, at the cost of an entry in a map. Ends when the session is deleted.
   */
  followKey(key: string, options: Omit<FollowOptions, "live">): KeyFollow;
  /**
   * Another text than before means that numbers of the key's session that were seen before do not count
   * any more: after a start that found the file not closed, and after the session was deleted. The same
   * for a session that is empty or not there. At most 64 characters.
   */
  epoch(key: string): string;
  /**
   * Says a message from elsewhere, `full`: event, message of the history and the row of the outbox that
   * keeps its id for 8 days are one transaction. It enters the context at once, or when the turn that
   * runs has ended. Resolves false, and nothing is done, when its id is on record as anything but
   * waiting.
   */
  say(saying: Saying): Promise<boolean>;

  /**
   * The index of responses: 4,096 entries, the least recently used goes. `find` counts as a use;
   * undefined also for another credential. `remove` resolves false when there is none.
   */
  responses: {
    find(turnId: string, credential: string): ResponseEntry | undefined;
    remove(turnId: string, credential: string): Promise<boolean>;
  };

  /** Whether a session on record has this file (SHA-256). */
  hasFile(sha256: string): boolean;

  /**
   * Puts a message into the outbox, `full`; its files stay with the session of its turn. Resolves false
   * when its id is on record already. Throws
   * `overloaded` when the channel has 10,000 that wait. It outlives its session: it is accepted work.
   */
  enqueue(message: OutboxMessage): Promise<boolean>;
  /** Whether a message of that id is in the outbox, in whatever state. */
  hasMessage(id: string): boolean;
  /**
   * Rows of the outbox after a rowid, the expired ones marked as such. Those that have expired or
   * were sent go 9 days after they came, those that are dead or unknown after 30.
   */
  outbox(afterRowid: number, limit: number): OutboxRow[];
  /** The row of one message, by its id. */
  outboxMessage(id: string): OutboxRow | undefined;

  /** What waits for channels and how far it is, in the same file. */
  deliveries: DeliveryStore;

  /** What a channel has heard and nobody has taken yet, by its runtime name, in the same file. */
  intake(channel: string): IntakeStore;

  /** What came too late from channels, in the same file. */
  missed: MissedMessages;

  /** Automations and their runs, in the same file; it holds no turns of them. */
  automations: AutomationStore;

  session(key: string): Session | undefined;
  /** Of the days, UTC, from that of one time to that of another, of turns that have ended. */
  usage(from: number, to: number): UsageRow[];
  /** What turns of a session that have ended used, by model; `""` where none is on record. */
  usageOf(sessionId: number): Required<ModelUsage>[];
  turn(id: string): Turn | undefined;
  turns(sessionId: number, afterRowid: number, limit: number): Turn[];
  /** A session's turn by its number, from 1 in the order of acceptance. */
  nthTurn(sessionId: number, number: number): Turn | undefined;
  /** Newest first. */
  sessions(page: SessionsPage): Session[];
  /**
   * Those in which all words are found together in a message or the title, newest first, among
   * the 10,000 newest matches. What a turn that still runs says may be found only after its end. Throws
   * `invalid_request` for words without a letter or digit.
   */
  search(search: SessionSearch): Promise<FoundSession[]>;
  /**
   * Names a session; says `session_updated` in the same commit. Undefined when there is none; throws
   * `invalid_request` for a title that is not 1 to 200 characters that can be seen.
   */
  renameSession(key: string, title: string): Promise<Session | undefined>;
  /**
   * Sets which preset answers in a session from its next turn on, undefined for the configured model;
   * says `session_updated` in the same commit. Makes the session when there is none.
   */
  setModelPreset(key: string, preset: string | undefined): Promise<Session>;
  /**
   * Begins a new context: what was before stays on record and is not sent to the model any more. Says
   * `session_updated` in the same commit. Undefined when there is no such session; throws
   * `invalid_request` while a turn is queued or running in it.
   */
  newContext(key: string): Promise<Session | undefined>;
  /**
   * Makes a session of the messages before one of another session, in one transaction, `full`: whole
   * turns with what the model knew at that place, the references to their files, title and model, and
   * no events. A turn that waits or runs is left out. Throws `not_found` without a source, and
   * `invalid_request` when the target exists or there are not as many messages.
   */
  forkSession(fork: Fork): Promise<Session>;
  /**
   * Removes a session whole; its key is free as soon as its first rows are gone. Resolves false when
   * there is none; throws `invalid_request` while a turn is queued or running in it.
   */
  deleteSession(key: string): Promise<boolean>;

  /**
   * Sessions by age and size. One with an open turn, an undelivered message or a reader is needed, and so
   * are one that is pinned, that of an automation, and one that changed within 8 days.
   */
  retention: RetentionStore;
  /** Whether a session that is needed has this file (SHA-256). */
  needsFile(sha256: string): boolean;
  /** Keeps a session from retention, or no longer. Undefined when there is none. */
  pinSession(key: string, pinned: boolean): Promise<Session | undefined>;

  /**
   * Puts in order what a crash left: open streams are closed, calls without a result get an
   * `interrupted` one, the results of a step whose tool message is missing get that message (those on
   * record keep their output). Foreground turns end as `interrupted`; durable ones end as `done` when
   * their answer is on record and as `failed` after two crashed attempts, and the others are returned
   * to be run again. Text that was said and is in no message becomes an assistant message, unless the
   * turn goes on (a model says it again) or is forgotten (no tool ran). Messages that were being sent
   * are `unknown`. `interrupted` counts the turns that were ended here without an answer. Called once,
   * before anything is accepted; does the rest when it was itself cut off.
   */
  recover(): Promise<{ interrupted: number; resume: Turn[] }>;

  /** Writes something that changes nothing, `full`; rejects when that fails. */
  probe(): Promise<void>;

  counts(): JournalCounts;

  /** Commits what is waiting and closes the file. */
  close(): Promise<void>;
}

/** A message that came too late. */
export interface MissedMessage {
  runtimeName: string;
  chatId: string;
  senderId: string;
  senderName?: string;
  /** Without secrets, and not at any length. */
  content: string;
  /** It in pieces, where it is not all the sender's own words and not cut. */
  parts?: readonly TextPart[];
  /** Whether `content` is the beginning of it. */
  isCut?: true;
  /** Names of the files that came with it, which are not kept. */
  files: readonly string[];
  metadata?: Readonly<Record<string, unknown>>;
  sessionKey?: string;
  /** The platform's. */
  messageId?: string;
  streaming: boolean;
  /** Milliseconds since 1970. */
  sentAt: number;
}

/** One that is listed. */
export interface MissedRow extends MissedMessage {
  /** Its place in the order of arrival. */
  rowid: number;
  /** Milliseconds since 1970. */
  receivedAt: number;
}

/** Messages of a chat that it was not told of. */
export interface UntoldMessages {
  count: number;
  /** Milliseconds since 1970. */
  oldestSentAt: number;
  /** The newest one's, which an answer needs to find its thread. */
  metadata?: Readonly<Record<string, unknown>>;
}

/** Every promise resolves once the change is on the disk. */
export interface MissedMessages {
  /** Whether a message of this name is known, one that was dealt with too. */
  has(name: string): boolean;
  /** Lists it, unless its `name` is known; false then. Without a name nothing tells a repeat. */
  add(message: MissedMessage, name?: string): Promise<boolean>;
  /** After a place, in the order of arrival; of every runtime name where none is said. */
  list(runtimeName: string | undefined, afterRowid: number, limit: number): MissedRow[];
  find(rowid: number): MissedRow | undefined;
  /** Of every runtime name where none is said. */
  count(runtimeName: string | undefined): number;
  /** Lists it no longer; false when it was not. */
  remove(rowid: number): Promise<boolean>;
  /** Lists none of them any longer; of every runtime name where none is said. Resolves with how many. */
  clear(runtimeName?: string): Promise<number>;
  /** Chats of which some were not told. */
  untoldChats(limit: number): { runtimeName: string; chatId: string }[];
  /**
   * Notes that a chat was told of all that it was not. `words` makes the message to it, which is put into
   * the outbox in the same transaction; it is not asked for within `quietMs` of the last one. Resolves
   * with whether it was; rejects with `overloaded` when its queue is full.
   */
  tell(
    chat: { runtimeName: string; chatId: string; quietMs: number },
    words: (untold: UntoldMessages) => Pick<OutboxMessage, "id" | "content">,
  ): Promise<boolean>;
  /** Removes some of what is old; called inside a batch of the writer. */
  sweep(): void;
}
