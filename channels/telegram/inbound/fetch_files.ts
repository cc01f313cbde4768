/**
 * The files of a message, fetched into the channel's folder; what is too large is not fetched at all, and
 * what is said in a voice message is written down.
 *
 * @module
 */

import {
  type HeardVoice,
  hearVoice,
  type InboundFiles,
  MAX_INBOUND_FILE_BYTES,
  MAX_INBOUND_FILES,
  MAX_INBOUND_TOTAL_BYTES,
  others,
  readBounded,
  withDeadline,
} from "../../../lib/channel/platform/mod.ts";
import type { Clock } from "../../../lib/base/clock.ts";
import type { TextPart } from "../../../lib/channel/mod.ts";
import type { TelegramApi } from "../api/telegram_api.ts";
import { isRejection, TelegramFault } from "../api/telegram_fault.ts";
import { megabytes } from "../outbound/megabytes.ts";
import type { Words } from "../words.ts";
import type { FileRef } from "./heard.ts";

/** What it works with. */
export interface FetchDeps {
  api: TelegramApi;
  /** Where they are put. */
  files: InboundFiles;
  words: Words;
  /** What is said in an audio file. Rejects with `not_enabled` where that is off. */
  transcribe: (path: string) => Promise<string>;
  clock: Pick<Clock, "after">;
  signal: AbortSignal;
}

/** How long one file may take, milliseconds: a server that says no more holds up no chat. */
const FILE_MS = 120_000;

/** What is said of the files. */
export interface FileWords {
  /** For the agent, in words: what was said, and what could not be heard. */
  said: TextPart[];
  /** For the chat: what was left out. */
  problems: string[];
}

/** Rejects with a `TelegramFault` for what another try may mend. */
export async function fetchFiles(refs: readonly FileRef[], deps: FetchDeps): Promise<FileWords> {
  const { words, files, transcribe } = deps;
  const fetched: FileWords = { said: [], problems: [] };
  for (const ref of refs) {
    const name = shownName(ref.name);
    if (files.isFull) {
      fetched.problems.push(words("filesTooMany", { name, max: MAX_INBOUND_FILES }));
      continue;
    }
    const bytes = await fetchOne(ref, name, deps);
    if (typeof bytes === "string") {
      fetched.problems.push(bytes);
      continue;
    }
    const path = await files.write(ref.name, bytes);
    if (ref.kind !== "voice" && ref.kind !== "audio") continue;
    const voice = await hearVoice(path, transcribe);
    if (voice.kind !== "text") {
      fetched.said.push(...others("file", words("voiceUnheard", { reason: reasonOf(voice) })));
    } else {
      const text = words("voiceMessage", { text: voice.text });
      // Spoken into the client; any other recording may be of anybody.
      const provenance = ref.kind === "voice" ? ref.provenance ?? "own" : "file";
      fetched.said.push({ text, provenance, ...provenance !== "own" && { from: name } });
    }
    // A recording is more than what is said in it.
    if (voice.kind === "text" && ref.kind === "voice") files.leaveOut(path);
  }
  return fetched;
}

/** Its bytes, or why there are none. */
async function fetchOne(
  ref: FileRef,
  name: string,
  { api, files, words, clock, signal }: FetchDeps,
): Promise<Uint8Array | string> {
  const maxBytes = files.roomBytes;
  const tooLarge = (bytes: number) =>
    bytes > MAX_INBOUND_FILE_BYTES
      ? words("fileTooLargeIn", {
        name,
        size: megabytes(bytes),
        max: megabytes(MAX_INBOUND_FILE_BYTES),
      })
      : words("filesTooLarge", { name, max: megabytes(MAX_INBOUND_TOTAL_BYTES) });
  if ((ref.bytes ?? 0) > maxBytes) return tooLarge(ref.bytes!);
  const unreadable = words("fileUnreadable", { name });
  let filePath: string | undefined;
  try {
    ({ file_path: filePath } = await api.call("getFile", { file_id: ref.fileId }, { signal }));
  } catch (error) {
    if (isRejection(error, /too big/i)) return tooLarge(ref.bytes ?? 20 * 1024 * 1024 + 1);
    if (error instanceof TelegramFault && error.kind === "rejected") return unreadable;
    throw error;
  }
  // A server in local mode names a file of its own machine.
  if (typeof filePath !== "string" || filePath.startsWith("/")) return unreadable;
  const late = () => new TelegramFault("cut_off", "A file has not come in time");
  return await withDeadline({ timeoutMs: FILE_MS, late, signal, clock }, async (ending) => {
    try {
      const body = await api.download(filePath, ending);
      return await readBounded({ body }, maxBytes, ending) ?? tooLarge(maxBytes + 1);
    } catch (error) {
      if (ending.aborted) throw ending.reason;
      // What fetch says may name the address, which holds the token.
      throw error instanceof TelegramFault || !(error instanceof TypeError)
        ? error
        : new TelegramFault("cut_off", "A file was cut off on its way");
    }
  });
}

function reasonOf(voice: Exclude<HeardVoice, { kind: "text" }>): string {
  return voice.kind === "off" ? "transcription is off" : voice.reason;
}

/** A name as it is said, in one line and not too long. */
function shownName(name: string): string {
  return name.replace(/\p{Cc}/gu, "_").slice(0, 80).toWellFormed() || "file";
}
