/**
 * A client of the WebSocket port that loses nothing over a bad network: it connects again by itself,
 * goes on in each chat behind the last frame that it saw, and sends again what was not accepted. It
 * needs nothing but a WebSocket, and no schema: the browser app has it too.
 *
 * @module
 */

import type { ClientEnvelope } from "./envelopes.ts";
import type { Frame, ServerFrame } from "./frames.ts";

/** What a client works with. */
export interface WireClientDeps {
  /** Such as `ws://127.0.0.1:8765/`. */
  url: string;
  clientId?: string;
  /**
   * A token for the next handshake, asked for before each: socket tokens work once. Undefined for none.
   * What it rejects with ends the first connect, and later ones are tried again.
   */
  token?: () => Promise<string | undefined>;
  /** What a server said as a frame; undefined for what this client doesn't know. */
  readFrame(said: unknown): ServerFrame | undefined;
  /** Every frame once, in the order of its chat. */
  onFrame(frame: ServerFrame): void;
  /** The chat begins anew: what was shown of it no longer counts. */
  onReset?(chatId: string): void;
  /** A chat cannot be gone on with after a lost connection: it is not followed any more. */
  onRefused?(chatId: string, error: WireError): void;
  /**
   * The connection was lost, or could not be made again, and is tried again in so many milliseconds; `error`
   * is why. Whoever wants no further attempt closes the client in here.
   */
  onLost?(retryInMs: number, error: unknown): void;
  /** It is there again, and all chats go on. */
  onBack?(): void;
  /** Whether a first attempt that fails is tried again like later ones. */
  isPatient?: boolean;
  /** Default: that of this runtime. */
  open?: (url: string, protocols: string[]) => WebSocket;
}

/** How a message is sent. */
export interface SendOptions {
  media?: { data_url: string; name?: string }[];
  /** Until the message is accepted it takes it back; the server may have it already, so whoever aborts also cancels. */
  signal?: AbortSignal;
  /** A repeat of one that an earlier client sent has its id. Default: a new one. */
  clientMsgId?: string;
}

/** What became of a message. */
export type SendOutcome =
  /** It is on the server's disk. */
  | { turnId: string }
  /** It was a command, and this is the answer. */
  | { answer: string };

/** The server refused something; `code` is its slug. */
export class WireError extends Error {
  override readonly name = "WireError";
  constructor(message: string, readonly code: string) {
    super(message);
  }
}

/** A chat that the client follows. */
interface Followed {
  epoch?: string;
  /** Last number that was handed on. */
  seq: number;
  /** With it a later connection goes on, where the token may not read. */
  resume?: string;
}

type Pending<T> = PromiseWithResolvers<T> & {
  envelope: ClientEnvelope;
  /** Asked by the client itself, after each handshake anew. */
  isOwn?: boolean;
};

/** Time for a handshake, and for an answer to a ping. */
const ANSWER_MS = 15_000;
/** Silence after which the server is asked whether it is there. */
const IDLE_MS = 30_000;
/** First and longest wait before a new attempt. */
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;
/** Messages that wait to be accepted at once. */
const MAX_PENDING = 256;

