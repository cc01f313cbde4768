/**
 * Files of a message: each by the method of its kind, several as an album.
 *
 * @module
 */

import { InputFile } from "grammy/web";
import type { InputMediaDocument, InputMediaPhoto } from "grammy/types";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type { TelegramMethod, TelegramParameters } from "../api/telegram_api.ts";
import type { ChatPlace } from "./chat_place.ts";
import type { Chats } from "./chats.ts";
import type { FileKind, OutgoingFile } from "./plan_files.ts";
import { replyParameters, withoutMarkup } from "./send_text.ts";

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

/** A picture of odd proportions, or that is none, and sounds of another format. */
const REFUSED_KIND =
  /PHOTO_INVALID_DIMENSIONS|IMAGE_PROCESS_FAILED|PHOTO_SAVE_FILE_INVALID|VOICE_MESSAGES_FORBIDDEN|wrong file|failed to get HTTP/i;

/** What the files have beside themselves. */
export interface FileOptions {
  /** Telegram's HTML, beside the first of them. */
  caption?: string;
  replyTo?: number;
  signal?: AbortSignal;
}

/**
 * Sends one file or one album. What Telegram does not take as what it is goes as a document. Rejects as
 * `send` of a channel does.
 */
export async function sendFiles(
  chats: Chats,
  place: ChatPlace,
  files: readonly OutgoingFile[],
  options: FileOptions = {},
): Promise<void> {
  const send = (files: readonly OutgoingFile[]) =>
    options.caption === undefined
      ? sendOnce(chats, place, files, {}, options)
      : withoutMarkup(options.caption, ({ text, ...mode }) =>
        sendOnce(chats, place, files, { caption: text, ...mode }, options));
  try {
    await send(files);
  } catch (error) {
    const isRefused = error instanceof PermanentDeliveryError && REFUSED_KIND.test(error.message);
    if (!isRefused || files.every(({ kind }) => kind === "document")) throw error;
    await send(files.map((file) => ({ ...file, kind: "document" })));
  }
}

async function sendOnce(
  chats: Chats,
  place: ChatPlace,
  files: readonly OutgoingFile[],
  words: { caption?: string; parse_mode?: "HTML" },
  { replyTo, signal }: FileOptions,
): Promise<void> {
  const options = { signal, timeoutMs: UPLOAD_MS };
  const common = { ...place, ...replyParameters(replyTo) };
  const [only] = files;
  if (files.length === 1) {
    const { kind } = only!;
    const parameters = { ...common, ...words, [kind]: upload(only!) };
    await chats.deliver(
      METHODS[kind],
      parameters as unknown as TelegramParameters<TelegramMethod> & { chat_id: number },
      options,
    );
    return;
  }
  const media = files.map((file, index) => ({
    type: file.kind,
    media: upload(file),
    ...index === 0 && words,
  })) as (InputMediaPhoto | InputMediaDocument)[];
  await chats.deliver(
    "sendMediaGroup",
    { ...common, media } as TelegramParameters<"sendMediaGroup"> & { chat_id: number },
    options,
  );
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
