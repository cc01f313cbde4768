/**
 * Gives a message that is on the disk to the service, with its files.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { HandledMessage, Published } from "../../../lib/contract/inbound_message.ts";
import type { TextPart } from "../../../lib/channel/mod.ts";
import {
  abortable,
  hearVoice,
  InboundFiles,
  inPieces,
  others,
  piecesOf,
} from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { DiscordApi } from "../rest/discord_api.ts";
import { isSnowflake } from "../rest/discord_api.ts";
import { deliveryFault, discordCode } from "../rest/delivery_fault.ts";
import { escapeText } from "../text/to_discord.ts";
import type { Words } from "../words.ts";
import type { Sender } from "../outbound/sender.ts";
import type { AnswerThreads } from "./answer_threads.ts";
import { fetchFiles, type MissingFiles } from "./fetch_files.ts";
import type { InboundItem } from "./inbound_item.ts";
import { filesOf, object } from "./read_message.ts";

/** What it works with. */
export interface HandOverDeps {
  api: DiscordApi;
  sender: Sender;
  /** Absent: answers stand in the channel itself. */
  threads: AnswerThreads | undefined;
  /** Empty: none. */
  ackReaction: string;
  words: Words;
  stateDir: string;
  handleMessage: (message: HandledMessage) => Promise<Published>;
  transcribe: (path: string) => Promise<string>;
  /** A turn has begun in a chat. */
  onTurn: (chatId: string) => void;
  sleep: (ms: number) => Promise<void>;
  clock: Pick<Clock, "after">;
  log: Pick<Log, "info" | "warning">;
}

/** Resolves when the service has it, or does not want it. Rejects where another try may help. */
export async function handOver(
  item: InboundItem,
  deps: HandOverDeps,
  signal: AbortSignal,
): Promise<void> {
  const { api, stateDir, threads, sleep, clock } = deps;
  const chatId = item.mayThread && threads !== undefined ? await threads.open(item) : item.chatId;
  const { messageId, files: listed } = item;
  const refresh = async () => {
    try {
      return filesOf(object(await api.message(item.chatId, messageId)));
    } catch (error) {
      if (discordCode(error) !== undefined) return [];
      throw deliveryFault(error);
    }
  };
  if (!isSnowflake(messageId)) return;
  const files = new InboundFiles(stateDir);
  try {
    const missing = await fetchFiles({ files, listed, refresh, sleep, clock, signal });
    await publish(item, chatId, { files, missing, signal }, deps);
  } finally {
    // The service has what it needs; what it has not is fetched again.
    await files.remove();
  }
}

async function publish(
  item: InboundItem,
  chatId: string,
  { files, missing: { tooLarge, gone }, signal }: {
    files: InboundFiles;
    missing: MissingFiles;
    signal: AbortSignal;
  },
  deps: HandOverDeps,
): Promise<void> {
  const { api, words, ackReaction, handleMessage, onTurn, log } = deps;
  const { senderId, senderName, messageId, sentAt, metadata } = item;
  const heard = item.isVoice ? await hear(files, deps) : [];
  const notes = [
    ...tooLarge.length > 0 ? [words("tooLarge", { names: tooLarge.join(", ") })] : [],
    ...gone.length > 0 ? [words("gone", { names: gone.join(", ") })] : [],
  ];
  const media = files.paths;
  const message = {
    senderId,
    ...senderName !== undefined && { senderName },
    chatId,
    ...inPieces([
      ...piecesOf(item),
      ...heard,
      ...notes.flatMap((note) => others("file", note)),
    ]),
    ...media.length > 0 && { media },
    metadata,
    messageId,
    sentAt,
  };
  const published = await abortable(handleMessage(message), signal);
  const isNew = published.kind === "turn" && !published.repeated;
  if (isNew) onTurn(chatId);
  if (isNew && item.isMessage && ackReaction !== "") {
    await api.react(item.chatId, messageId, ackReaction).catch((error) =>
      log.info("A reaction could not be set", {
        reason: deliveryFault(error).message.slice(0, 200),
      })
    );
  }
  if (notes.length > 0 && published.kind !== "denied") {
    // The person has to know as well; the message itself is with the service.
    await deps.sender.post({ chatId, metadata: {} }, escapeText(notes.join("\n").slice(0, 900)), {
      key: `files ${messageId}`,
    }).catch((error: Error) =>
      log.warning("A note on files was not sent", { reason: error.message })
    );
  }
}

/** What is said in a voice message; that it was not heard, where nobody transcribes. */
async function hear(
  files: InboundFiles,
  { transcribe, words, log }: HandOverDeps,
): Promise<TextPart[]> {
  const [path] = files.paths;
  if (path === undefined) return [];
  const heard = await hearVoice(path, transcribe);
  if (heard.kind === "text") {
    files.leaveOut(path);
    // Whoever is heard in a recording need not be who sends it: nothing in it is a command.
    return [{ text: heard.text.startsWith("/") ? `“${heard.text}”` : heard.text }];
  }
  if (heard.kind === "failed") {
    log.warning("A voice message could not be transcribed", {
      reason: heard.reason.slice(0, 200),
    });
  }
  return others("file", words("voiceAsFile"));
}