export class WireClient {
  readonly #deps: WireClientDeps;
  readonly #chats = new Map<string, Followed>();
  /** Messages that were not accepted yet, by their ids, in order. */
  readonly #sending = new Map<string, Pending<SendOutcome>>();
  /** Audios that are being heard, by the ids of their requests. */
  readonly #hearing = new Map<string, PromiseWithResolvers<string>>();
  /** Requests for chats that `attached` answers, in order. */
  #attaching: Pending<Frame<"attached">>[] = [];
  #socket: WebSocket | undefined;
  #ready = Promise.withResolvers<Frame<"ready">>();
  #wasReady = false;
  /** The server has greeted the present connection: before that, nothing is said on it. */
  #isReady = false;
  #closed = false;
  #closedBy: unknown;
  #attempts = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: WireClientDeps) {
    this.#deps = deps;
    this.#ready.promise.catch(() => {});
  }

  /** Connects; rejects when the first attempt fails. The frame names the connection's own chat. */
  connect(): Promise<Frame<"ready">> {
    if (this.#socket === undefined && !this.#closed) void this.#open();
    return this.#ready.promise;
  }

  /** Makes a chat and follows it. */
  async newChat(): Promise<string> {
    return (await this.#attach({ type: "new_chat" })).chat_id;
  }

  /** Follows a chat: from now on, or behind a number that was seen before. */
  attach(chatId: string, seen?: { afterSeq: number; epoch?: string }): Promise<Frame<"attached">> {
    return this.#attach({
      type: "attach",
      chat_id: chatId,
      ...seen !== undefined && { after_seq: seen.afterSeq },
      ...seen?.epoch !== undefined && { epoch: seen.epoch },
    });
  }

  /** Follows a chat no longer. */
  detach(chatId: string): void {
    this.#chats.delete(chatId);
    this.#put({ type: "detach", chat_id: chatId });
  }

  /** Makes a chat of the beginning of another, and follows it. */
  async fork(chatId: string, beforeUserIndex: number): Promise<string> {
    const attached = await this.#attach({
      type: "fork_chat",
      source_chat_id: chatId,
      before_user_index: beforeUserIndex,
    });
    return attached.chat_id;
  }

  /** Sends a message, once, however often the connection is lost meanwhile. */
  send(
    chatId: string,
    content: string,
    { media, signal, clientMsgId: id = crypto.randomUUID() }: SendOptions = {},
  ): Promise<SendOutcome> {
    if (this.#closed) return Promise.reject(this.#closedBy);
    if (this.#sending.size >= MAX_PENDING) {
      return Promise.reject(new WireError(`${MAX_PENDING} messages wait already`, "overloaded"));
    }
    const envelope: ClientEnvelope = {
      type: "message",
      chat_id: chatId,
      content,
      client_msg_id: id,
      ...media !== undefined && { media },
    };
    const pending = { ...Promise.withResolvers<SendOutcome>(), envelope };
    this.#sending.set(id, pending);
    signal?.addEventListener("abort", () => {
      if (this.#sending.delete(id)) pending.reject(signal.reason);
    }, { once: true });
    this.#put(envelope);
    return pending.promise;
  }

  /** What is said in an audio, a data URL. Rejects where the connection isn't there, or is lost meanwhile. */
  transcribe(dataUrl: string): Promise<string> {
    if (this.#closed || !this.#isReady) {
      return Promise.reject(new WireError("There is no connection", "closed"));
    }
    const id = crypto.randomUUID();
    const pending = Promise.withResolvers<string>();
    this.#hearing.set(id, pending);
    this.#put({ type: "transcribe_audio", request_id: id, data_url: dataUrl });
    return pending.promise;
  }

  /** Ends the turn that runs in a chat. */
  cancel(chatId: string): void {
    this.#put({ type: "cancel", chat_id: chatId });
  }

  /** Connects at once where it waits to try again. */
  hurry(): void {
    if (this.#closed || this.#socket !== undefined || this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#open();
  }

  /** Leaves for good. What was not accepted is rejected, with the reason if one is given. */
  close(reason: unknown = new WireError("The connection was closed", "closed")): void {
    this.#end(reason);
  }

  #attach(envelope: ClientEnvelope, isOwn = false): Promise<Frame<"attached">> {
    if (this.#closed) return Promise.reject(this.#closedBy);
    const pending = { ...Promise.withResolvers<Frame<"attached">>(), envelope, isOwn };
    this.#attaching.push(pending);
    this.#put(envelope);
    return pending.promise;
  }

  /** Sends now, or not at all: what matters is kept elsewhere and sent again. */
  #put(envelope: ClientEnvelope): void {
    if (this.#socket?.readyState === WebSocket.OPEN && this.#isReady) {
      this.#socket.send(JSON.stringify(envelope));
    }
  }

  async #open(): Promise<void> {
    let socket: WebSocket;
    try {
      const token = await this.#deps.token?.();
      if (this.#closed) return;
      socket = this.#connectWith(token);
    } catch (error) {
      return this.#lost(error);
    }
    this.#socket = socket;
    this.#watch(ANSWER_MS);
    let isOpen = false;
    let cause = "";
    socket.onopen = () => isOpen = true;
    socket.onmessage = ({ data }) => this.#take(socket, String(data));
    // Followed by a close. Browsers say no more than that there was one.
    socket.onerror = (event) => {
      if ("message" in event && typeof event.message === "string") cause = event.message;
    };
    socket.onclose = ({ code, reason }) => {
      if (this.#socket !== socket) return;
      this.#lost(new WireError(whyClosed({ isOpen, code, reason: reason || cause }), "closed"));
    };
  }

  #connectWith(token: string | undefined): WebSocket {
    const url = new URL(this.#deps.url);
    if (this.#deps.clientId !== undefined) url.searchParams.set("client_id", this.#deps.clientId);
    // Not in the URL, which proxies write into their logs.
    const protocols = token === undefined ? [] : ["service.v1", `service.token.${token}`];
    const open = this.#deps.open ?? ((at, offered) => new WebSocket(at, offered));
    return open(url.href, protocols);
  }

  #lost(error: unknown): void {
    clearTimeout(this.#timer);
    this.#socket = undefined;
    this.#isReady = false;
    this.#hearNoMore(error);
    if (this.#closed) return;
    if (!this.#wasReady && !this.#deps.isPatient) return this.#end(error);
    const retryInMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#attempts++) *
      (0.5 + Math.random() / 2);
    this.#deps.onLost?.(retryInMs, error);
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#open();
    }, retryInMs);
  }

  #end(error: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#closedBy = error;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close(1000);
    this.#ready.reject(error);
    for (const { reject } of this.#sending.values()) reject(error);
    for (const { reject } of this.#attaching) reject(error);
    this.#hearNoMore(error);
    this.#sending.clear();
    this.#attaching = [];
  }

  #hearNoMore(error: unknown): void {
    for (const { reject } of this.#hearing.values()) reject(error);
    this.#hearing.clear();
  }

  /** A server that says nothing is asked; one that does not answer either is left. */
  #watch(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (ms === IDLE_MS) {
        this.#put({ type: "ping" });
        return this.#watch(ANSWER_MS);
      }
      const socket = this.#socket;
      this.#lost(new WireError("The server does not answer", "closed"));
      socket?.close();
    }, ms);
  }

  #take(socket: WebSocket, text: string): void {
    if (this.#socket !== socket) return;
    this.#watch(IDLE_MS);
    let frame: ServerFrame | undefined;
    try {
      frame = this.#deps.readFrame(JSON.parse(text));
    } catch {
      // What is no JSON is nothing that this client knows either.
    }
    if (frame === undefined) return;
    switch (frame.event) {
      case "ready":
        return this.#begin(frame);
      case "attached":
        this.#attached(frame);
        break;
      case "message_accepted":
        this.#noteTicket(frame);
        this.#settle(frame.client_msg_id, { turnId: frame.turn_id });
        break;
      case "message":
        if (frame.seq === undefined) this.#settle(frame.client_msg_id, { answer: frame.text });
        break;
      case "transcription_result":
        this.#hearing.get(frame.request_id)?.resolve(frame.text);
        this.#hearing.delete(frame.request_id);
        break;
      case "transcription_error":
        this.#hearing.get(frame.request_id)?.reject(new WireError(frame.detail, "refused"));
        this.#hearing.delete(frame.request_id);
        break;
      case "error":
        if (this.#refused(frame)) return;
        break;
    }
    if ("seq" in frame && frame.seq !== undefined && frame.chat_id !== undefined) {
      const chat = this.#chats.get(frame.chat_id);
      if (chat !== undefined) {
        if (frame.seq <= chat.seq) return;
        chat.seq = frame.seq;
      }
    }
    this.#deps.onFrame(frame);
  }

  /** Goes on with everything after a handshake. */
  #begin(frame: Frame<"ready">): void {
    const isFirst = !this.#wasReady;
    this.#wasReady = true;
    this.#isReady = true;
    this.#attempts = 0;
    // Those that the server may have answered into the void are asked again, in the order of before.
    const asked = this.#attaching.filter(({ isOwn }) => !isOwn);
    this.#attaching = [];
    if (isFirst) this.#chats.set(frame.chat_id, { seq: 0 });
    for (const [chatId, { seq, epoch, resume }] of this.#chats) {
      // The first time that is the connection's own chat, which is followed: its epoch is asked for.
      const from = isFirst ? {} : {
        after_seq: seq,
        ...epoch !== undefined && { epoch },
        ...resume !== undefined && { resume },
      };
      this.#attach({ type: "attach", chat_id: chatId, ...from }, true)
        .catch((error) => this.#forget(chatId, error));
    }
    for (const pending of asked) {
      this.#attaching.push(pending);
      this.#put(pending.envelope);
    }
    for (const { envelope } of this.#sending.values()) this.#put(envelope);
    if (isFirst) {
      this.#ready.resolve(frame);
      this.#deps.onFrame(frame);
    } else {
      this.#deps.onBack?.();
    }
  }

  #forget(chatId: string, error: unknown): void {
    if (this.#closed || !(error instanceof WireError)) return;
    this.#chats.delete(chatId);
    this.#deps.onRefused?.(chatId, error);
  }

  #attached(frame: Frame<"attached">): void {
    const at = this.#attaching.findIndex(({ envelope }) =>
      envelope.type === "attach" ? envelope.chat_id === frame.chat_id : true
    );
    const pending = at < 0 ? undefined : this.#attaching.splice(at, 1)[0];
    const known = this.#chats.get(frame.chat_id);
    const asked = pending?.envelope.type === "attach" ? pending.envelope : undefined;
    if (known === undefined) {
      // A fork and a new chat are replayed from their begin, as is a chat of another epoch.
      const isAnew = asked?.epoch !== undefined && asked.epoch !== frame.epoch;
      const seq = isAnew ? 0 : asked?.after_seq ?? (asked === undefined ? 0 : frame.last_seq);
      this.#chats.set(frame.chat_id, { epoch: frame.epoch, seq });
    } else {
      if (known.epoch !== undefined && known.epoch !== frame.epoch) {
        const wasShown = known.seq > 0;
        known.seq = 0;
        if (wasShown) this.#deps.onReset?.(frame.chat_id);
      }
      known.epoch = frame.epoch;
    }
    this.#noteTicket(frame);
    pending?.resolve(frame);
  }

  /** A chat that is followed by sending alone is gone on with as well. */
  #noteTicket({ chat_id, resume }: Frame<"attached" | "message_accepted">): void {
    if (resume === undefined) return;
    const chat = this.#chats.get(chat_id) ?? { seq: 0 };
    this.#chats.set(chat_id, { ...chat, resume });
  }

  #settle(id: string | undefined, outcome: SendOutcome): void {
    if (id === undefined) return;
    this.#sending.get(id)?.resolve(outcome);
    this.#sending.delete(id);
  }

  /** Whether an error frame was the answer to something that somebody waits for. */
  #refused({ client_msg_id, chat_id, seq, detail, code = "refused" }: Frame<"error">): boolean {
    const error = new WireError(detail, code);
    if (client_msg_id !== undefined) {
      const pending = this.#sending.get(client_msg_id);
      this.#sending.delete(client_msg_id);
      pending?.reject(error);
      return pending !== undefined;
    }
    if (seq !== undefined) return false;
    const at = this.#attaching.findIndex(({ envelope }) =>
      chat_id === undefined || chatOf(envelope) === chat_id
    );
    if (at < 0) return false;
    this.#attaching.splice(at, 1)[0]!.reject(error);
    return true;
  }
}

function chatOf(envelope: ClientEnvelope): string | undefined {
  if (envelope.type === "fork_chat") return envelope.source_chat_id;
  return "chat_id" in envelope ? envelope.chat_id : undefined;
}

/** Codes of a connection that ended without a word: the protocol's, and that of some runtimes. */
const UNSAID_CODES = [0, 1006];

function whyClosed({ isOpen, code, reason }: { isOpen: boolean; code: number; reason: string }) {
  const why = reason === "" ? "" : `: ${reason}`;
  if (!isOpen) return `The server refused the connection, or cannot be reached${why}`;
  if (UNSAID_CODES.includes(code)) return `The connection broke${why}`;
  return `The server closed the connection (${code})${why}`;
}
