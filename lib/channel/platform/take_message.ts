/**
 * Hands what waits in the inbox to the service: a message with its files and what is said in recordings,
 * or a click. Whoever sent a file that was not read is told so.
 *
 * @module
 */

import { abortable } from "../../base/abortable.ts";
import type { Clock } from "../../base/clock.ts";
import type { ChannelHost } from "../channel_host.ts";
import { LoginRefusedError, PermanentDeliveryError } from "../delivery_error.ts";
import type { HandledMessage, Published } from "../../contract/inbound_message.ts";
import type { TextPart } from "../../contract/text_part.ts";
import {
  type PlatformDriver,
  type PlatformFile,
  type PlatformMessage,
  UnreadableFileError,
} from "./driver.ts";
import { editId } from "./edit_id.ts";
import { pauseOf } from "./failed_call.ts";
import { hearVoice } from "./hear_voice.ts";
import {
  InboundFiles,
  MAX_INBOUND_FILE_BYTES,
  MAX_INBOUND_FILES,
  MAX_INBOUND_TOTAL_BYTES,
} from "./inbound_files.ts";
import type { PlatformWords } from "./platform_words.ts";
import { inPieces, others, piecesOf } from "./text_pieces.ts";
import { Tries } from "./tries.ts";

/** What messages are taken with. */
export interface TakeMessageDeps<Item> {
  driver: Pick<
    PlatformDriver<Item, never>,
    "read" | "fetchFile" | "nameOf" | "acknowledge" | "handedOn"
  >;
  words: PlatformWords;
  host: Pick<ChannelHost, "stateDir" | "log">;
  clock: Pick<Clock, "elapsed">;
  transcribe: (path: string) => Promise<string>;
  handleMessage: (message: HandledMessage) => Promise<Published>;
  /** The error of a call that may be repeated, as a delivery fails. */
  faultOf: (error: unknown) => unknown;
  /** Whether the platform is there as a whole. */
  isConnected: () => boolean;
  /** A turn of the chat has begun. */
  onTurn: (chatId: string) => void;
  /** Says something of the channel's own about a message. */
  tell: (message: PlatformMessage, text: string) => Promise<unknown>;
}

/** Failures of one message's files before it goes on without them. */
const FILE_TRIES = 6;

/** Names of people that are kept. */
const MAX_NAMES = 1_000;

/** How long no name is asked for behind a call that failed, milliseconds. */
const NAMES_AGAIN_MS = 60_000;

const MEGABYTE = 1024 * 1024;

/** What is said of files: for the agent, and for whoever sent them. */
interface FileWords {
  heard: TextPart[];
  notes: string[];
}

export class TakeMessage<Item> {
  readonly #deps: TakeMessageDeps<Item>;
  readonly #names = new Map<string, string | undefined>();
  readonly #tries = new Tries(FILE_TRIES);
  /** Before that nobody is asked for a name, by `clock.elapsed`. */
  #namesAtMs = -Infinity;

  constructor(deps: TakeMessageDeps<Item>) {
    this.#deps = deps;
  }

  /** Resolves when the service has it. Rejects where another time may be better, and when it is ended. */
  async take(item: Item, signal: AbortSignal): Promise<void> {
    const { driver, host, handleMessage, onTurn } = this.#deps;
    const read = await driver.read(item);
    if (read === undefined) return;
    const message = identified(read);
    const { files: listed = [], content: _, parts: __, ...about } = message;
    const files = new InboundFiles(host.stateDir);
    try {
      const said = await this.#fetch(message, listed, files, signal);
      const words = inPieces([
        ...piecesOf(message),
        ...said.heard,
        ...said.notes.flatMap((note) => others("file", `(${note})`)),
      ]);
      const media = files.paths;
      const isNothing = piecesOf(message).every(({ text }) => text.trim() === "") &&
        said.heard.length === 0 && media.length === 0;
      if (isNothing && message.replaces === undefined) return await this.#tell(message, said.notes);
      const senderName = message.senderName ?? await this.#nameOf(message.senderId);
      const published = await abortable(
        handleMessage({
          ...about,
          ...words,
          ...media.length > 0 && { media },
          ...senderName !== undefined && { senderName },
        }),
        signal,
      );
      if (published.kind === "denied" || published.kind === "edit") return;
      const isNew = published.kind === "turn" && !published.repeated;
      // Before anything is waited for: the end of a short turn may be here by then.
      if (isNew) onTurn(message.chatId);
      const told = driver.handedOn?.(item);
      if (told !== undefined) await abortable(told, signal).catch(() => {});
      if (!isNew) return;
      driver.acknowledge?.(item, message).catch((error) =>
        host.log.info("A reaction was not set", { reason: reasonOf(error) })
      );
      await this.#tell(message, said.notes).catch((error) => this.#untold(error));
    } finally {
      // What the service does not have is fetched again.
      await files.remove();
    }
  }

