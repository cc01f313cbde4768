/**
 * Hands what waits in the intake to the service: a message or an album with its files, or a click.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { ChannelHost } from "../../../lib/channel/channel_host.ts";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type { HandledMessage, Published } from "../../../lib/contract/inbound_message.ts";
import {
  abortable,
  InboundFiles,
  inPieces,
  others,
  piecesOf,
  Tries,
} from "../../../lib/channel/platform/mod.ts";
import type { TelegramApi } from "../api/telegram_api.ts";
import type { Approvals } from "../outbound/approvals.ts";
import { parseChat } from "../outbound/chat_place.ts";
import type { Chats } from "../outbound/chats.ts";
import type { ClickAnswers } from "../outbound/click_answers.ts";
import { isReaction } from "../outbound/reactions.ts";
import { sendText } from "../outbound/send_text.ts";
import { escapeTelegram } from "../text/to_telegram_html.ts";
import type { Words } from "../words.ts";
import type { Albums } from "./albums.ts";
import { type FetchDeps, fetchFiles, type FileWords } from "./fetch_files.ts";
import type { FileRef, Heard, HeardClick, HeardMessage } from "./heard.ts";

/** What it works with. */
export interface MessageHandlerDeps {
  api: TelegramApi;
  chats: Chats;
  albums: Albums;
  approvals: Approvals;
  clicks: ClickAnswers;
  words: Words;
  /** "": none. */
  ackReaction: string;
  stateDir: string;
  handle: (message: HandledMessage) => Promise<Published>;
  transcribe: (path: string) => Promise<string>;
  clock: Pick<Clock, "after">;
  /** A turn of the chat has begun. */
  onTurn: (chatId: string) => void;
  log: ChannelHost["log"];
  /** Aborted when nothing is to be sent any more. */
  sendSignal: AbortSignal;
}

/** Attempts to fetch the files of one message; without them it is worth more than never. */
const MAX_FETCHES = 6;

export class MessageHandler {
  readonly #deps: MessageHandlerDeps;
  readonly #tries = new Tries(MAX_FETCHES);

  constructor(deps: MessageHandlerDeps) {
    this.#deps = deps;
  }

  /** Resolves when the service has it, or there is nothing in it. Rejects where it may have it later. */
  async take(heard: Heard, signal: AbortSignal): Promise<void> {
    switch (heard.kind) {
      case "click":
        return await this.#click(heard.click, signal);
      case "album":
        return await this.#message(heard.messages, signal);
      case "message":
        if (heard.message.albumId !== undefined) return this.#deps.albums.add(heard.message);
        return await this.#message([heard.message], signal);
    }
  }

  async #message(messages: readonly HeardMessage[], signal: AbortSignal): Promise<void> {
    const { api, words, transcribe, clock, stateDir, handle, onTurn } = this.#deps;
    const [first] = messages;
    if (first === undefined) return;
    const { chatId, messageId, albumId } = first;
    const files = new InboundFiles(stateDir);
    try {
      const refs = messages.flatMap(({ files }) => files);
      const { said, problems } = await this.#fetch(`${chatId} ${messageId}`, refs, {
        api,
        files,
        words,
        transcribe,
        clock,
        signal,
      });
      const { paths } = files;
      const pieces = [
        ...messages.flatMap(({ text: content, parts }) => piecesOf({ content, parts })),
        ...said,
      ].filter(({ text }) => text !== "");
      if (pieces.length === 0 && paths.length === 0) {
        return await this.#sayProblems(first, problems);
      }
      const published = await abortable(
        handle({
          senderId: first.senderId,
          senderName: first.senderName,
          chatId,
          ...inPieces([
            ...pieces,
            ...problems.flatMap((problem) => others("file", `(${problem})`)),
          ]),
          ...paths.length > 0 && { media: paths },
          metadata: { message_id: messageId },
          messageId: albumId === undefined ? String(messageId) : `album:${albumId}:${messageId}`,
          sentAt: first.sentAt,
        }),
        signal,
      );
      if (published.kind !== "turn" || published.repeated) return;
      onTurn(chatId);
      this.#react(first);
      await this.#sayProblems(first, problems).catch((error) => this.#unsaid(error));
    } finally {
      await files.remove();
    }
  }

  /** Rejects for what another try may mend, so often and no more: nobody is held up by a file for ever. */
  async #fetch(
    message: string,
    refs: readonly FileRef[],
    deps: FetchDeps,
  ): Promise<FileWords> {
    try {
      const fetched = await fetchFiles(refs, deps);
      this.#tries.forget(message);
      return fetched;
    } catch (error) {
      deps.signal.throwIfAborted();
      if (!this.#tries.isLast(message)) throw error;
      for (const path of deps.files.paths) deps.files.leaveOut(path);
      return {
        said: [],
        problems: refs.map(({ name }) => deps.words("fileUnreadable", { name })),
      };
    }
  }

  /** To who sent it: nothing is left out without a word. */
  async #sayProblems({ chatId, messageId }: HeardMessage, problems: string[]): Promise<void> {
    if (problems.length === 0) return;
    const { chats, sendSignal: signal } = this.#deps;
    const html = escapeTelegram(problems.join("\n"));
    try {
      await sendText(chats, parseChat(chatId), { html }, { replyTo: messageId, signal });
    } catch (error) {
      // A chat that takes nothing hears of nothing.
      if (!(error instanceof PermanentDeliveryError)) throw error;
      this.#unsaid(error);
    }
  }

  #unsaid(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#deps.log.warning("What was left out of a message could not be said", { reason });
  }

  /** Nobody waits for it, and a chat may not allow it. */
  #react({ chatId, messageId }: HeardMessage): void {
    const { chats, ackReaction: emoji, log, sendSignal: signal } = this.#deps;
    if (!isReaction(emoji)) return;
    chats.call("setMessageReaction", {
      chat_id: parseChat(chatId).chat_id,
      message_id: messageId,
      reaction: [{ type: "emoji", emoji }],
    }, { signal }).catch((error) => {
      if (signal.aborted) return;
      log.info("A reaction was not set", { reason: (error as Error).message });
    });
  }

  async #click({ chatId, queryId, senderId, senderName, data }: HeardClick, signal: AbortSignal) {
    const { approvals, clicks, handle } = this.#deps;
    const meaning = approvals.read(data, senderId, queryId);
    if (meaning === undefined) return clicks.say(queryId);
    if ("word" in meaning) return clicks.say(queryId, meaning.word);
    const { id, command: content } = meaning;
    const messageId = `click:${queryId}`;
    const metadata = { click: queryId };
    clicks.expect(queryId);
    const published = await abortable(
      handle({ senderId, senderName, chatId, content, messageId, metadata }),
      signal,
    );
    if (published.kind === "denied") {
      approvals.denied(id, senderId, queryId);
      return clicks.say(queryId, "notAllowed");
    }
    approvals.answered(id, senderId, queryId);
  }
}
