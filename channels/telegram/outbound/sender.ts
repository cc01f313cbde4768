/**
 * Messages on their way out: text in parts that fit, then files, each once, also when a message is tried
 * again behind a part that was taken.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type { OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import { SendSteps } from "../../../lib/channel/platform/mod.ts";
import {
  MAX_CAPTION_CHARS,
  shownChars,
  splitForTelegram,
  type TelegramPart,
} from "../text/split_for_telegram.ts";
import { escapeTelegram } from "../text/to_telegram_html.ts";
import type { Words } from "../words.ts";
import { type ChatPlace, isGroup, parseChat } from "./chat_place.ts";
import type { Chats } from "./chats.ts";
import { megabytes } from "./megabytes.ts";
import { type FilePlan, MAX_FILE_BYTES, type OutgoingFile, planFiles } from "./plan_files.ts";
import { sendFiles } from "./send_files.ts";
import { type SendOptions, sendText, type SentMessage } from "./send_text.ts";

/** Where an answer quotes the message that it answers. */
export const QUOTE_CHOICES = ["groups", "always", "never"] as const;

/** What it sends with. */
export interface SenderDeps {
  chats: Chats;
  words: Words;
  quote: typeof QUOTE_CHOICES[number];
  signal: AbortSignal;
}

/** A message of text, and what stands in it. */
export interface SentPart {
  sent: SentMessage;
  part: TelegramPart;
}

export class Sender {
  readonly #deps: SenderDeps;
  readonly #steps = new SendSteps<SentPart | undefined>();

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  /**
   * Sends a message. Gives the last message of text, and what stands in it; undefined where there was no
   * text. Rejects as `send` of a channel does.
   */
  async send(
    { id, chatId, content, media, metadata }: OutboundMessage,
    { keyboard }: Pick<SendOptions, "keyboard"> = {},
  ): Promise<SentPart | undefined> {
    const place = parseChat(chatId);
    const { signal } = this.#deps;
    const replyTo = this.replyTo(chatId, metadata);
    const plan = await planFiles(media);
    const problems = this.#problemsOf(plan);
    const parts = splitForTelegram([content, ...problems].join("\n\n"));
    const caption = captionFor(parts, plan);
    const steps = [
      ...(caption === undefined ? parts : []).map((part, index, all) => async () => {
        const options = {
          signal,
          ...index === 0 && { replyTo },
          ...index === all.length - 1 && { keyboard },
        };
        return { sent: await sendText(this.#deps.chats, place, part, options), part };
      }),
      ...plan.groups.map((files, index) => async () => {
        await this.#sendFiles(place, files, {
          signal,
          ...index === 0 && caption !== undefined && { caption, replyTo },
          ...parts.length === 0 && index === 0 && { replyTo },
        });
        return undefined;
      }),
    ];
    const sent = await this.#steps.run(id, steps);
    return sent.findLast((one) => one !== undefined);
  }

  /** The message that an answer quotes. */
  replyTo(chatId: string, metadata: Readonly<Record<string, unknown>>): number | undefined {
    const { quote } = this.#deps;
    const { message_id: replyTo } = metadata;
    if (quote === "never" || (quote === "groups" && !isGroup(chatId))) return undefined;
    return Number.isSafeInteger(replyTo) ? replyTo as number : undefined;
  }

  /** What Telegram refuses of the files is said in the chat; the rest of the message stays sent. */
  async #sendFiles(
    place: ChatPlace,
    files: readonly OutgoingFile[],
    options: Parameters<typeof sendFiles>[3],
  ): Promise<void> {
    const { chats, words, signal } = this.#deps;
    try {
      await sendFiles(chats, place, files, options);
    } catch (error) {
      if (!(error instanceof PermanentDeliveryError)) throw error;
      const name = files.map(({ name }) => name).join(", ");
      const html = escapeTelegram(words("fileRefused", { name }));
      const said = options?.caption === undefined ? html : `${options.caption}\n\n${html}`;
      // A chat that takes nothing at all refuses this too.
      await sendText(chats, place, { html: said }, { signal });
    }
  }

  #problemsOf({ tooLarge, missing }: FilePlan): string[] {
    const { words } = this.#deps;
    const max = megabytes(MAX_FILE_BYTES);
    return [
      ...tooLarge.map(({ name, bytes }) =>
        words("fileTooLargeOut", { name: `\`${name}\``, size: megabytes(bytes), max })
      ),
      ...missing.map((name) => words("fileMissing", { name: `\`${name}\`` })),
    ];
  }
}

/** A short text stands beside the file, where there is one message of files. */
function captionFor(
  parts: readonly TelegramPart[],
  { groups }: FilePlan,
): string | undefined {
  const [part, ...more] = parts;
  if (groups.length !== 1 || part === undefined || more.length > 0) return undefined;
  return shownChars(part.html) <= MAX_CAPTION_CHARS ? part.html : undefined;
}
