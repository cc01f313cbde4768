/**
 * Hands messages that are on the disk to the service: with their files, what is said in them, and without
 * those of other programs.
 *
 * @module
 */

import type { HandledMessage, Published } from "../../../lib/contract/inbound_message.ts";
import type { TextPart } from "../../../lib/channel/mod.ts";
import {
  abortable,
  hearVoice,
  InboundFiles,
  inPieces,
  MAX_INBOUND_FILE_BYTES,
  MAX_INBOUND_FILES,
  type Memory,
  others,
  splitQuotes,
} from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import { type Fetched, fetchFile } from "../files/download.ts";
import type { FileHost } from "../files/http_client.ts";
import type { Words } from "../words.ts";
import { composeReceipt, metadataOf } from "./compose_message.ts";
import type { HeardMessage } from "./heard_message.ts";
import type { XmlElement } from "../client/xmpp_library.ts";

/** What it works with. */
export interface MessageHandlerDeps {
  stateDir: string;
  memory: Memory;
  words: Words;
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

export class MessageHandler {
  readonly #deps: MessageHandlerDeps;

  constructor(deps: MessageHandlerDeps) {
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
    const files = new InboundFiles(this.#deps.stateDir);
    try {
      await this.#hand(heard, files, signal);
    } finally {
      // The service has what it needs; what it has not is fetched again.
      await files.remove();
    }
  }

  async #hand(heard: HeardMessage, files: InboundFiles, signal: AbortSignal): Promise<void> {
    const { said, lost } = await this.#fetch(heard, files, signal);
    const media = files.paths;
    const words = inPieces([...splitQuotes(heard.content), ...said]);
    if (words.content === "" && media.length === 0) return;
    const { senderId, senderName, chatId, messageId, sentAt } = heard;
    const message = {
      senderId,
      senderName,
      chatId,
      ...words,
      messageId,
      sentAt,
      metadata: metadataOf(heard),
      ...media.length > 0 && { media },
    };
    const published = await abortable(this.#deps.handle(message), signal);
    if (published.kind === "denied") return;
    if (published.kind === "turn" && !published.repeated) this.#deps.onTurn(chatId);
    // It is nobody's business but of those whom we talk to that we are there.
    const receipt = composeReceipt(heard);
    if (receipt !== undefined) this.#deps.post(receipt);
    if (lost.length > 0) await this.#tellLost(heard, lost);
  }

  /** Who has sent a file has to know that it was not taken; the message itself is with the service. */
  async #tellLost(heard: HeardMessage, lost: readonly string[]): Promise<void> {
    const { tell, log } = this.#deps;
    await tell(heard, lost.map(asPlain).join("\n")).catch((error) => {
      const reason = error instanceof Error ? error.message : String(error);
      log.warning("A note on files was not sent", { chat: heard.chatId, reason });
    });
  }

  /** Fetches the files. Resolves with words for the agent, and for those that were not taken. */
  async #fetch(
    { urls, content }: HeardMessage,
    files: InboundFiles,
    signal: AbortSignal,
  ): Promise<{ said: TextPart[]; lost: string[] }> {
    const { words } = this.#deps;
    const said: TextPart[] = [];
    // No platform says what was spoken into a program: a recording that is all of the message counts so.
    const provenance = content === "" && urls.length === 1 ? "own" : "file";
    const lost: string[] = [];
    for (const url of urls.slice(0, MAX_INBOUND_FILES)) {
      const fetched = await fetchFile(url, { host: this.#deps.files(), files, signal });
      if (fetched.kind === "elsewhere") {
        said.push(...others("file", `[${words("fileElsewhere", { url: fetched.url })}]`));
      } else if (fetched.kind !== "file") lost.push(this.#wordsOf(fetched));
      else if (fetched.isAudio) said.push(...await this.#hear(fetched.path, provenance, files));
    }
    if (urls.length > MAX_INBOUND_FILES) {
      lost.push(words("tooManyFiles", { count: MAX_INBOUND_FILES }));
    }
    said.push(...lost.flatMap((one) => others("file", `[${one}]`)));
    return { said, lost };
  }

  #wordsOf(fetched: Extract<Fetched, { kind: "too_large" | "failed" }>): string {
    const { words, log } = this.#deps;
    const { name } = fetched;
    if (fetched.kind === "too_large") {
      const size = `${MAX_INBOUND_FILE_BYTES / 1024 / 1024} MiB`;
      return words("fileTooLarge", { name, size });
    }
    log.warning("A file could not be fetched", { name, reason: fetched.reason });
    return words("fileFailed", { name });
  }

  /** What is said in it; where nothing can be heard, it is a file. */
  async #hear(
    path: string,
    provenance: "own" | "file",
    files: InboundFiles,
  ): Promise<TextPart[]> {
    const { words, log, transcribe } = this.#deps;
    const heard = await hearVoice(path, transcribe);
    switch (heard.kind) {
      case "text":
        files.leaveOut(path);
        return others(provenance, words("heardVoice", { text: heard.text }));
      case "off":
        return others("file", words("voiceOff"));
      case "failed":
        log.warning("A voice message could not be heard", { reason: heard.reason });
        return [];
    }
  }

  /** Once for a chat. */
  async #tellEncrypted(heard: HeardMessage): Promise<void> {
    const { memory, words, tell } = this.#deps;
    if (memory.get("encrypted", heard.chatId) !== undefined) return;
    await tell(heard, words("encrypted"));
    memory.set("encrypted", heard.chatId, true);
  }
}

/** A name may hold what means something in Markdown. */
function asPlain(text: string): string {
  return text.replace(/[\\*_~`[\]<>]/g, "\\$&");
}
