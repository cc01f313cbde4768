/**
 * One client on its connection: what each of its messages does, and what it is answered. A fault is an
 * error frame, and the connection stays open.
 *
 * @module
 */

import type { SocketHost } from "../../../lib/channel/socket_host.ts";
import { ServiceError } from "../../../lib/base/errors.ts";
import type { ClientEnvelope } from "../../../lib/contract/wire/envelopes.ts";
import { errorFrame, type ErrorPlace, isHidden } from "../../../lib/listen/error_frame.ts";
import type { ServerFrame } from "../../../lib/contract/wire/frames.ts";
import type { Connection, InMessage } from "../socket/connection.ts";
import { OutFrame } from "../socket/out_frame.ts";
import type { FrameSource } from "./chat_frames.ts";
import { FollowedChats } from "./followed_chats.ts";
import { may, requireScope } from "./may.ts";
import { readMedia } from "./read_media.ts";
import { readMessage } from "./read_message.ts";
import type { ResumeTickets } from "./resume_tickets.ts";

/** What a session works with. */
export interface ClientSessionDeps {
  host: Pick<SocketHost, "chats" | "admission" | "scrub" | "log" | "random">;
  connection: Connection;
  source: FrameSource;
  tickets: ResumeTickets;
}

type Envelope<Type extends ClientEnvelope["type"]> = Extract<ClientEnvelope, { type: Type }>;

export class ClientSession {
  readonly #host: ClientSessionDeps["host"];
  readonly #connection: Connection;
  readonly #followed: FollowedChats;
  readonly #tickets: ResumeTickets;
  /** Where text without an envelope goes. */
  readonly #defaultChatId: string;

