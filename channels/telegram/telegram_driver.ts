/**
 * A bot that is logged in: the Bot API, for `PlatformChannel`.
 *
 * @module
 */

import type { InlineKeyboardMarkup, ReactionTypeEmoji, Update } from "grammy/types";
import {
  type ApprovalButton,
  type Edit,
  failedCall,
  type FileRules,
  inPieces,
  type IntakeEntry,
  noAnswer,
  type OutgoingFile,
  piecesOf,
  type PlatformDriver,
  type PlatformFile,
  type PlatformMessage,
  type PlatformSession,
  type Posting,
} from "../../lib/channel/platform/mod.ts";
import { PermanentDeliveryError } from "../../lib/channel/delivery_error.ts";
import type { OutboundMessage } from "../../lib/contract/outbound_message.ts";
import {
  type CallOptions,
  TelegramApi,
  type TelegramMethod,
  type TelegramParameters,
  type TelegramResult,
} from "./api/telegram_api.ts";
import { isRejection } from "./api/telegram_faults.ts";
import { Albums } from "./inbound/albums.ts";
import type { FileRef, Heard, HeardClick, HeardMessage } from "./inbound/heard.ts";
import type { BotIdentity } from "./inbound/is_addressed.ts";
import { PollUpdates } from "./inbound/poll_updates.ts";
import { readUpdate } from "./inbound/read_update.ts";
import { serveWebhook } from "./inbound/serve_webhook.ts";
import { everyMsIn, isGroup, parseChat } from "./outbound/chat_place.ts";
import { ClickAnswers } from "./outbound/click_answers.ts";
import { groupFiles, MAX_FILE_BYTES } from "./outbound/outgoing_kinds.ts";
import {
  editText,
  sendFiles,
  type SendOptions,
  sendText,
  type SentMessage,
} from "./outbound/send_text.ts";
import type { TelegramConfig } from "./settings.ts";
import {
  htmlOf,
  MAX_CAPTION_CHARS,
  shownChars,
  splitForTelegram,
} from "./text/split_for_telegram.ts";
import { COMMAND_WORDS, wordsOf } from "./words.ts";

/** A message of ours; in private, each bot counts the messages anew. */
export interface TelegramRef extends SentMessage {
  botId: number;
}

/** Telegram forgets a typing signal after five seconds (Bot API, sendChatAction). */
const TYPING_MS = 4_500;

/** Characters of a note. */
const MAX_NOTE_CHARS = 300;

/** Bytes of what a button may hold (Bot API, InlineKeyboardButton). */
const MAX_BUTTON_BYTES = 64;

/** Kinds of memory: what did not fit a button, and groups that are another chat now. */
const LONG = "button";
const MOVED = "moved";

export class TelegramDriver implements PlatformDriver<Heard, TelegramRef> {
  readonly files: FileRules<OutgoingFile> = {
    maxBytes: MAX_FILE_BYTES,
    group: groupFiles,
    // A short text stands beside the file, where there is one message of files.
    joins: ([text, ...more], groups) =>
      groups.length === 1 && more.length === 0 && shownChars(htmlOf(text!)) <= MAX_CAPTION_CHARS,
  };
  readonly typing = {
    everyMs: TYPING_MS,
    show: (chatId: string) =>
      this.#call("sendChatAction", { ...parseChat(chatId), action: "typing" }),
  };
  readonly #api: TelegramApi;
  readonly #config: TelegramConfig;
  readonly #me: BotIdentity;
  readonly #session: PlatformSession<Heard>;
  readonly #albums: Albums;
  readonly #clicks: ClickAnswers;
  readonly #polling: PollUpdates;

