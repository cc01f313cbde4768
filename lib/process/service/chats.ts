/**
 * The service's side of chats: they are sessions of the journal, and nothing is kept of them beside it
 * but who is there.
 *
 * @module
 */

import { basename } from "@std/path";
import type { Clock } from "../../base/clock.ts";
import type { AgentTurns } from "../../agent/agent_turns.ts";
import type { InputPart } from "../../contract/messages.ts";
import { CHAT_CHANNEL, chatSessionKey } from "../../contract/chat_session.ts";
import type { ChatMessage, Chats } from "../../contract/chats.ts";
import type { InputFile } from "../../contract/input_file.ts";
import { readUpload } from "../../documents/read_upload.ts";
import type { DocumentReader } from "../../contract/documents.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Journal, RequestKey } from "../../contract/journal.ts";
import { fileDigest, requestDigest } from "../../base/request_digest.ts";
import { MEDIA_LIMITS } from "../../contract/wire/envelopes.ts";
import { AnsweredCommands } from "./answered_commands.ts";
import { answerText } from "./answer_text.ts";
import { ChatPresence } from "./chat_presence.ts";

/** Characters of a client_msg_id. */
const MAX_KEY_CHARS = 128;

/** What chats are made of. */
export interface ChatsDeps {
  turns: Pick<AgentTurns, "submit" | "repeated" | "command" | "open" | "cancelRunning">;
  journal: Pick<Journal, "session" | "epoch" | "whenMade" | "followKey" | "say" | "forkSession">;
  documents: DocumentReader;
  /** Takes secrets out of a text that will be on record. */
  scrub: (text: string) => string;
  /** What is said in an audio. Absent: transcription is off. */
  transcribe?: Chats["transcribe"];
  clock: Clock;
}

/** Makes the chats. */
export function createChats(deps: ChatsDeps): Chats {
  const { turns, journal, documents, scrub, clock } = deps;
  const presence = new ChatPresence({ turns, clock });
  const answered = new AnsweredCommands();

  return {
    head(place) {
      const key = chatSessionKey(place);
      return { seq: journal.session(key)?.lastSeq ?? 0, epoch: journal.epoch(key) };
    },
    whenMade: (place, call) => journal.whenMade(chatSessionKey(place), call),
    follow: (place, options) => journal.followKey(chatSessionKey(place), options),
    async send(message, signal) {
      const sessionKey = chatSessionKey(message);
      const { sender, text, files } = message;
      checkFiles(files);
      const said = [{ type: "text", text }, ...files.map(() => ({ type: "file" }))];
      const requestKey = requestKeyOf(sessionKey, message);
      const name = requestKey && JSON.stringify([sender.actor, ...Object.values(requestKey)]);
      const known = name && answered.find(name);
      if (known) return { kind: "command", text: await known };
      const command = turns.command({ sessionKey, ...sender, input: said });
      if (command !== undefined) {
        const answer = answerText(command);
        if (name) answered.keep(name, answer);
        return { kind: "command", text: await answer };
      }
      try {
        const turn = (requestKey && turns.repeated(requestKey)) ??
          await turns.submit({
            sessionKey,
            channel: CHAT_CHANNEL,
            actor: sender.actor,
            input: await readInput(message, documents, signal),
            durable: true,
            attended: true,
            requestKey,
          });
        presence.wrote(sessionKey);
        return { kind: "turn", turnId: turn.id, repeated: turn.repeated };
      } catch (error) {
        throw isConflict(error) ? conflict(message.clientMsgId!) : error;
      }
    },
    cancel: (place) => turns.cancelRunning(chatSessionKey(place)),
    fork: (asked) => fork(journal, asked),
    join: (place) => presence.join(chatSessionKey(place)),
    async say({ id, text, media, ...place }) {
      const sessionKey = chatSessionKey(place);
      const files = media.map((path) => ({ name: basename(path), path }));
      await journal.say({ id, sessionKey, text: scrub(text), media: files });
    },
    async transcribe(dataUrl, signal) {
      if (deps.transcribe === undefined) {
        throw new ServiceError("not_enabled", "Transcription is not enabled on this service");
      }
      return await deps.transcribe(dataUrl, signal);
    },
  };
}

