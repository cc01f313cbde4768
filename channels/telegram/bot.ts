/**
 * A bot that is logged in: what comes in waits on the disk and is handed on, what goes out is shown the
 * way that belongs to it.
 *
 * @module
 */

import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import type { HandledMessage, Published } from "../../lib/contract/inbound_message.ts";
import type {
  OutboundEvent,
  OutboundMessage,
  StreamDelta,
} from "../../lib/contract/outbound_message.ts";
import {
  Intake,
  Memory,
  removeLeftFiles,
  type StatusNotes,
  Typing,
} from "../../lib/channel/platform/mod.ts";
import type { TelegramApi } from "./api/telegram_api.ts";
import { Approvals } from "./outbound/approvals.ts";
import { parseChat } from "./outbound/chat_place.ts";
import { Chats } from "./outbound/chats.ts";
import { ClickAnswers } from "./outbound/click_answers.ts";
import { createNotes, noteText, type SentNote } from "./outbound/create_notes.ts";
import { Sender } from "./outbound/sender.ts";
import { Streams } from "./outbound/streams.ts";
import type { TelegramConfig } from "./settings.ts";
import { Albums } from "./inbound/albums.ts";
import type { Heard, HeardMessage } from "./inbound/heard.ts";
import type { BotIdentity } from "./inbound/is_addressed.ts";
import { pollUpdates } from "./inbound/poll_updates.ts";
import { receiveUpdates } from "./inbound/receive_updates.ts";
import { serveWebhook } from "./inbound/serve_webhook.ts";
import { MessageHandler } from "./inbound/message_handler.ts";
import type { Words } from "./words.ts";

/** What a bot works with. */
export interface TelegramBotDeps {
  api: TelegramApi;
  me: BotIdentity;
  config: TelegramConfig;
  host: ChannelHost;
  words: Words;
  /** Aborted when nothing is to be sent any more. */
  sendSignal: AbortSignal;
  isAllowed: (senderId: string) => boolean;
  handle: (message: HandledMessage) => Promise<Published>;
  transcribe: (path: string) => Promise<string>;
}

/** Telegram forgets a typing signal after five seconds (Bot API, sendChatAction). */
const TYPING_MS = 4_500;

export class TelegramBot {
  readonly #deps: TelegramBotDeps;
  readonly #memory: Memory;
  readonly #chats: Chats;
  readonly #sender: Sender;
  readonly #approvals: Approvals;
  readonly #clicks: ClickAnswers;
  readonly #notes: StatusNotes<SentNote>;
  readonly #typing: Typing;
  readonly #albums: Albums;
  readonly #messageHandler: MessageHandler;
  readonly #streams: Streams;
  #intake!: Intake<Heard>;
  #detail = "";

