/**
 * Chats and rooms of an XMPP account.
 *
 * @module
 */

import { BaseChannel, type PackageConfig } from "../../lib/channel/base_channel.ts";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import { LoginRefusedError, NotConnectedError } from "../../lib/channel/delivery_error.ts";
import { eventOf } from "../../lib/channel/outbound_event.ts";
import type { OutboundMessage, StreamDelta } from "../../lib/contract/outbound_message.ts";
import {
  backoffMs,
  EditedStreams,
  Intake,
  Memory,
  removeLeftFiles,
  sleep,
  StatusNotes,
  Typing,
} from "../../lib/channel/platform/mod.ts";
import { type XmppSettings, xmppSettings } from "./settings.ts";
import { readCaCerts } from "./client/ca_certs.ts";
import { foldAddresses } from "./client/jid.ts";
import { ownAbilities } from "./client/own_abilities.ts";
import { xml, type XmlElement } from "./client/xmpp_library.ts";
import { Connection } from "./connection.ts";
import type { FileHost } from "./files/http_client.ts";
import { approvalId, composeState, readMetadata } from "./messages/compose_message.ts";
import type { HeardMessage } from "./messages/heard_message.ts";
import { Outbox, type PostedMessage } from "./messages/outbox.ts";
import { statusLine } from "./messages/status_line.ts";
import { MessageHandler } from "./messages/message_handler.ts";
import { messageParts } from "./text/message_parts.ts";
import { wordsOf } from "./words.ts";

/** The fields of the manifest, defaults included. */
export type XmppConfig = PackageConfig & Readonly<Record<string, unknown>>;

/** A connection that held for so long was none of a server that sends us away. */
const STEADY_MS = 60_000;

/** Each new text of an answer is a message of its own, in archives too. */
const EDIT_EVERY_MS = 1_000;

/** Least time between two texts of a status, milliseconds. */
const STATUS_EVERY_MS = 3_000;

/** Programs take the sign away by themselves after some time, if at all. */
const TYPING_EVERY_MS = 30_000;

export class XmppChannel extends BaseChannel<XmppConfig> {
  readonly #settings: XmppSettings;
  readonly #ending = new AbortController();
  readonly #outbox: Outbox;
  readonly #streams: EditedStreams<PostedMessage>;
  readonly #typing: Typing;
  readonly #notes: StatusNotes<string>;
  #isRunning = false;
  #started: Promise<void> | undefined;
  #connection: Connection | undefined;
  #caCerts: readonly string[] = [];
  #problem = "it is not started";

