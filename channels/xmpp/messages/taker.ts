/**
 * Hands messages that are on the disk to the service: with their files, what is said in them, and without
 * those of other programs.
 *
 * @module
 */

import { join } from "@std/path";
import type { HandledMessage, Published } from "../../../lib/channel/inbound_message.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import type { Log } from "../../../lib/log.ts";
import { type Fetched, fetchFile, MAX_FILE_BYTES, MAX_FILES } from "../files/download.ts";
import type { FileHost } from "../files/http_client.ts";
import { say, type XmppLanguage } from "../words.ts";
import { composeReceipt, metadataOf } from "./compose_message.ts";
import type { HeardMessage } from "./heard_message.ts";
import type { XmlElement } from "../client/xmpp_library.ts";

/** What it works with. */
export interface TakerDeps {
  stateDir: string;
  memory: Memory;
  language: XmppLanguage;
  /** Where files are; undefined for nowhere. */
  files: () => FileHost | undefined;
  isAllowed: (senderId: string) => boolean;
  /** Whether a program is behind an address; false where nobody can be asked. */
  isBot: (address: string) => Promise<boolean>;
  /** Says something of the channel's own in a chat. Rejects where that cannot be now. */
  tell: (heard: HeardMessage, text: string) => Promise<void>;
  post: (stanza: XmlElement) => void;
  handle: (message: HandledMessage) => Promise<Published>;
  transcribe: (path: string) => Promise<string>;
  onTurn: (chatId: string) => void;
  log: Pick<Log, "info" | "warning">;
}

/** See the module. */
export class Taker {
  readonly #deps: TakerDeps;

  constructor(deps: TakerDeps) {
    this.#deps = deps;
  }

  /** Takes one. Rejects where it has to be tried again. */
  async take(heard: HeardMessage, signal: AbortSignal): Promise<void> {
    const { isAllowed, isBot, log } = this.#deps;
    if (!isAllowed(heard.senderId)) return;
    if (await isBot(heard.from)) {
      return log.info("A message was left alone", { from: heard.from, reason: "it is a bot's" });
    }
    if (heard.isEncrypted) return await this.#tellEncrypted(heard);
    const dir = join(this.#deps.stateDir, "media", crypto.randomUUID());
    try {
      await this.#hand(heard, dir, signal);
    } finally {
      // The service has what it needs; what it has not is fetched again.
      await Deno.remove(dir, { recursive: true }).catch(() => {});
    }
  }

  async #hand(heard: HeardMessage, dir: string, signal: AbortSignal): Promise<void> {
    const { words, media } = await this.#files(heard, dir, signal);
    const content = [heard.content, ...words].filter((text) => text !== "").join("\n");
    if (content === "" && media.length === 0) return;
    const { senderId, senderName, chatId, messageId, sentAt } = heard;
    const published = await this.#deps.handle({
      senderId,
      senderName,
      chatId,
      content,
      messageId,
      sentAt,
      metadata: metadataOf(heard),
      ...media.length > 0 && { media },
    });
    if (published.kind === "denied") return;
    if (published.kind === "turn" && !published.repeated) this.#deps.onTurn(chatId);
    // It is nobody's business but of those whom we talk to that we are there.
    const receipt = composeReceipt(heard);
    if (receipt !== undefined) this.#deps.post(receipt);
  }

  /** Files that are there, and words for those that are not. */
  async #files(
    { urls }: HeardMessage,
    dir: string,
    signal: AbortSignal,
  ): Promise<{ words: string[]; media: string[] }> {
    const { language } = this.#deps;
    const words: string[] = [];
    const media: string[] = [];
    for (const [index, url] of urls.slice(0, MAX_FILES).entries()) {
      const fetched = await fetchFile(url, {
        host: this.#deps.files(),
        dir,
        index,
        maxBytes: MAX_FILE_BYTES,
        signal,
      });
      if (fetched.kind !== "file") words.push(this.#wordsOf(fetched));
      else if (fetched.isAudio) words.push(...await this.#hear(fetched.path, media));
      else media.push(fetched.path);
    }
    if (urls.length > MAX_FILES) {
      words.push(`(${say(language, "tooManyFiles", { count: String(MAX_FILES) })})`);
    }
    return { words, media };
  }

  #wordsOf(fetched: Exclude<Fetched, { kind: "file" }>): string {
    const { language, log } = this.#deps;
    switch (fetched.kind) {
      case "elsewhere":
        return `[${say(language, "fileElsewhere", { url: fetched.url })}]`;
      case "too_large": {
        const size = `${MAX_FILE_BYTES / 1024 / 1024} MiB`;
        return `[${say(language, "fileTooLarge", { name: fetched.name, size })}]`;
      }
      case "failed":
        log.warning("A file could not be fetched", { name: fetched.name, reason: fetched.reason });
        return `[${say(language, "fileFailed", { name: fetched.name })}]`;
    }
  }

  /** What is said in it; where nothing can be heard, it is a file. */
  async #hear(path: string, media: string[]): Promise<string[]> {
    const { language, log } = this.#deps;
    try {
      const text = await this.#deps.transcribe(path);
      return text.trim() === "" ? [] : [say(language, "heardVoice", { text })];
    } catch (error) {
      media.push(path);
      if ((error as { code?: unknown }).code === "not_enabled") return [say(language, "voiceOff")];
      const reason = error instanceof Error ? error.message : String(error);
      log.warning("A voice message could not be heard", { reason });
      return [];
    }
  }

  /** Once for a chat. */
  async #tellEncrypted(heard: HeardMessage): Promise<void> {
    const { memory, language, tell } = this.#deps;
    if (memory.get("encrypted", heard.chatId) !== undefined) return;
    await tell(heard, say(language, "encrypted"));
    memory.set("encrypted", heard.chatId, true);
  }
}