  private constructor(deps: TelegramBotDeps) {
    this.#deps = deps;
    const { api, config, host, words, sendSignal: signal } = deps;
    const { clock, log, stateDir } = host;
    const botId = deps.me.id;
    const memory = this.#memory = new Memory(stateDir);
    const chats = this.#chats = new Chats({ api, memory });
    this.#sender = new Sender({ chats, words, quote: config.quote, signal });
    this.#approvals = new Approvals({ chats, sender: this.#sender, memory, words, clock, signal });
    this.#clicks = new ClickAnswers({ api, words, clock, signal });
    this.#notes = createNotes({ botId, chats, memory, clock, signal });
    this.#typing = new Typing({
      clock,
      everyMs: TYPING_MS,
      show: (chatId) =>
        chats.call("sendChatAction", { ...parseChat(chatId), action: "typing" }, { signal }),
    });
    this.#albums = new Albums({
      memory,
      clock,
      publish: (messages) => this.#publishAlbum(messages),
      onFault: (error) =>
        log.warning("An album could not be kept", { reason: (error as Error).message }),
    });
    this.#messageHandler = new MessageHandler({
      api,
      chats,
      albums: this.#albums,
      approvals: this.#approvals,
      clicks: this.#clicks,
      words,
      ackReaction: config.ackReaction.trim(),
      stateDir,
      handle: deps.handle,
      transcribe: deps.transcribe,
      clock,
      onTurn: (chatId) => this.#typing.begin(chatId),
      log,
      sendSignal: signal,
    });
    this.#streams = new Streams({ chats, sender: this.#sender, clock, signal });
  }

  /** With what a process before this one has left. */
  static async open(deps: TelegramBotDeps): Promise<TelegramBot> {
    const { stateDir, clock, log } = deps.host;
    await Deno.mkdir(stateDir, { recursive: true, mode: 0o700 });
    await removeLeftFiles(stateDir);
    const bot = new TelegramBot(deps);
    try {
      bot.#intake = await Intake.open<Heard>({
        stateDir,
        take: (heard, signal) => bot.#messageHandler.take(heard, signal),
        note: (text) => deps.host.setNote(text),
        clock,
        log,
      });
    } catch (error) {
      bot.#memory.close();
      throw error;
    }
    return bot;
  }

  /** Reads what comes in until the signal is aborted. Rejects with a LoginRefusedError. */
  async run(signal: AbortSignal): Promise<void> {
    const { api, me, config, host, isAllowed } = this.#deps;
    const { clock, log } = host;
    const receive = receiveUpdates({
      intake: this.#intake,
      options: { bot: me, respond: config.respond, isAllowed },
      chats: this.#chats,
      clicks: this.#clicks,
      log,
    });
    // Numbers of updates are those of a bot.
    const name = `offset:${me.id}`;
    const say = (problem: string | undefined) => this.#say(problem);
    this.#notes.restore();
    this.#albums.restore();
    this.#intake.start();
    say(undefined);
    if (config.mode === "webhook") {
      const { webhookUrl, webhookHost, webhookPort: port, webhookSecret } = config;
      const secret = webhookSecret.trim();
      const address = { url: webhookUrl.trim(), host: webhookHost.trim(), port, secret };
      const listen = host.listen.bind(host);
      return await serveWebhook({ api, address, listen, receive, say, clock, log }, signal);
    }
    await pollUpdates({
      api,
      cursor: () => this.#intake.cursor(name),
      receive: (updates, cursor) => receive(updates, { [name]: cursor }),
      say,
      clock,
      log,
    }, signal);
  }

  /** Delivers a message, or shows what it says of a turn. Rejects as `send` of a channel does. */
  async send(message: OutboundMessage, event: OutboundEvent | undefined): Promise<void> {
    const { chatId, content, media, metadata } = message;
    const turn = turnOf(metadata);
    const isNothing = content.trim() === "" && media.length === 0;
    switch (event?.type) {
      case undefined:
        if (isNothing || await this.#isShownToWhoClicked(message)) return;
        await this.#sender.send(message);
        // The end of a turn is told once, and may be lost.
        return void this.#notes.end(chatId, turn);
      case "goal_status":
        if (isNothing) return;
        return void await this.#sender.send(message);
      case "approval":
        if (isNothing) return;
        return await this.#approvals.show(message, event);
      case "approval_resolved":
        return await this.#approvals.resolve(message, event);
      case "progress":
        return await this.#notes.show(chatId, noteText(content), turn);
      case "turn_end":
        this.#typing.end(chatId);
        return await this.#notes.end(chatId, turn);
      case "stream_delta":
      case "stream_end": {
        const streamEnd = event.type === "stream_end";
        const resuming = event.type === "stream_end" && event.resuming;
        const { streamId } = event;
        return await this.sendDelta({
          chatId,
          delta: content,
          metadata,
          streamId,
          streamEnd,
          resuming,
        });
      }
      default:
        // Thoughts are not shown, and what comes later is not known.
        return;
    }
  }

  /** What the service says to a click is of interest to nobody else. */
  async #isShownToWhoClicked({ content, media, metadata }: OutboundMessage): Promise<boolean> {
    const { click } = metadata;
    return typeof click === "string" && media.length === 0 &&
      await this.#clicks.show(click, content);
  }

  async sendDelta(piece: StreamDelta): Promise<void> {
    await this.#streams.push(piece);
    const { chatId, metadata, streamEnd, resuming } = piece;
    if (streamEnd && !resuming) void this.#notes.end(chatId, turnOf(metadata));
  }

  /** What waits for its time to be shown waits no longer. */
  endWaits(): void {
    this.#clicks.close();
    this.#typing.close();
    this.#streams.close();
  }

  async close(): Promise<void> {
    this.endWaits();
    await this.#albums.close();
    await this.#intake.close();
    await this.#notes.close();
    this.#memory.close();
  }

  #say(problem: string | undefined): void {
    const { host, me, config } = this.#deps;
    const how = config.mode === "webhook" ? ", by its webhook" : "";
    const detail = problem ?? `connected as @${me.username}${how}`;
    if (detail !== this.#detail) host.setDetail(this.#detail = detail);
  }

  async #publishAlbum(messages: HeardMessage[]): Promise<void> {
    const { chatId, albumId, messageId } = messages[0]!;
    const id = `album:${albumId}:${messageId}`;
    await this.#intake.add([{ lane: chatId, id, data: { kind: "album", messages } }]);
  }
}

/** Turns of a chat are told apart by the message that each answers. */
function turnOf({ message_id: id }: OutboundMessage["metadata"]): string {
  return String(id ?? "");
}
