/**
 * A bot that is connected: Discord's gateway and API, for `PlatformChannel`.
 *
 * @module
 */

import type { GatewayDispatchPayload } from "discord.js";
import { PermanentDeliveryError } from "../../lib/channel/delivery_error.ts";
import {
  boundedFetch,
  type Edit,
  failedCall,
  type FileRules,
  NOT_PERMITTED,
  type OutgoingFile,
  type PlatformDriver,
  type PlatformFile,
  type PlatformMessage,
  type PlatformSession,
  type Posting,
  reasonOf,
  sleep,
  TOO_LARGE,
} from "../../lib/channel/platform/mod.ts";
import { registerCommand } from "./account/register_command.ts";
import { OwnMessages } from "./account/own_messages.ts";
import { bareEvent, isBare } from "./gateway/bare_event.ts";
import { Bookmark, type BotIdentity } from "./gateway/bookmark.ts";
import { EventQueue } from "./gateway/event_queue.ts";
import { Gateway } from "./gateway/gateway.ts";
import { AnswerThreads } from "./inbound/answer_threads.ts";
import type { InboundFile, InboundItem } from "./inbound/inbound_item.ts";
import { InteractionResponder } from "./inbound/interaction_responder.ts";
import { filesOf, object } from "./inbound/read_message.ts";
import { type ReceivedEvent, Receiver } from "./inbound/receiver.ts";
import { type MessageRef, Sender } from "./outbound/sender.ts";
import { DiscordApi, isSnowflake } from "./rest/discord_api.ts";
import { DiscordRest } from "./rest/discord_rest.ts";
import { loginRefused } from "./rest/discord_faults.ts";
import type { DiscordConfig } from "./settings.ts";
import { splitForDiscord } from "./text/to_discord.ts";
import { toStatus } from "./text/to_status.ts";
import { wordsOf } from "./words.ts";

/**
 * GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES and MESSAGE_CONTENT. What Discord tells of servers and threads
 * stands under the first (developer documentation, "List of Intents", "Threads").
 */
const INTENTS = 1 | (1 << 9) | (1 << 12) | (1 << 15);

/** Discord shows for 10 s that somebody types, milliseconds. */
const TYPING_MS = 8_500;
/** Five edits in 5 s are taken for a channel, milliseconds; a note leaves most of them to an answer. */
const EDIT_MS = 1_200;
const NOTE_MS = 1_500;

/** A store that gives nothing is left alone after so long, milliseconds. */
const FETCH_MS = 60_000;

/** Files of a message: on servers without boosts, and in direct messages. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_MESSAGE_BYTES = 24 * 1024 * 1024;
const MAX_FILES = 10;

/** A file, and where it stands: addresses end after a day. */
interface FileRef {
  chatId: string;
  messageId: string;
  index: number;
  url: string;
}

export class DiscordDriver implements PlatformDriver<InboundItem, MessageRef> {
  readonly knowsKeys = true;
  readonly files: FileRules<OutgoingFile> = {
    maxBytes: MAX_FILE_BYTES,
    takesEmpty: true,
    group: groupFiles,
    joins: () => true,
  };
  readonly typing = {
    everyMs: TYPING_MS,
    show: (chatId: string) => isSnowflake(chatId) ? this.#api.typing(chatId) : Promise.resolve(),
  };
  readonly #settings: DiscordConfig;
  readonly #session: PlatformSession<InboundItem>;
  readonly #closing = new AbortController();
  readonly #rest: DiscordRest;
  readonly #api: DiscordApi;
  readonly #sender: Sender;
  readonly #threads: AnswerThreads;
  readonly #own: OwnMessages;
  readonly #receiver: Receiver;
  readonly #queue: EventQueue<ReceivedEvent>;
  readonly #gateway: Gateway;
  readonly #responder: InteractionResponder;
  #ready: (who: string) => void = () => {};