async function readInput(
  { text, files }: ChatMessage,
  documents: DocumentReader,
  signal: AbortSignal,
): Promise<InputPart[]> {
  const input: InputPart[] = [];
  if (text.trim() !== "" || files.length === 0) input.push({ type: "text", text });
  for (const [at, { name, bytes }] of files.entries()) {
    try {
      const upload = { param: `media[${at}]`, name, bytes, expects: "any" as const };
      input.push(await readUpload(upload, documents, signal));
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new ServiceError(
        "turn_cancelled",
        "The connection was closed before the message was accepted",
      );
    }
  }
  return input;
}

async function fork(
  journal: ChatsDeps["journal"],
  { sourceChatId, beforeUserIndex, ...target }: Parameters<Chats["fork"]>[0],
): Promise<void> {
  const sourceKey = chatSessionKey({ ...target, chatId: sourceChatId });
  const targetKey = chatSessionKey(target);
  try {
    await journal.forkSession({ sourceKey, targetKey, beforeUserIndex });
  } catch (error) {
    // In words of chats: keys of sessions are nothing that a client knows.
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === "not_found") {
      const message = `There is no chat ${JSON.stringify(sourceChatId)}`;
      throw new ServiceError("not_found", message, { param: "source_chat_id" });
    }
    if (error.details.param === "targetKey") {
      const message = `Cannot fork into chat ${JSON.stringify(target.chatId)}: it exists already`;
      throw new ServiceError("invalid_request", message, { param: "chat_id" });
    }
    throw error;
  }
}

/** Throws `too_large`, naming the file or the field, past the bounds of attachments. */
function checkFiles(files: readonly InputFile[]): void {
  const { maxCount, maxFileBytes, maxTotalBytes } = MEDIA_LIMITS;
  if (files.length > maxCount) {
    throw tooLarge("media", `media holds ${files.length} files: at most ${maxCount} are taken`);
  }
  let total = 0;
  for (const [at, { bytes }] of files.entries()) {
    if (bytes.length > maxFileBytes) {
      throw tooLarge(
        `media[${at}]`,
        `media[${at}] has ${bytes.length} bytes: at most ${maxFileBytes} are taken`,
      );
    }
    total += bytes.length;
  }
  if (total > maxTotalBytes) {
    throw tooLarge(
      "media",
      `media has ${total} bytes: at most ${maxTotalBytes} are taken together`,
    );
  }
}

function tooLarge(param: string, message: string): ServiceError {
  return new ServiceError("too_large", message, { param });
}

/**
 * The key of a message, by which a repeat of it gets the same turn for 8 days. Whoever repeats it after
 * the turn was cancelled has not seen that it was accepted, so a cancellation does not free the key.
 */
function requestKeyOf(
  sessionKey: string,
  { clientMsgId, text, files }: ChatMessage,
): RequestKey | undefined {
  if (clientMsgId === undefined) return undefined;
  const isKey = clientMsgId.isWellFormed() && !clientMsgId.includes("\0") &&
    clientMsgId.length >= 1 && clientMsgId.length <= MAX_KEY_CHARS;
  if (!isKey) {
    throw new ServiceError(
      "invalid_request",
      `Cannot use ${JSON.stringify(clientMsgId.slice(0, 200))} as client_msg_id: expected 1 to ` +
        `${MAX_KEY_CHARS} characters of Unicode text without NUL`,
      { param: "client_msg_id" },
    );
  }
  const content = files.map(({ name, bytes }) => ({ name, sha256: fileDigest(bytes) }));
  return {
    scope: `chat ${sessionKey}`,
    key: clientMsgId,
    digest: requestDigest({ text, files: content }),
    outlivesCancel: true,
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "idempotency_conflict";
}

function conflict(clientMsgId: string): ServiceError {
  return new ServiceError(
    "idempotency_conflict",
    `Cannot use client_msg_id ${
      JSON.stringify(clientMsgId)
    }: it was used with another message of ` +
      "this chat, a new message needs another one",
    { param: "client_msg_id" },
  );
}
