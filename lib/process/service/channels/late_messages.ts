/**
 * Messages that come too late to be answered, such as what was written while the service was down for
 * longer than people wait: listed, and the chat is told once that it got no answers.
 *
 * @module
 */

import { basename } from "@std/path";
import type { Clock } from "../../../base/clock.ts";
import { MAX_INBOUND_FILES } from "../../../channel/check_inbound.ts";
import type { Deliveries } from "../../../channel/deliveries.ts";
import type { InboundMessage } from "../../../contract/inbound_message.ts";
import { oneLine } from "../../../documents/read_upload.ts";
import type { MissedMessages } from "../../../contract/journal.ts";
import type { Log } from "../../../base/log.ts";
import type { InboundSpec } from "./inbound.ts";

/** Characters of a text that are listed; the rest of a longer one is left out. */
const MAX_CONTENT_CHARS = 8_192;

/** Of its pieces as JSON. */
const MAX_PARTS_CHARS = 2 * MAX_CONTENT_CHARS;

/** Of the name of a file. */
const MAX_FILE_CHARS = 200;

/** What a platform has kept comes in pages: a chat is told when nothing more has come for so long. */
const TELL_AFTER_MS = 15_000;

/** A chat that goes on and on is told after so long. */
const TELL_WITHIN_MS = 120_000;

/** How long a chat that was told is not told again. */
const QUIET_MS = 60 * 60 * 1_000;

/** Chats that wait to be told; of more, those that were not are told after the next start. */
const MAX_CHATS = 10_000;

/** What it takes. */
export interface LateMessagesDeps {
  missed: Pick<MissedMessages, "has" | "add" | "tell" | "untoldChats">;
  deliveries: Pick<Deliveries, "wake">;
  /** Takes secrets out of a text that will be on record. */
  scrub: (text: string) => string;
  randomId: () => string;
  clock: Pick<Clock, "now" | "after">;
  log: Pick<Log, "info" | "warning">;
}

interface Chat {
  runtimeName: string;
  chatId: string;
}

export class LateMessages {
  readonly #deps: LateMessagesDeps;
  readonly #telling = new Map<string, { sinceMs: number; cancel: () => void }>();
  #isStopped = false;

  /** Tells the chats that an earlier process has not told any more. */
  constructor(deps: LateMessagesDeps) {
    this.#deps = deps;
    for (const chat of deps.missed.untoldChats(MAX_CHATS)) this.#tellLater(chat);
  }

  /** Whether a message is too late. One that is known to be stays so, whatever was set meanwhile. */
  isLate({ catchUpS }: InboundSpec, { sentAt }: InboundMessage, name?: string): boolean {
    if (sentAt === undefined || catchUpS === undefined) return false;
    return this.#deps.clock.now() - sentAt > catchUpS * 1_000 ||
      (name !== undefined && this.#deps.missed.has(name));
  }

  /** Lists it; resolves when that is on the disk. */
  async take({ runtimeName }: InboundSpec, message: InboundMessage, name?: string): Promise<void> {
    const { missed, scrub, clock, log } = this.#deps;
    const { chatId, senderId, senderName, content, parts, media = [], metadata, sentAt } = message;
    const { sessionKey, messageId, streaming } = message;
    const text = scrub(content.toWellFormed());
    const pieces = parts?.map((part) => ({
      ...part,
      text: scrub(part.text.toWellFormed()),
      ...part.from !== undefined && { from: scrub(part.from) },
    }));
    // Without its pieces nobody could say later whose words they are.
    const isCut = text.length > MAX_CONTENT_CHARS ||
      JSON.stringify(pieces ?? "").length > MAX_PARTS_CHARS;
    const files = media.slice(0, MAX_INBOUND_FILES).map((path) =>
      scrub(oneLine(basename(path)).slice(0, MAX_FILE_CHARS).toWellFormed())
    );
    const isNew = await missed.add({
      runtimeName,
      chatId,
      senderId,
      ...senderName !== undefined && { senderName: scrub(senderName) },
      content: text.slice(0, MAX_CONTENT_CHARS).toWellFormed(),
      ...isCut ? { isCut } : pieces !== undefined && { parts: pieces },
      files,
      ...metadata !== undefined && { metadata },
      ...sessionKey !== undefined && { sessionKey },
      ...messageId !== undefined && { messageId },
      streaming,
      sentAt: Math.min(sentAt!, clock.now()),
    }, name);
    if (!isNew) return;
    log.info("A message came too late and is not answered: service channels missed", {
      channel: runtimeName,
    });
    this.#tellLater({ runtimeName, chatId });
  }

  /** Tells nobody any more; the next start does. */
  stop(): void {
    this.#isStopped = true;
    for (const { cancel } of this.#telling.values()) cancel();
    this.#telling.clear();
  }

  #tellLater(chat: Chat): void {
    if (this.#isStopped) return;
    const { clock } = this.#deps;
    const key = JSON.stringify([chat.runtimeName, chat.chatId]);
    const before = this.#telling.get(key);
    if (before === undefined && this.#telling.size >= MAX_CHATS) return;
    before?.cancel();
    const sinceMs = before?.sinceMs ?? clock.now();
    const leftMs = sinceMs + TELL_WITHIN_MS - clock.now();
    const waitMs = Math.min(TELL_AFTER_MS, Math.max(0, leftMs));
    const cancel = clock.after(waitMs, () => {
      this.#telling.delete(key);
      void this.#tell(chat);
    });
    this.#telling.set(key, { sinceMs, cancel });
  }

  async #tell({ runtimeName, chatId }: Chat): Promise<void> {
    const { missed, deliveries, randomId, log } = this.#deps;
    try {
      const isTold = await missed.tell(
        { runtimeName, chatId, quietMs: QUIET_MS },
        ({ count, oldestSentAt }) => ({
          id: `missed:${randomId()}`,
          content: missedWords(count, oldestSentAt),
        }),
      );
      if (isTold) deliveries.wake(runtimeName, chatId);
    } catch (error) {
      if (this.#isStopped) return;
      // They are listed all the same, and the next start tries it again.
      log.warning("A chat could not be told of messages that are not answered", {
        channel: runtimeName,
        reason: String(error),
      });
    }
  }
}

/** What a chat is told of messages that it gets no answers to. */
export function missedWords(count: number, oldestSentAt: number): string {
  const when = `${new Date(oldestSentAt).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return count === 1
    ? `A message that came while I was away (from ${when}) was not answered; send it again if it ` +
      "still matters."
    : `${count} messages that came while I was away (the oldest from ${when}) were not answered; ` +
      "send again what still matters.";
}