  private constructor(
    settings: DiscordConfig,
    session: PlatformSession<InboundItem>,
    key: string,
  ) {
    this.#settings = settings;
    this.#session = session;
    const { host: { clock, log }, memory, cursor, warn } = session;
    const { signal } = this.#closing;
    const pause = (ms: number) => sleep(ms, clock, signal);
    this.#rest = new DiscordRest({
      ...settings,
      clock,
      signal: session.signal,
      onRefused: () => session.refused(loginRefused()),
    });
    const api = this.#api = new DiscordApi(this.#rest);
    const sender = this.#sender = new Sender({ api, tag: tagOf(memory), clock, sleep: pause });
    const threads = this.#threads = new AnswerThreads({ api, memory, log });
    const own = this.#own = new OwnMessages({
      clock,
      wasSent: (id) => sender.hasSent(id),
      warn,
    });
    const bookmark = new Bookmark(key, { session: cursor("session"), seen: cursor("seen") });
    this.#responder = new InteractionResponder({ api, session, settings });
    this.#receiver = new Receiver({
      bookmark,
      api,
      intake: { add: session.receive },
      respond: settings.respond,
      isOwnThread: (channelId) => threads.isOwn(channelId),
      isAllowed: session.isAllowed,
      isOwnNonce: (nonce) => sender.isOwn(nonce),
      onConnected: (identity, isNew) => this.#onConnected(identity, isNew),
      onForeign: (id) => own.suspect(id),
      clock,
      log,
      signal,
    });
    this.#queue = new EventQueue({
      handle: (event) => this.#receiver.handle(event),
      replaces: (event, last) => isBare(event.payload) && isBare(last.payload),
      onFull: () => this.#gateway.pause(),
    });
    this.#gateway = new Gateway({
      token: settings.token,
      intents: INTENTS,
      info: () => api.gateway(),
      session: () => bookmark.session,
      onSessionLost: () => bookmark.session = undefined,
      onDispatch: (payload) => this.#onDispatch(payload),
      room: () => this.#queue.room(),
      say: session.say,
      clock,
    });
  }

  /** Its first connection tells whether it may log in. */
  static async open(
    settings: DiscordConfig,
    session: PlatformSession<InboundItem>,
  ): Promise<DiscordDriver> {
    const whose = new TextEncoder().encode(`${settings.apiUrl}\0${settings.token}`);
    const hash = await crypto.subtle.digest("SHA-256", whose);
    return new DiscordDriver(settings, session, new Uint8Array(hash).toHex().slice(0, 16));
  }

  async connect(signal: AbortSignal, ready: (who: string) => void): Promise<string> {
    this.#ready = ready;
    return await this.#gateway.connect(signal);
  }

  /** Its session can be resumed for a while. */
  async close(): Promise<void> {
    this.#own.close();
    this.#closing.abort(new DOMException("The channel is stopping", "AbortError"));
    const dealtWith = this.#queue.close();
    await this.#receiver.close();
    await dealtWith;
    this.#rest.close();
  }

  /** An interaction has to be answered within 3 seconds, whatever else waits. */
  #onDispatch(payload: GatewayDispatchPayload): void {
    const isInteraction = payload.t as string === "INTERACTION_CREATE";
    const interaction = isInteraction ? this.#responder.answer(payload.d) : undefined;
    const event = { payload: bareEvent(payload) };
    this.#queue.push({ ...event, ...interaction !== undefined && { interaction } });
  }

  #onConnected(identity: BotIdentity, isNew: boolean): void {
    const { slashCommand, slashServers, language } = this.#settings;
    const { memory, host: { log } } = this.#session;
    this.#ready(`${identity.name} (${identity.userId})`);
    if (!isNew) return;
    const words = wordsOf(language);
    // Kept before Discord is asked, so that none is left there whatever ends the process.
    const formerNames = memory.get<string[]>("command", "names") ?? [];
    const names = [...new Set([...formerNames, slashCommand])].filter((name) => name !== "");
    if (names.length === 0) return;
    memory.set("command", "names", names.slice(-20));
    registerCommand(this.#api, {
      applicationId: identity.applicationId,
      name: slashCommand,
      formerNames,
      description: words("askDescription"),
      optionDescription: words("askOption"),
      servers: slashServers,
    }).catch((error) => {
      if (this.#closing.signal.aborted) return;
      const reason = reasonOf(error).slice(0, 300);
      log.warning("The slash command could not be registered", { reason });
    });
  }

  /** Opens the thread that the answer stands in. */
  async read(item: InboundItem): Promise<PlatformMessage<FileRef> | undefined> {
    const { senderId, senderName, messageId, editedAt, sentAt, metadata, content, parts } = item;
    if (!isSnowflake(messageId)) return undefined;
    return {
      ...{ senderId, messageId, editedAt, sentAt, metadata, content },
      chatId: await this.#chatOf(item),
      ...senderName !== undefined && { senderName },
      ...parts !== undefined && { parts },
      files: item.files.map(({ name, url, sizeBytes: bytes }, index) => ({
        ...{ name, bytes, isAudio: item.isVoice && index === 0 },
        provenance: "own",
        ref: { chatId: item.chatId, messageId, index, url },
      })),
    };
  }

  async #chatOf(item: InboundItem): Promise<string> {
    if (!item.mayThread || this.#settings.threads === "off") return item.chatId;
    if (item.editedAt === undefined) return await this.#threads.open(item);
    return this.#threads.isOwn(item.messageId) ? item.messageId : item.chatId;
  }

  async fetchFile(
    { ref }: PlatformFile,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { chatId, messageId, index, url } = ref as FileRef;
    const first = await this.#fetch(url, maxBytes, signal);
    if (first !== "gone") return first;
    const fresh: readonly InboundFile[] = filesOf(
      object(await this.#api.message(chatId, messageId)),
    );
    const again = fresh[index];
    const second = again === undefined ? "gone" : await this.#fetch(again.url, maxBytes, signal);
    if (second === "gone") throw new PermanentDeliveryError("Discord has no such file");
    return second;
  }

  async #fetch(
    url: string,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | undefined | "gone"> {
    const { clock } = this.#session.host;
    const bounds = { peer: "Discord's store", timeoutMs: FETCH_MS, maxBytes, clock, signal };
    try {
      const answer = await boundedFetch(url, undefined, bounds);
      if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
      if (answer.status !== 429 && answer.status < 500) return "gone";
      throw new Error(`Discord's store answered ${answer.status}`);
    } catch (error) {
      const { code } = failedCall(error) ?? {};
      if (code === TOO_LARGE) return undefined;
      if (code === NOT_PERMITTED) return "gone";
      throw error;
    }
  }

  async acknowledge({ isMessage, chatId, messageId }: InboundItem): Promise<void> {
    const { ackReaction } = this.#settings;
    if (isMessage && ackReaction !== "") await this.#api.react(chatId, messageId, ackReaction);
  }

  split(markdown: string): string[] {
    return splitForDiscord(markdown);
  }

  noteOf(markdown: string): string {
    return toStatus(markdown);
  }

  editEveryMs(_: string, kind: "answer" | "note"): number {
    return kind === "note" ? NOTE_MS : EDIT_MS;
  }

  hasButtons(): boolean {
    return true;
  }

  post(posting: Posting): Promise<MessageRef> {
    return this.#sender.post(posting);
  }

  edit(ref: MessageRef, edit: Edit): Promise<void> {
    return this.#sender.edit(ref, edit);
  }

  removeNote({ channelId, id }: MessageRef): Promise<unknown> {
    return this.#api.deleteMessage(channelId, id);
  }
}

/** As many as one message takes. */
function groupFiles(files: readonly OutgoingFile[]): OutgoingFile[][] {
  const groups: OutgoingFile[][] = [];
  let bytes = 0;
  for (const file of files) {
    const last = groups.at(-1);
    const fits = last !== undefined && last.length < MAX_FILES &&
      bytes + file.bytes <= MAX_MESSAGE_BYTES;
    if (fits) last.push(file);
    else groups.push([file]);
    bytes = fits ? bytes + file.bytes : file.bytes;
  }
  return groups;
}

/** What the nonces of this installation begin with. */
function tagOf(memory: PlatformSession<never>["memory"]): string {
  const kept = memory.get<string>("tag", "nonce");
  if (kept !== undefined) return kept;
  const tag = crypto.randomUUID().slice(0, 6);
  memory.set("tag", "nonce", tag);
  return tag;
}
