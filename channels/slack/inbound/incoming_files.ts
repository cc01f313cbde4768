/**
 * The files of a message, fetched into the channel's folder, and voice clips as what is said in them.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import {
  LoginRefusedError,
  NotConnectedError,
  RetryLaterError,
} from "../../../lib/channel/delivery_error.ts";
import type { TextPart } from "../../../lib/channel/mod.ts";
import {
  hearVoice,
  type InboundFiles,
  MAX_INBOUND_FILES,
  others,
  type Tries,
} from "../../../lib/channel/platform/mod.ts";
import { type SlackApi } from "../api/slack_api.ts";
import { SlackRefusal } from "../api/slack_fault.ts";
import { boundedFetch } from "../api/bounded_fetch.ts";
import { type FileNote, readFile } from "../events/read_files.ts";
import type { SlackMessage } from "../events/read_message.ts";
import type { Words } from "../words.ts";
import { isSlackUrl } from "./slack_hosts.ts";

/** How long one file may take, milliseconds. */
const FILE_MS = 60_000;

/** What it works with. */
export interface IncomingFilesDeps {
  api: Pick<SlackApi, "call">;
  apiUrl: URL;
  botToken: string;
  words: Words;
  clock: Clock;
  /** Of messages whose files have not come. */
  tries: Tries;
  /** What is said in an audio file; rejects with the code `not_enabled` while that is off. */
  transcribe: (path: string) => Promise<string>;
}

/** What is said of the files. */
export interface FileWords {
  /** What was said in voice clips. */
  spoken: TextPart[];
  /** Words about files that were left out, for who sent them. */
  leftOut: string[];
  /** Names of voice clips that nobody could hear, and that stay files. */
  unheard: string[];
}

/** Fetches them. Rejects where it is worth another try. */
export async function fetchFiles(
  { files: listed, ts, channel }: Pick<SlackMessage, "files" | "ts" | "channel">,
  files: InboundFiles,
  deps: IncomingFilesDeps,
  signal: AbortSignal,
): Promise<FileWords> {
  const { words, tries, transcribe } = deps;
  const said: FileWords = { spoken: [], leftOut: [], unheard: [] };
  const message = `${channel} ${ts}`;
  let isLast = false;
  // What waits behind it in the chat does not wait for ever.
  const orUnread = (error: unknown) => {
    if (signal.aborted || error instanceof LoginRefusedError) throw error;
    if (error instanceof RetryLaterError && !(error instanceof NotConnectedError)) throw error;
    isLast ||= tries.isLast(message);
    if (!isLast) throw error;
    return "Slack does not give it";
  };
  for (const one of listed) {
    const { name, isClip } = one;
    const unread = (reason: string) =>
      void said.leftOut.push(words("fileUnreadable", { name, reason }));
    if (files.isFull) {
      said.leftOut.push(words("tooManyFiles", { name, max: MAX_INBOUND_FILES }));
      continue;
    }
    const file = await located(one, deps).catch(orUnread);
    if (typeof file === "string") {
      unread(file);
      continue;
    }
    const maxBytes = files.roomBytes;
    if (file.sizeBytes > maxBytes) {
      said.leftOut.push(tooLarge(words, name, file.sizeBytes, maxBytes));
      continue;
    }
    const bytes = await download(file, deps, { signal, maxBytes }).catch(orUnread);
    if (typeof bytes === "string") {
      if (bytes !== "too large") unread(bytes);
      else said.leftOut.push(tooLarge(words, name, undefined, maxBytes));
      continue;
    }
    const path = await files.write(name, bytes);
    if (!file.isAudio) continue;
    const voice = await hearVoice(path, transcribe);
    if (voice.kind === "text") {
      files.leaveOut(path);
      // A command is written, and who speaks in a file may be somebody else.
      const text = voice.text.startsWith("/") ? `“${voice.text}”` : voice.text;
      said.spoken.push(...isClip === true ? [{ text }] : others("file", text, name));
    } else said.unheard.push(name);
  }
  tries.forget(message);
  return said;
}

/** With its address, which Slack wants to be asked for where a file comes from another workspace. */
async function located(file: FileNote, { api }: IncomingFilesDeps): Promise<FileNote> {
  if (file.url !== "" || file.isAway) return file;
  try {
    const answer = await api.call("files.info", { file: file.id });
    return readFile(answer.file) ?? file;
  } catch (error) {
    if (!(error instanceof SlackRefusal)) throw error;
    return file;
  }
}

/** Its bytes, or why it cannot be had. Rejects where it is worth another try. */
async function download(
  { url, isAway, mimetype }: FileNote,
  { apiUrl, botToken, clock }: IncomingFilesDeps,
  { signal, maxBytes }: { signal: AbortSignal; maxBytes: number },
): Promise<Uint8Array<ArrayBuffer> | string> {
  if (isAway || url === "" || !isSlackUrl(url, apiUrl)) return "it does not lie on Slack";
  const get = boundedFetch({ signal, timeoutMs: FILE_MS, clock, maxBytes });
  let response: Response;
  try {
    response = await get(url, { headers: { authorization: `Bearer ${botToken}` } });
  } catch (error) {
    if (error instanceof RangeError) return "too large";
    throw error;
  }
  if (response.status === 429) {
    const seconds = Number(response.headers.get("retry-after")) || 30;
    throw new RetryLaterError("Slack gives files again later", seconds * 1_000);
  }
  if (response.status >= 500) throw new Error(`Slack answered with HTTP ${response.status}`);
  const type = response.headers.get("content-type") ?? "";
  // To who may not have a file Slack shows a page to sign in.
  if (response.status !== 200 || type.startsWith("text/html") && !mimetype.includes("html")) {
    return "Slack does not give it to the app; it may lack the scope files:read";
  }
  return new Uint8Array(await response.arrayBuffer());
}

function tooLarge(
  words: Words,
  name: string,
  sizeBytes: number | undefined,
  maxBytes: number,
): string {
  const size = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`;
  return words("fileTooLarge", {
    name,
    size: size(sizeBytes ?? maxBytes + 1),
    max: size(maxBytes),
  });
}