  constructor({ host, connection, source, tickets }: ClientSessionDeps) {
    this.#host = host;
    this.#tickets = tickets;
    this.#connection = connection;
    this.#followed = new FollowedChats({
      chats: host.chats,
      connection,
      source,
      tickets,
      log: host.log,
    });
    this.#defaultChatId = host.random();
  }

  /** How many chats it follows. */
  get chats(): number {
    return this.#followed.size;
  }

  /** Greets the client, and listens to it until the connection ends; `onEnd` is told then. */
  begin(onEnd?: () => void): void {
    const { peer } = this.#connection;
    this.say({ event: "ready", chat_id: this.#defaultChatId, client_id: peer.clientId });
    this.#followed.follow(this.#defaultChatId, 0);
    this.#connection.onEnd(() => {
      this.#followed.end();
      onEnd?.();
    });
    this.#connection.onMessage((message) => this.#take(message));
  }

  /** Tells the client something. */
  say(frame: ServerFrame): void {
    this.#connection.send(new OutFrame(frame));
  }

  #take(message: InMessage): void | Promise<void> {
    const read = readMessage(message);
    switch (read.kind) {
      case "nothing":
        return;
      case "fault":
        return this.#refuse(read.error, read.place);
      case "text":
        return this.#guarded(
          { chat_id: this.#defaultChatId },
          () => this.#send({ chat_id: this.#defaultChatId, content: read.text }),
        );
      case "envelope":
        return this.#guarded(placeOf(read.envelope), () => this.#do(read.envelope));
    }
  }

  /** Whatever goes wrong in it is an error frame. */
  #guarded(place: ErrorPlace, run: () => void | Promise<void>): void | Promise<void> {
    try {
      return run()?.catch((error) => this.#refuse(error, place));
    } catch (error) {
      this.#refuse(error, place);
    }
  }

  #do(envelope: ClientEnvelope): void | Promise<void> {
    if (envelope.type === "ping") return this.say({ event: "pong" });
    this.#requireAllowed();
    switch (envelope.type) {
      case "new_chat":
        return this.#newChat();
      case "attach":
        return this.#attach(envelope);
      case "detach":
        return this.#followed.leave(envelope.chat_id);
      case "message":
        return this.#send(envelope);
      case "cancel":
        return this.#cancel(envelope);
      case "fork_chat":
        return this.#fork(envelope);
      case "transcribe_audio":
        return this.#transcribe(envelope);
    }
  }

  #newChat(): void {
    requireScope(this.#connection.peer, "chat", "make a chat");
    this.#followed.requireRoom();
    const chatId = this.#host.random();
    this.#followed.sayAttached(chatId, { fromSeq: 0 });
    this.#followed.follow(chatId, 0);
  }

  #attach({ chat_id, after_seq, epoch, resume }: Envelope<"attach">): void {
    const followed = this.#followed;
    const fromSeq = this.#seenFrom(chat_id, resume);
    const head = this.#host.chats.head(followed.place(chat_id));
    const isAnew = epoch !== undefined && epoch !== head.epoch;
    const wanted = isAnew ? 0 : after_seq;
    const afterSeq = wanted === undefined ? undefined : Math.max(wanted, fromSeq);
    if (afterSeq !== undefined && afterSeq > head.seq) {
      throw new ServiceError(
        "invalid_request",
        `after_seq is ${afterSeq}: the newest event of the chat is ${head.seq}`,
        { param: "after_seq" },
      );
    }
    if (!followed.has(chat_id)) followed.requireRoom();
    followed.sayAttached(chat_id, { fromSeq });
    // Who follows it already goes on where he is: from the end on, he would miss what is under way.
    if (afterSeq === undefined && followed.has(chat_id)) return;
    followed.follow(chat_id, afterSeq ?? head.seq, fromSeq);
  }

  /** The number after which the client may see a chat. Throws `insufficient_scope` where it may see nothing. */
  #seenFrom(chatId: string, resume: string | undefined): number {
    const followed = this.#followed;
    const { peer } = this.#connection;
    if (may(peer, "read")) return 0;
    const fromSeq = followed.fromSeq(chatId) ??
      (resume && this.#tickets.read(resume, followed.resumable(chatId)));
    if (typeof fromSeq === "number") return fromSeq;
    requireScope(peer, "read", "attach to a chat that this connection neither made nor resumes");
    return 0;
  }

  #send(
    { chat_id, content, media = [], client_msg_id }: Omit<Envelope<"message">, "type">,
  ): Promise<void> {
    const { peer, closed } = this.#connection;
    const { chats } = this.#host;
    this.#requireAllowed();
    requireScope(peer, "chat", "send to a chat");
    const files = readMedia(media);
    const place = this.#followed.place(chat_id);
    if (!this.#followed.has(chat_id)) this.#followed.follow(chat_id, chats.head(place).seq);
    return this.#followed.inOrder(chat_id, async () => {
      try {
        const sent = await chats.send({
          ...place,
          sender: { actor: peer.actor, ...peer.scopes && { scopes: peer.scopes } },
          text: content,
          files,
          ...client_msg_id !== undefined && { clientMsgId: client_msg_id },
        }, closed);
        const to = { chat_id, ...client_msg_id !== undefined && { client_msg_id } };
        if (sent.kind === "turn") {
          const ticket = this.#followed.ticket(chat_id);
          this.say({ event: "message_accepted", ...to, turn_id: sent.turnId, ...ticket });
        } else {
          this.say({ event: "message", ...to, text: this.#host.scrub(sent.text) });
        }
      } catch (error) {
        this.#refuse(error, { chat_id, ...client_msg_id !== undefined && { client_msg_id } });
      }
    });
  }

  #cancel({ chat_id }: Envelope<"cancel">): void | Promise<void> {
    requireScope(this.#connection.peer, "chat", "end a turn");
    const { chats } = this.#host;
    const place = this.#followed.place(chat_id);
    if (chats.cancel(place)) return;
    // What came before it may not be a turn yet, and is meant as well.
    return this.#followed.inOrder(chat_id, () => Promise.resolve(void chats.cancel(place)));
  }

  async #fork(
    { source_chat_id, before_user_index }: Envelope<"fork_chat">,
  ): Promise<void> {
    const { peer } = this.#connection;
    requireScope(peer, "chat", "make a chat");
    // Of a chat that it followed from its begin there is nothing that it may not see.
    if (this.#followed.fromSeq(source_chat_id) !== 0) {
      requireScope(peer, "read", "fork a chat that this connection did not make");
    }
    this.#followed.requireRoom();
    const chatId = this.#host.random();
    await this.#host.chats.fork({
      ...this.#followed.place(chatId),
      sourceChatId: source_chat_id,
      beforeUserIndex: before_user_index,
    });
    // Others may have taken the last room meanwhile.
    this.#followed.requireRoom();
    this.#followed.sayAttached(chatId, { sourceChatId: source_chat_id, fromSeq: 0 });
    // Whoever may not read has made all that is in it.
    this.#followed.follow(chatId, 0);
  }

  async #transcribe({ request_id, data_url }: Envelope<"transcribe_audio">): Promise<void> {
    const { peer, closed } = this.#connection;
    requireScope(peer, "chat", "transcribe an audio");
    try {
      const text = await this.#host.chats.transcribe(data_url, closed);
      this.say({ event: "transcription_result", request_id, text: this.#host.scrub(text) });
    } catch (error) {
      if (closed.aborted) return;
      const { detail } = this.#told(error, {});
      this.say({ event: "transcription_error", request_id, detail });
    }
  }

  /** The client's id once more, since the list may be another one than at the handshake. */
  #requireAllowed(): void {
    const { peer } = this.#connection;
    if (this.#host.admission.isAllowed(peer)) return;
    throw new ServiceError(
      "refused",
      `client_id ${JSON.stringify(peer.clientId)} is not in channels.websocket.allowFrom`,
    );
  }

  #refuse(error: unknown, place: ErrorPlace): void {
    if (this.#connection.closed.aborted) return;
    this.say(this.#told(error, place));
  }

  #told(error: unknown, place: ErrorPlace) {
    let logId: string | undefined;
    if (isHidden(error)) {
      logId = this.#host.random();
      this.#host.log.error("A WebSocket client's message failed", {
        log_id: logId,
        reason: reasonOf(error),
      });
    }
    const frame = errorFrame(error, place, { logId });
    return { ...frame, detail: this.#host.scrub(frame.detail) };
  }
}

function placeOf(envelope: ClientEnvelope): ErrorPlace {
  switch (envelope.type) {
    case "message": {
      const { chat_id, client_msg_id } = envelope;
      return { chat_id, ...client_msg_id !== undefined && { client_msg_id } };
    }
    case "attach":
    case "detach":
    case "cancel":
      return { chat_id: envelope.chat_id };
    case "fork_chat":
      return { chat_id: envelope.source_chat_id };
    default:
      return {};
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