  /** Throws `config_invalid`, naming the field that is wrong. */
  constructor(config: XmppConfig, host: ChannelHost) {
    super({ ...config, allowFrom: foldAddresses(config.allowFrom) }, host);
    this.#settings = xmppSettings(config);
    const { clock } = host;
    this.#outbox = new Outbox({
      link: () => {
        const { session, rooms } = this.#link();
        return { session, room: (jid) => rooms.get(jid) };
      },
      domain: this.#settings.jid.domain,
      words: wordsOf(this.#settings.language),
      files: () => this.#fileHost(),
      signal: this.#ending.signal,
    });
    this.#streams = new EditedStreams({
      post: ({ chatId, metadata }, markdown) =>
        this.#outbox.post(chatId, markdown, readMetadata(metadata)),
      edit: (posted, markdown) => this.#outbox.edit(posted, markdown),
      split: messageParts,
      everyMs: EDIT_EVERY_MS,
      clock,
    });
    this.#typing = new Typing({
      clock,
      everyMs: TYPING_EVERY_MS,
      show: (chatId) => this.#showState(chatId, "composing"),
      hide: (chatId) => this.#showState(chatId, "active"),
    });
    // The form that XMPP has for it: it goes to the chat alone, notifies nobody and is kept nowhere.
    this.#notes = new StatusNotes<string>({
      post: (chatId, text) => {
        this.#showPresence(chatId, [xml("show", {}, "dnd"), xml("status", {}, text)]);
        return Promise.resolve(chatId);
      },
      edit: (chatId, text) => {
        this.#showPresence(chatId, [xml("show", {}, "dnd"), xml("status", {}, text)]);
        return Promise.resolve();
      },
      remove: (chatId) => Promise.resolve(this.#showPresence(chatId, [])),
      clock,
      everyMs: () => STATUS_EVERY_MS,
    });
  }

  override get isRunning(): boolean {
    return this.#isRunning;
  }

  override start(): Promise<void> {
    this.#started ??= this.#run().finally(() => this.#isRunning = false);
    return this.#started;
  }

  override async stop(): Promise<void> {
    this.#isRunning = false;
    this.#problem = "it was stopped";
    this.#ending.abort(new Error("The channel was stopped"));
    await this.#started?.catch(() => {});
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    const { stateDir, clock, log } = this.host;
    if (signal.aborted) return;
    this.#caCerts = await readCaCerts(this.#settings.caFile);
    await Deno.mkdir(stateDir, { recursive: true, mode: 0o700 });
    await removeLeftFiles(stateDir);
    const memory = new Memory(stateDir);
    try {
      const handler = this.#messageHandler(memory);
      const intake = await Intake.open<HeardMessage>({
        stateDir,
        take: (heard, signal) => handler.take(heard, signal),
        note: (text) => this.host.setNote(text),
        clock,
        log,
      });
      try {
        await this.#stayConnected(intake, memory);
      } finally {
        await intake.close();
      }
    } finally {
      this.#streams.close();
      this.#typing.close();
      await this.#notes.close();
      memory.close();
    }
  }

  async #stayConnected(intake: Intake<HeardMessage>, memory: Memory): Promise<void> {
    const { signal } = this.#ending;
    const { clock, log } = this.host;
    const { host, port } = this.#settings;
    const abilities = await ownAbilities();
    this.#isRunning = !signal.aborted;
    for (let failures = 0; !signal.aborted;) {
      const beganMs = clock.elapsed();
      this.host.setDetail(`connecting to ${host}:${port}`);
      try {
        const connection = await Connection.open({
          settings: this.#settings,
          caCerts: this.#caCerts,
          abilities,
          intake,
          memory,
          isAllowed: (senderId) => this.isAllowed(senderId),
          meet: (stranger) => this.host.meet(stranger),
          clock,
          log,
          onChange: () => this.#describe(),
        }, signal);
        // From now on it can be asked who is a bot.
        this.#connection = connection;
        intake.start();
        throw await this.#hold(connection);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof LoginRefusedError) {
          this.host.setDetail(error.message);
          throw error;
        }
        this.#problem = error instanceof Error ? error.message : String(error);
      }
      failures = clock.elapsed() - beganMs > STEADY_MS ? 0 : failures + 1;
      const waitMs = backoffMs(failures);
      this.host.setDetail(
        `not connected: ${this.#problem}; again in ${Math.ceil(waitMs / 1_000)} s`,
      );
      log.info("The connection to XMPP is gone", { reason: this.#problem, waitMs });
      await sleep(waitMs, clock, signal);
    }
  }

  /** Until it is over; resolves with why. */
  async #hold(connection: Connection): Promise<Error> {
    const { signal } = this.#ending;
    this.#describe();
    const stopped = Promise.withResolvers<Error>();
    const stop = () => stopped.resolve(new Error("it was stopped"));
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await Promise.race([connection.session.closed, stopped.promise]);
    } finally {
      signal.removeEventListener("abort", stop);
      this.#connection = undefined;
      await connection.close();
    }
  }

  #describe(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    const places = connection.rooms.describe();
    this.host.setDetail(
      `connected as ${connection.session.bareJid}${places === "" ? "" : `, ${places}`}`,
    );
  }

  #messageHandler(memory: Memory): MessageHandler {
    const { stateDir, log } = this.host;
    return new MessageHandler({
      stateDir,
      memory,
      words: wordsOf(this.#settings.language),
      files: () => this.#fileHost(),
      isAllowed: (senderId) => this.isAllowed(senderId),
      isBot: (address) => this.#connection?.bots.has(address) ?? Promise.resolve(false),
      tell: async ({ chatId, thread }, text) => {
        await this.#outbox.post(chatId, text, { ...thread !== undefined && { thread } });
      },
      post: (stanza) => this.#connection?.session.post(stanza),
      handle: (message) => this.handleMessage(message),
      transcribe: (path) => this.transcribeAudio(path),
      onTurn: (chatId) => this.#typing.begin(chatId),
      log,
    });
  }

  override async send(message: OutboundMessage): Promise<void> {
    const event = eventOf(message);
    this.#link();
    switch (event?.type) {
      case undefined:
        return await this.#outbox.send(message);
      case "approval":
        return await this.#outbox.send(message, approvalId(event.id));
      case "approval_resolved":
        return await this.#resolveApproval(message, event.id);
      case "progress":
      case "goal_status":
        return await this.#notes.show(message.chatId, statusLine(message.content));
      case "turn_end":
        this.#typing.end(message.chatId);
        return await this.#notes.end(message.chatId);
      default:
        // XMPP has nothing for it.
    }
  }

  override sendDelta(piece: StreamDelta): Promise<void> {
    return this.#streams.push(piece);
  }

  /** How it came out takes the place of the question, which nobody has to answer any more. */
  async #resolveApproval(
    { chatId, content, metadata }: OutboundMessage,
    id: string,
  ): Promise<void> {
    const [text] = messageParts(content);
    if (text === undefined) return;
    const posted = { chatId, id: approvalId(id), metadata: readMetadata(metadata) };
    await this.#outbox.edit(posted, text);
  }

  #link(): Connection {
    if (this.#connection !== undefined && this.#isRunning) return this.#connection;
    throw new NotConnectedError(this.#problem);
  }

  #fileHost(): FileHost | undefined {
    const { uploadUrl } = this.#settings;
    return uploadUrl === undefined ? undefined : { url: uploadUrl, caCerts: this.#caCerts };
  }

  #showPresence(chatId: string, children: readonly XmlElement[]): void {
    const connection = this.#connection;
    const room = connection?.rooms.get(chatId);
    if (room?.isIn === false) return;
    const to = room === undefined ? chatId : `${chatId}/${room.nick}`;
    connection?.session.post(xml("presence", { to }, ...children));
  }

  #showState(chatId: string, state: "composing" | "active"): Promise<void> {
    const connection = this.#connection;
    const room = connection?.rooms.get(chatId);
    if (room?.isIn !== false) {
      connection?.session.post(composeState(chatId, room !== undefined, state));
    }
    return Promise.resolve();
  }
}
