/**
 * Messages that a bot has sent, with the rules of the Bot API for what may stand in them.
 *
 * @module
 */

import { parseHtml } from "./parse_html.ts";
import type { UploadedFile } from "./parse_multipart.ts";

/** An answer with `ok: false`. */
export class Refusal extends Error {
  readonly code: number;
  readonly parameters: Record<string, number> | undefined;

  constructor(code: number, description: string, parameters?: Record<string, number>) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

/** Values of a call, as JSON has them. */
export type Call = Readonly<Record<string, unknown>>;

/** A message of the bot. */
export interface FakeMessage {
  message_id: number;
  chatId: string;
  text: string;
  html: string;
  files: UploadedFile[];
  kinds: string[];
  keyboard: { text: string; callback_data: string }[];
  /** Those that it had at first, as a client shows them that has not looked since. */
  buttons: { text: string; callback_data: string }[];
  replyTo: number | undefined;
  isSilent: boolean;
  isDeleted: boolean;
  edits: number;
}

const MAX_CHARS = 4_096;
const MAX_CAPTION_CHARS = 1_024;

export class FakeChats {
  readonly messages: FakeMessage[] = [];
  #lastId = 5_000;

  send(call: Call, files: UploadedFile[] = [], kinds: string[] = []): FakeMessage {
    const isText = files.length === 0;
    const { shown, html } = readText(call, isText);
    const message: FakeMessage = {
      message_id: ++this.#lastId,
      chatId: chatIdOf(call),
      text: shown,
      html,
      files,
      kinds,
      keyboard: keyboardOf(call),
      buttons: keyboardOf(call),
      replyTo: (call.reply_parameters as { message_id?: number } | undefined)?.message_id,
      isSilent: call.disable_notification === true,
      isDeleted: false,
      edits: 0,
    };
    this.messages.push(message);
    return message;
  }

  edit(call: Call): FakeMessage {
    const message = this.#find(call, "message to edit not found");
    const { shown, html } = readText(call, true);
    const keyboard = keyboardOf(call);
    const isSame = message.html === html &&
      JSON.stringify(message.keyboard) === JSON.stringify(keyboard);
    if (isSame) {
      throw new Refusal(
        400,
        "Bad Request: message is not modified: specified new message content and reply markup are " +
          "exactly the same as a current content and reply markup of the message",
      );
    }
    Object.assign(message, { text: shown, html, keyboard, edits: message.edits + 1 });
    return message;
  }

  delete(call: Call): true {
    this.#find(call, "message to delete not found").isDeleted = true;
    return true;
  }

  #find(call: Call, words: string): FakeMessage {
    const found = this.messages.find(({ message_id, isDeleted }) =>
      message_id === Number(call.message_id) && !isDeleted
    );
    if (found === undefined) throw new Refusal(400, `Bad Request: ${words}`);
    return found;
  }
}

/** The chat, with its topic. */
export function chatIdOf({ chat_id, message_thread_id: thread }: Call): string {
  return thread === undefined ? String(chat_id) : `${chat_id}/${thread}`;
}

function readText(call: Call, isText: boolean): { shown: string; html: string } {
  const html = String((isText ? call.text : call.caption) ?? "");
  let shown = html;
  if (call.parse_mode === "HTML") {
    try {
      ({ shown } = parseHtml(html));
    } catch (error) {
      throw new Refusal(400, `Bad Request: ${(error as Error).message}`);
    }
  }
  shown = shown.trim();
  if (isText && shown === "") throw new Refusal(400, "Bad Request: message text is empty");
  if (isText && shown.length > MAX_CHARS) {
    throw new Refusal(400, "Bad Request: message is too long");
  }
  if (!isText && shown.length > MAX_CAPTION_CHARS) {
    throw new Refusal(400, "Bad Request: message caption is too long");
  }
  return { shown, html };
}

function keyboardOf({ reply_markup: markup }: Call): FakeMessage["keyboard"] {
  const keyboard = (markup as { inline_keyboard?: FakeMessage["keyboard"][] } | undefined)
    ?.inline_keyboard?.flat() ?? [];
  const encoder = new TextEncoder();
  if (keyboard.some(({ callback_data: data }) => encoder.encode(data).length > 64)) {
    throw new Refusal(400, "Bad Request: BUTTON_DATA_INVALID");
  }
  return keyboard;
}
