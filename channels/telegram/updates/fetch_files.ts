/**
 * The files of a message, fetched into the channel's folder; what is too large is not fetched at all, and
 * what is said in a voice message is written down.
 *
 * @module
 */

import { extname, join } from "@std/path";
import type { Clock } from "../../../lib/agent/clock.ts";
import type { TelegramApi } from "../api/telegram_api.ts";
import { isRejection, TelegramFault } from "../api/telegram_fault.ts";
import { megabytes } from "../sending/megabytes.ts";
import type { Words } from "../words.ts";
import type { FileRef } from "./heard.ts";

/** What the service takes with a message. */
export const MAX_FILES = 4;
export const MAX_IN_BYTES = 8 * 1024 * 1024;
export const MAX_TOTAL_BYTES = 24 * 1024 * 1024;

/** What it works with. */
export interface FetchDeps {
  api: TelegramApi;
  /** A new folder for this message. */
  dir: string;
  words: Words;
  /** What is said in an audio file. Rejects with `not_enabled` where that is off. */
  transcribe: (path: string) => Promise<string>;
  clock: Pick<Clock, "after">;
  signal: AbortSignal;
}

/** How long one file may take, milliseconds: a server that says no more holds up no chat. */
const FILE_MS = 120_000;

/** What became of the files. */
export interface FetchedFiles {
  paths: string[];
  /** For the agent, in words: what was said, and what could not be heard. */
  said: string[];
  /** For the chat: what was left out. */
  problems: string[];
}

/** Rejects with a `TelegramFault` for what another try may mend. */
export async function fetchFiles(
  files: readonly FileRef[],
  deps: FetchDeps,
): Promise<FetchedFiles> {
  const { words } = deps;
  const fetched: FetchedFiles = { paths: [], said: [], problems: [] };
  let leftBytes = MAX_TOTAL_BYTES;
  for (const [index, file] of files.entries()) {
    const name = safeName(file.name);
    if (index >= MAX_FILES) {
      fetched.problems.push(words("filesTooMany", { name, max: MAX_FILES }));
      continue;
    }
    const path = join(deps.dir, `${index}`, name);
    const bytes = await fetchOne(file, path, Math.min(MAX_IN_BYTES, leftBytes), deps);
    if (typeof bytes !== "number") fetched.problems.push(bytes.problem);
    else {
      leftBytes -= bytes;
      await add(fetched, file, path, deps);
    }
  }
  return fetched;
}

async function fetchOne(
  file: FileRef,
  path: string,
  maxBytes: number,
  { api, words, clock, signal }: FetchDeps,
): Promise<number | { problem: string }> {
  const name = safeName(file.name);
  const tooLarge = (bytes: number) => ({
    problem: bytes > MAX_IN_BYTES
      ? words("fileTooLargeIn", { name, size: megabytes(bytes), max: megabytes(MAX_IN_BYTES) })
      : words("filesTooLarge", { name, max: megabytes(MAX_TOTAL_BYTES) }),
  });
  if ((file.bytes ?? 0) > maxBytes) return tooLarge(file.bytes!);
  const unreadable = { problem: words("fileUnreadable", { name }) };
  let filePath: string | undefined;
  try {
    ({ file_path: filePath } = await api.call("getFile", { file_id: file.fileId }, { signal }));
  } catch (error) {
    if (isRejection(error, /too big/i)) return tooLarge(file.bytes ?? 20 * 1024 * 1024 + 1);
    if (error instanceof TelegramFault && error.kind === "rejected") return unreadable;
    throw error;
  }
  // A server in local mode names a file of its own machine.
  if (typeof filePath !== "string" || filePath.startsWith("/")) return unreadable;
  await Deno.mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  const over = new AbortController();
  const stop = () => over.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const late = new TelegramFault("cut_off", "A file has not come in time");
  const cancel = clock.after(FILE_MS, () => over.abort(late));
  try {
    const body = await api.download(filePath, over.signal);
    const bytes = await write(body, path, maxBytes, over.signal);
    return bytes ?? tooLarge(maxBytes + 1);
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
  }
}

/** Bytes that were written; undefined where there are more than that. */
async function write(
  body: ReadableStream<Uint8Array>,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  using file = await Deno.open(path, { write: true, create: true, truncate: true, mode: 0o600 });
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes) return undefined;
      for (let at = 0; at < chunk.length;) at += await file.write(chunk.subarray(at));
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // What fetch says may name the address, which holds the token.
    throw error instanceof TelegramFault || !(error instanceof TypeError)
      ? error
      : new TelegramFault("cut_off", "A file was cut off on its way");
  }
  return bytes;
}

async function add(
  { paths, said }: FetchedFiles,
  { kind }: FileRef,
  path: string,
  { words, transcribe }: FetchDeps,
): Promise<void> {
  if (kind !== "voice" && kind !== "audio") return void paths.push(path);
  try {
    const text = (await transcribe(path)).trim();
    said.push(words("voiceMessage", { text }));
    // A recording is more than what is said in it.
    if (kind === "audio") paths.push(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    said.push(words("voiceUnheard", { reason }));
    paths.push(path);
  }
}

/** A name of a file of ours, with its ending kept. */
function safeName(name: string): string {
  const plain = name.replace(/[\p{Cc}/\\:*?"<>|]/gu, "_").replace(/^\.+/, "_").toWellFormed();
  if (plain.length <= 80) return plain === "" ? "file" : plain;
  const ending = extname(plain).slice(0, 12);
  return plain.slice(0, 80 - ending.length).toWellFormed() + ending;
}
