/**
 * A message of text or files: in Telegram's HTML, and without any markup where Telegram refuses that.
 *
 * @module
 */

import { InputFile } from "grammy/web";
import type { OutgoingFile } from "../../../lib/channel/platform/mod.ts";
import { UncertainDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type {
  CallOptions,
  TelegramMethod,
  TelegramParameters,
  TelegramResult,
} from "../api/telegram_api.ts";
import { isRejection } from "../api/telegram_faults.ts";
import { shownText } from "../text/to_telegram_html.ts";
import type { ChatPlace } from "./chat_place.ts";
import { type FileKind, kindOf } from "./outgoing_kinds.ts";

/** A message of ours, for its edits. */
export interface SentMessage {
  chat_id: number;
  message_id: number;
}

/** Where a message goes, and what it has beside its text. */
export type SendOptions = Omit<TelegramParameters<"sendMessage">, "chat_id" | "text"> & ChatPlace;

/** Calls a method that has a `chat_id`. */
export type ChatCall = <M extends TelegramMethod>(
  method: M,
  parameters: TelegramParameters<M> & { chat_id: number },
  options?: CallOptions,
) => Promise<TelegramResult<M>>;

/** Below the two minutes after which the service takes a call for lost. */
const UPLOAD_MS = 110_000;

const METHODS: Readonly<Record<FileKind, TelegramMethod>> = {
  photo: "sendPhoto",
  video: "sendVideo",
  animation: "sendAnimation",
  audio: "sendAudio",
  voice: "sendVoice",
  document: "sendDocument",
};

const REFUSED_MARKUP = /can't parse (?:message text|entities|caption)|unsupported start tag/i;

/** A picture of odd proportions, or that is none, and sounds of another format. */
const REFUSED_KIND =
  /PHOTO_INVALID_DIMENSIONS|IMAGE_PROCESS_FAILED|PHOTO_SAVE_FILE_INVALID|VOICE_MESSAGES_FORBIDDEN|wrong file|failed to get HTTP/i;

const NO_PREVIEW = { link_preview_options: { is_disabled: true } } as const;

/** Posts a text. */
export async function sendText(
  call: ChatCall,
  html: string,
  options: SendOptions,
): Promise<SentMessage> {
  return sentOf(
    await withoutMarkup(
      html,
      (text) => call("sendMessage", { ...options, ...NO_PREVIEW, ...text }),
    ),
  );
}

/** Gives a message another text, without buttons; one that is gone is left so. */
export async function editText(call: ChatCall, message: SentMessage, html: string): Promise<void> {
  try {
    const common = { ...message, ...NO_PREVIEW };
    await withoutMarkup(html, (text) => call("editMessageText", { ...common, ...text }));
  } catch (error) {
    const isDone = /message is not modified|message to edit not found|message_id_invalid/i;
    if (!isRejection(error, isDone)) throw error;
  }
}

/** Sends one file or one album. What Telegram does not take as what it is goes as a document. */
export async function sendFiles(
  call: ChatCall,
  { html, files }: { html: string; files: readonly OutgoingFile[] },
  options: SendOptions,
): Promise<SentMessage> {
  const send = (kinds: readonly FileKind[]) =>
    withoutMarkup(html, ({ text, ...mode }) => {
      const caption = text === "" ? {} : { caption: text, ...mode };
      return sendAs(call, options, files, kinds, caption);
    });
  const kinds = files.map(kindOf);
  try {
    return sentOf(await send(kinds));
  } catch (error) {
    const isKind = isRejection(error, REFUSED_KIND) && kinds.some((kind) => kind !== "document");
    if (!isKind) throw error;
    return sentOf(await send(kinds.map(() => "document")));
  }
}

async function sendAs(
  call: ChatCall,
  common: SendOptions,
  files: readonly OutgoingFile[],
  kinds: readonly FileKind[],
  caption: { caption?: string; parse_mode?: "HTML" },
): Promise<unknown> {
  const options = { timeoutMs: UPLOAD_MS };
  type Parameters = TelegramParameters<TelegramMethod> & { chat_id: number };
  const [only] = kinds;
  if (files.length === 1) {
    const parameters = { ...common, ...caption, [only!]: upload(files[0]!) };
    return await call(METHODS[only!], parameters as unknown as Parameters, options);
  }
  const media = files.map((file, at) => ({
    type: kinds[at],
    media: upload(file),
    ...at === 0 && caption,
  }));
  const sent = await call(
    "sendMediaGroup",
    { ...common, media } as TelegramParameters<"sendMediaGroup"> & { chat_id: number },
    options,
  );
  return (sent as unknown[] | null)?.[0];
}

function sentOf(sent: unknown): SentMessage {
  const { chat, message_id } = (sent ?? {}) as { chat?: { id: number }; message_id?: number };
  // It was taken: once more would be a second one.
  if (!Number.isSafeInteger(chat?.id) || !Number.isSafeInteger(message_id)) {
    throw new UncertainDeliveryError("Telegram does not say which message it has sent");
  }
  return { chat_id: chat!.id, message_id: message_id! };
}

/** Calls with Telegram's HTML; where that is refused once more, and never again, with what it shows. */
async function withoutMarkup<Result>(
  html: string,
  call: (text: { text: string; parse_mode?: "HTML" }) => Promise<Result>,
): Promise<Result> {
  try {
    return await call({ text: html, parse_mode: "HTML" });
  } catch (error) {
    if (!isRejection(error, REFUSED_MARKUP)) throw error;
    return await call({ text: shownText(html) });
  }
}

/** Read as it is sent, so that no file is in memory as a whole. */
function upload({ path, name }: OutgoingFile): InputFile {
  // The name stands in a header without quotes.
  return new InputFile(chunksOf(path), name.replace(/[\p{Cc}";\\]/gu, "_").slice(-120));
}

async function* chunksOf(path: string): AsyncIterable<Uint8Array> {
  const file = await Deno.open(path);
  yield* file.readable;
}
