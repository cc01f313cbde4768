/**
 * The methods of the Bot API that a bot of this kind uses, as its server answers them.
 *
 * @module
 */

import { type Call, FakeChats, type FakeMessage, Refusal } from "./fake_chats.ts";
import type { UploadedFile } from "./parse_multipart.ts";
import { UpdateQueue } from "./update_queue.ts";

const UPLOADS: Readonly<Record<string, string>> = {
  sendPhoto: "photo",
  sendVideo: "video",
  sendAnimation: "animation",
  sendAudio: "audio",
  sendVoice: "voice",
  sendDocument: "document",
};

const MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024;
const MAX_UPLOAD_BYTES = 50 * 1024 * 1024;

/** A file that somebody has sent. */
export interface StoredFile {
  path: string;
  bytes: Uint8Array<ArrayBuffer>;
  size: number;
}

/** A webhook that is set. */
export interface FakeWebhook {
  url: string;
  secret: string;
}

export class BotApi {
  readonly me = {
    id: 777001,
    is_bot: true,
    first_name: "Helper",
    username: "helper_bot",
    can_join_groups: true,
    can_read_all_group_messages: false,
    supports_inline_queries: false,
  };
  readonly chats = new FakeChats();
  readonly queue = new UpdateQueue();
  readonly files = new Map<string, StoredFile>();
  /** Calls so far, with their parameters and when they came, by `performance.now`. */
  readonly calls: { method: string; call: Call; atMs: number }[] = [];
  webhook: FakeWebhook | undefined;
  /** Where a proxy passes posts on to, by the origin that it has outside. */
  readonly proxies = new Map<string, string>();
  /** What the last delivery to the webhook came to. */
  webhookFailure: { date: number; message: string } | undefined;
  /** Groups that are another chat now. */
  readonly migrated = new Map<string, number>();

  async answer(
    method: string,
    call: Call,
    files: Readonly<Record<string, UploadedFile>>,
    ended: AbortSignal,
  ): Promise<unknown> {
    this.calls.push({ method, call, atMs: performance.now() });
    this.queue.wake();
    const moved = this.migrated.get(String(call.chat_id));
    if (moved !== undefined) {
      throw new Refusal(400, "Bad Request: group chat was upgraded to a supergroup chat", {
        migrate_to_chat_id: moved,
      });
    }
    const kind = UPLOADS[method];
    if (kind !== undefined) return this.#upload(kind, call, files);
    switch (method) {
      case "getMe":
        return this.me;
      case "getUpdates":
        return await this.#getUpdates(call, ended);
      case "sendMessage":
        return described(this.chats.send(call));
      case "editMessageText":
        return described(this.chats.edit(call));
      case "deleteMessage":
        return this.chats.delete(call);
      case "sendMediaGroup":
        return this.#album(call, files);
      case "getFile":
        return this.#getFile(String(call.file_id));
      case "setWebhook":
        return this.#setWebhook(call);
      case "deleteWebhook":
        this.webhook = undefined;
        return true;
      case "getWebhookInfo":
        return {
          url: this.webhook?.url ?? "",
          has_custom_certificate: false,
          pending_update_count: this.queue.size,
          ...this.webhookFailure !== undefined && {
            last_error_date: this.webhookFailure.date,
            last_error_message: this.webhookFailure.message,
          },
        };
      case "answerCallbackQuery":
      case "sendChatAction":
      case "setMessageReaction":
      case "setMyCommands":
        return true;
      default:
        throw new Refusal(404, "Not Found: method not found");
    }
  }

  async #getUpdates({ offset = 0, timeout = 0 }: Call, ended: AbortSignal): Promise<unknown> {
    if (this.webhook !== undefined) {
      throw new Refusal(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete " +
          "the webhook first",
      );
    }
    const result = await this.queue.poll(Number(offset), Number(timeout) * 1_000, ended);
    if ("conflict" in result) throw new Refusal(409, `Conflict: ${result.conflict}`);
    return result.updates;
  }

  #upload(kind: string, call: Call, files: Readonly<Record<string, UploadedFile>>): unknown {
    const file = attached(call[kind], files);
    return described(this.chats.send(call, [file], [kind]));
  }

  #album(call: Call, files: Readonly<Record<string, UploadedFile>>): unknown {
    const media = call.media as { type: string; media: string; caption?: string }[];
    if (media.length < 2 || media.length > 10) {
      throw new Refusal(400, "Bad Request: there must be from 2 to 10 messages in an album");
    }
    return media.map(({ type, media, ...words }) =>
      described(this.chats.send({ ...call, ...words }, [attached(media, files)], [type]))
    );
  }

  #getFile(id: string): unknown {
    const file = this.files.get(id);
    if (file === undefined) {
      throw new Refusal(400, "Bad Request: wrong file_id or the file is temporarily unavailable");
    }
    if (file.size > MAX_DOWNLOAD_BYTES) throw new Refusal(400, "Bad Request: file is too big");
    return { file_id: id, file_unique_id: id, file_size: file.size, file_path: file.path };
  }

  #setWebhook({ url, secret_token: secret = "" }: Call): true {
    const { protocol, hostname } = URL.parse(String(url)) ?? {};
    if (protocol !== "https:" && hostname !== "127.0.0.1") {
      throw new Refusal(
        400,
        "Bad Request: bad webhook: An HTTPS URL must be provided for webhook",
      );
    }
    this.webhook = { url: String(url), secret: String(secret) };
    this.queue.interrupt("terminated by setWebhook request");
    return true;
  }
}

function attached(
  value: unknown,
  files: Readonly<Record<string, UploadedFile>>,
): UploadedFile {
  const name = /^attach:\/\/(.+)$/.exec(String(value))?.[1] ?? "";
  const file = files[name];
  if (file === undefined) throw new Refusal(400, "Bad Request: wrong remote file identifier");
  if (file.bytes === 0) throw new Refusal(400, "Bad Request: file must be non-empty");
  if (file.bytes > MAX_UPLOAD_BYTES) throw new Refusal(413, "Request Entity Too Large");
  return file;
}

/** A message of the bot, as the server gives it back. */
function described({ message_id, chatId, text }: FakeMessage): unknown {
  const [chat, thread] = chatId.split("/");
  return {
    message_id,
    date: Math.floor(Date.now() / 1_000),
    chat: { id: Number(chat), type: chat!.startsWith("-") ? "supergroup" : "private" },
    text,
    ...thread !== undefined && { message_thread_id: Number(thread) },
  };
}