  private constructor(
    api: TelegramApi,
    config: TelegramConfig,
    me: BotIdentity,
    session: PlatformSession<Heard>,
  ) {
    this.#api = api;
    this.#config = config;
    this.#me = me;
    this.#session = session;
    const { host: { clock, log }, memory, words, signal } = session;
    this.#clicks = new ClickAnswers({ api, words, sent: wordsOf(config.language), clock, signal });
    this.#albums = new Albums({
      memory,
      clock,
      publish: (messages) => this.#receiveAlbum(messages),
      onFault: (error) =>
        log.warning("An album could not be kept", { reason: (error as Error).message }),
    });
    // Numbers of updates are those of a bot.
    const name = `offset:${me.id}`;
    this.#polling = new PollUpdates({
      api,
      cursor: () => session.cursor(name),
      receive: (updates, cursor) => this.#receive(updates, { [name]: cursor }),
      say: session.say,
      clock,
      log,
    });
  }

  /** Rejects as a call does. */
  static async open(
    config: TelegramConfig,
    session: PlatformSession<Heard>,
  ): Promise<TelegramDriver> {
    const { host: { clock, log }, signal } = session;
    const api = new TelegramApi({ token: config.token.trim(), apiUrl: config.apiUrl, clock });
    const me = await api.call("getMe", {}, { signal });
    if (!Number.isSafeInteger(me?.id)) throw noAnswer("Telegram does not say who the bot is");
    const words = wordsOf(config.language);
    const commands = Object.entries(COMMAND_WORDS)
      .map(([command, key]) => ({ command, description: words(key) }));
    // What Telegram shows when somebody types `/`. The bot works without it.
    await api.call("setMyCommands", { commands }, { signal }).catch((error) =>
      log.info("The commands were not listed", { reason: (error as Error).message })
    );
    const { id, username = "" } = me;
    const driver = new TelegramDriver(api, config, { id, username }, session);
    driver.#albums.restore();
    return driver;
  }

  async connect(signal: AbortSignal, ready: (who: string) => void): Promise<string> {
    const who = `@${this.#me.username}`;
    if (this.#config.mode !== "webhook") {
      return await this.#polling.run(signal, () => ready(who));
    }
    const { host, say } = this.#session;
    return await serveWebhook({
      api: this.#api,
      config: this.#config,
      host,
      receive: (updates) => this.#receive(updates),
      ready: () => ready(`${who}, by its webhook`),
      say,
    }, signal);
  }

  async close(): Promise<void> {
    this.#clicks.close();
    await this.#albums.close();
  }

  /** Resolves when the updates and the cursors are on the disk. */
  async #receive(
    updates: readonly Update[],
    cursors?: Readonly<Record<string, string>>,
  ): Promise<void> {
    const entries: IntakeEntry<Heard>[] = [];
    for (const update of updates) {
      const meaning = this.#meaningOf(update);
      if (meaning?.kind === "moved") this.#moved(meaning.from, meaning.to);
      else if (meaning?.kind === "click") await this.#click(meaning.click);
      else if (meaning?.kind === "message") {
        const { chatId, messageId, editedAt, senderId, senderName } = meaning.message;
        const sender = { senderId, senderName, ...!isGroup(chatId) && { directChatId: chatId } };
        if (!this.#session.isAllowed(sender)) continue;
        entries.push({ lane: chatId, id: String(messageId), editedAt, data: meaning });
      }
    }
    await this.#session.receive(entries, cursors);
  }

  #meaningOf(update: Update): ReturnType<typeof readUpdate> {
    try {
      return readUpdate(update, { bot: this.#me, respond: this.#config.respond });
    } catch (error) {
      // Of a kind that nobody knows: the rest is heard all the same.
      const reason = (error as Error).message;
      const { log } = this.#session.host;
      log.warning("An update cannot be read", { update: update?.update_id, reason });
      return undefined;
    }
  }

  async #receiveAlbum(messages: HeardMessage[]): Promise<void> {
    const { chatId, albumId, messageId } = messages[0]!;
    const id = `album:${albumId}:${messageId}`;
    await this.#session.receive([{ lane: chatId, id, data: { kind: "album", messages } }]);
  }

  read(heard: Heard): PlatformMessage<FileRef> | undefined {
    switch (heard.kind) {
      case "album":
        return messageOf(heard.messages);
      case "message":
        if (heard.message.albumId === undefined) return messageOf([heard.message]);
        this.#albums.add(heard.message);
    }
    return undefined;
  }

  /** Its bytes; undefined for more than may be. Rejects as a call does. */
  async fetchFile(
    { ref }: PlatformFile,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let filePath: string | undefined;
    try {
      const { fileId } = ref as FileRef;
      ({ file_path: filePath } = await this.#api.call("getFile", { file_id: fileId }, { signal }));
    } catch (error) {
      if (isRejection(error, /too big/i)) return undefined;
      throw error;
    }
    // A server in local mode names a file of its own machine.
    if (typeof filePath !== "string" || filePath.startsWith("/")) {
      throw new PermanentDeliveryError("Telegram names no file");
    }
    return await this.#api.download(filePath, maxBytes, signal);
  }

  async acknowledge(_: Heard, { chatId, metadata }: PlatformMessage): Promise<void> {
    const emoji = this.#config.ackReaction as ReactionTypeEmoji["emoji"] | "";
    if (emoji === "") return;
    await this.#call("setMessageReaction", {
      chat_id: parseChat(chatId).chat_id,
      message_id: metadata.message_id as number,
      reaction: [{ type: "emoji", emoji }],
    });
  }

  split(markdown: string): string[] {
    return splitForTelegram(markdown);
  }

  noteOf(markdown: string): string {
    return markdown.trim().slice(0, MAX_NOTE_CHARS).toWellFormed();
  }

  editEveryMs(chatId: string): number {
    return everyMsIn(chatId);
  }

  turnOf({ message_id: id }: OutboundMessage["metadata"]): string {
    return String(id ?? "");
  }

  hasButtons(): boolean {
    return true;
  }

  async post(posting: Posting): Promise<TelegramRef> {
    const { chatId, text, kind, files, buttons } = posting;
    const replyTo = this.#replyTo(posting);
    const options: SendOptions = {
      ...parseChat(chatId),
      // It may be gone by now: the answer is sent all the same.
      ...replyTo !== undefined &&
        { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } },
      ...kind === "note" && { disable_notification: true },
      ...buttons !== undefined && { reply_markup: this.#keyboardOf(buttons) },
    };
    const call = this.#call.bind(this);
    const sent = files.length > 0
      ? await sendFiles(call, { html: htmlOf(text), files }, options)
      : await sendText(call, htmlOf(text), options);
    return { ...sent, botId: this.#me.id };
  }

  async edit({ chat_id, message_id }: TelegramRef, { text }: Edit): Promise<void> {
    await editText(this.#call.bind(this), { chat_id, message_id }, htmlOf(text));
  }

  async removeNote({ botId, chat_id, message_id }: TelegramRef): Promise<void> {
    if (botId === this.#me.id) await this.#call("deleteMessage", { chat_id, message_id });
  }

  /** What the service says to a click is of interest to nobody else. */
  async answerClick({ content, media, metadata: { click } }: OutboundMessage): Promise<boolean> {
    return typeof click === "string" && media.length === 0 &&
      await this.#clicks.show(click, content);
  }

  async #click({ chatId, queryId, senderId, senderName, data }: HeardClick): Promise<void> {
    const long = /^#([\w-]+)$/.exec(data)?.[1];
    const text = long === undefined ? data : this.#session.memory.get<string>(LONG, long);
    // What its memory has lost.
    if (text === undefined) return this.#clicks.say(queryId, "expired");
    const [, verdict, approvalId, digest] = /^([ad]):(\S{1,100}):([0-9a-f]{8})$/.exec(text) ?? [];
    if (approvalId === undefined) return this.#clicks.say(queryId);
    const outcome = await this.#session.click({
      ...{ approvalId, digest: digest!, isApproved: verdict === "a" },
      ...{ senderId, senderName, chatId, clickId: queryId, metadata: { click: queryId } },
    });
    if (outcome === "taken") this.#clicks.expect(queryId);
    else this.#clicks.say(queryId, outcome);
  }

  /** The message that it answers, where that is quoted; a word of the channel's own always names it. */
  #replyTo({ chatId, metadata, isFirst, kind }: Posting): number | undefined {
    const { quote } = this.#config;
    const { message_id: replyTo } = metadata;
    const isQuoted = kind === "own" ||
      (quote !== "never" && (quote === "always" || isGroup(chatId)));
    return isFirst && isQuoted && Number.isSafeInteger(replyTo) ? replyTo as number : undefined;
  }

  #keyboardOf(buttons: readonly ApprovalButton[]): InlineKeyboardMarkup {
    const row = buttons.map(({ isApproval, label, approvalId, digest }) => {
      const data = `${isApproval ? "a" : "d"}:${approvalId}:${digest.slice(0, 8)}`;
      return { text: `${isApproval ? "✅" : "❌"} ${label}`, callback_data: this.#fitting(data) };
    });
    return { inline_keyboard: [row] };
  }

  #fitting(data: string): string {
    if (new TextEncoder().encode(data).length <= MAX_BUTTON_BYTES) return data;
    const name = crypto.randomUUID();
    this.#session.memory.set(LONG, name, data);
    return `#${name}`;
  }

  /** A group has become a supergroup, with another number. */
  #moved(from: number, to: number): void {
    if (from !== to) this.#session.memory.set(MOVED, String(from), to);
  }

  /** Calls a method that has a `chat_id`, in the chat that a group has become. */
  async #call<M extends TelegramMethod>(
    method: M,
    parameters: TelegramParameters<M> & { chat_id: number },
    options: CallOptions = {},
  ): Promise<TelegramResult<M>> {
    const { memory, signal } = this.#session;
    const { chat_id } = parameters;
    const to = memory.get<number>(MOVED, String(chat_id)) ?? chat_id;
    const call = (chat_id: number) =>
      this.#api.call(method, { ...parameters, chat_id }, { signal, ...options });
    try {
      return await call(to);
    } catch (error) {
      // The group is another chat now.
      const { migrate_to_chat_id: movedTo } = failedCall(error)?.data ?? {};
      if (typeof movedTo !== "number") throw error;
      this.#moved(chat_id, movedTo);
      return await call(movedTo);
    }
  }
}

/** One message, or those of an album as one. */
function messageOf(messages: readonly HeardMessage[]): PlatformMessage<FileRef> | undefined {
  const [first] = messages;
  if (first === undefined) return undefined;
  const { chatId, messageId, editedAt, senderId, senderName, sentAt, albumId } = first;
  const pieces = messages.flatMap(({ text: content, parts }) => piecesOf({ content, parts }));
  return {
    ...{ chatId, senderId, senderName, sentAt, metadata: { message_id: messageId } },
    messageId: albumId === undefined ? String(messageId) : `album:${albumId}:${messageId}`,
    editedAt,
    ...inPieces(pieces),
    files: messages.flatMap(({ files }) => files).map((ref) => ({
      name: ref.name,
      ...ref.bytes !== undefined && { bytes: ref.bytes },
      isAudio: ref.kind === "voice" || ref.kind === "audio",
      // Spoken into the client; any other recording may be of anybody, and is more than what is said in it.
      provenance: ref.kind === "voice" ? ref.provenance ?? "own" : "file",
      isKept: ref.kind !== "voice",
      ref,
    })),
  };
}