  /** To whoever sent it: nothing is left out without a word. */
  async #tell(message: PlatformMessage, notes: readonly string[]): Promise<void> {
    if (notes.length === 0) return;
    try {
      await this.#deps.tell(message, notes.join("\n"));
    } catch (error) {
      // A chat that takes nothing hears of nothing.
      if (!(error instanceof PermanentDeliveryError)) throw error;
      this.#untold(error);
    }
  }

  #untold(error: unknown): void {
    this.#deps.host.log.warning("A note on files was not sent", { reason: reasonOf(error) });
  }

  async #fetch(
    message: PlatformMessage,
    listed: readonly PlatformFile[],
    files: InboundFiles,
    signal: AbortSignal,
  ): Promise<FileWords> {
    const { words } = this.#deps;
    const said: FileWords = { heard: [], notes: [] };
    const key = `${message.chatId} ${message.messageId}`;
    for (const file of listed) {
      const name = shownName(file.name);
      const maxBytes = files.roomBytes;
      const tooLarge = (bytes: number) =>
        bytes <= MAX_INBOUND_FILE_BYTES
          ? words("tooLargeTogether", { name, max: MAX_INBOUND_TOTAL_BYTES / MEGABYTE })
          : words("tooLarge", {
            name,
            size: Math.ceil(bytes / MEGABYTE),
            max: MAX_INBOUND_FILE_BYTES / MEGABYTE,
          });
      if (files.isFull) said.notes.push(words("tooMany", { name, max: MAX_INBOUND_FILES }));
      else if ((file.bytes ?? 0) > maxBytes) said.notes.push(tooLarge(file.bytes!));
      else {
        const fetched = await this.#fetchOne(key, file, maxBytes, signal);
        if (typeof fetched === "string") {
          said.notes.push(
            fetched === ""
              ? words("unreadable", { name })
              : words("notRead", { name, reason: fetched }),
          );
        } else if (fetched === undefined) {
          said.notes.push(tooLarge(Math.max(file.bytes ?? 0, maxBytes + 1)));
        } else said.heard.push(...await this.#keep(file, fetched, files));
      }
    }
    this.#tries.forget(key);
    return said;
  }

  /** Undefined for too many bytes, a text for why there are none. Rejects where another time may be better. */
  async #fetchOne(
    key: string,
    file: PlatformFile,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | string | undefined> {
    const { driver, faultOf, isConnected } = this.#deps;
    try {
      return await driver.fetchFile!(file, maxBytes, signal);
    } catch (error) {
      signal.throwIfAborted();
      const fault = faultOf(error);
      if (fault instanceof UnreadableFileError) return fault.message;
      if (fault instanceof PermanentDeliveryError) return "";
      if (fault instanceof LoginRefusedError || pauseOf(fault) > 0) throw fault;
      // Such as one whose place on the server is lost: the chat does not wait for it for ever.
      if (!isConnected() || !this.#tries.isLast(key)) throw fault;
      return "";
    }
  }

  /** Writes a file; resolves with what is said in it. */
  async #keep(
    file: PlatformFile,
    bytes: Uint8Array,
    files: InboundFiles,
  ): Promise<TextPart[]> {
    const { words, transcribe } = this.#deps;
    const path = await files.write(file.name, bytes);
    if (file.isAudio !== true) return [];
    const voice = await hearVoice(path, transcribe);
    if (voice.kind !== "text") {
      return others("file", words(voice.kind === "off" ? "voiceOff" : "voiceFailed"));
    }
    // A recording of somebody else is more than what is said in it.
    if (file.isKept !== true) files.leaveOut(path);
    const { provenance = "file" } = file;
    const text = words("voice", { text: voice.text });
    return provenance === "own" ? [{ text }] : others(provenance, text, plainName(file.name));
  }

  /** It is shown, and no more: no message waits for a name twice. */
  async #nameOf(senderId: string): Promise<string | undefined> {
    const names = this.#names;
    const { driver, faultOf, clock } = this.#deps;
    if (names.has(senderId) || clock.elapsed() < this.#namesAtMs) return names.get(senderId);
    let name: string | undefined;
    try {
      name = await driver.nameOf?.(senderId);
    } catch (error) {
      // Of this one alone nothing is said, or of nobody for a while.
      if (!(faultOf(error) instanceof PermanentDeliveryError)) {
        this.#namesAtMs = clock.elapsed() + NAMES_AGAIN_MS;
        return undefined;
      }
    }
    names.set(senderId, name);
    if (names.size > MAX_NAMES) names.delete(names.keys().next().value!);
    return name;
  }
}

/** A name in one line, and not too long. */
/** An edit has an id of its own. */
function identified({ editedAt, ...message }: PlatformMessage): PlatformMessage {
  if (editedAt === undefined) return message;
  const { messageId: replaces } = message;
  return { ...message, replaces, messageId: editId(replaces, editedAt) };
}

function plainName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}]/gu, "").slice(0, 80).toWellFormed() || "file";
}

/** The same without what Markdown means something by. */
function shownName(name: string): string {
  return plainName(name).replace(/[`*_[\]]/g, "") || "file";
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}
