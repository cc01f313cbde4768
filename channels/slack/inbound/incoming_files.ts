/**
 * The files of a message, fetched into the channel's folder, and voice clips as what is said in them.
 *
 * @module
 */

import { join } from "@std/path";
import type { Clock } from "../../../lib/agent/clock.ts";
import {
  LoginRefusedError,
  NotConnectedError,
  RetryLaterError,
} from "../../../lib/channel/delivery_error.ts";
import { type SlackApi } from "../api/slack_api.ts";
import { SlackRefusal } from "../api/slack_fault.ts";
import { boundedFetch } from "../api/bounded_fetch.ts";
import { type FileNote, readFile } from "../events/read_files.ts";
import type { SlackMessage } from "../events/read_message.ts";
import { fill, type Words } from "../words.ts";
import { isSlackUrl } from "./slack_hosts.ts";

/** What the service takes with one message. */
const MAX_FILES = 4;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_TOTAL_BYTES = 24 * 1024 * 1024;

/** How often one process tries to fetch the files of a message, which takes two minutes. */
const MAX_ATTEMPTS = 8;

/** Messages whose files have not come so far. */
const MAX_FAILING = 1_000;

/** How long one file may take, milliseconds. */
const FILE_MS = 60_000;

/** What it works with. */
export interface IncomingFilesDeps {
  api: Pick<SlackApi, "call">;
  apiUrl: URL;
  botToken: string;
  stateDir: string;
  words: Words;
  clock: Clock;
  /** How often the files of a message have not come, by its folder. */
  failures: Map<string, number>;
  /** What is said in an audio file; rejects with the code `not_enabled` while that is off. */
  transcribe: (path: string) => Promise<string>;
}

/** What came of the files. */
export interface IncomingFiles {
  paths: string[];
  /** What was said in voice clips. */
  spoken: string[];
  /** Words about files that were left out, for who sent them. */
  leftOut: string[];
  /** Names of voice clips that nobody could hear, and that stay files. */
  unheard: string[];
  /** Removes the files. */
  remove(): Promise<void>;
}

/** Fetches them. Rejects where it is worth another try. */
export async function fetchFiles(
  { files, ts, channel }: Pick<SlackMessage, "files" | "ts" | "channel">,
  deps: IncomingFilesDeps,
  signal: AbortSignal,
): Promise<IncomingFiles> {
  const { words, stateDir } = deps;
  const dir = join(stateDir, "media", `${channel}-${ts}`);
  const came: IncomingFiles = {
    paths: [],
    spoken: [],
    leftOut: [],
    unheard: [],
    remove: () => Deno.remove(dir, { recursive: true }).catch(() => {}),
  };
  if (files.length === 0) return came;
  await came.remove();
  await Deno.mkdir(dir, { recursive: true, mode: 0o700 });
  let totalBytes = 0;
  const failed = deps.failures.get(dir) ?? 0;
  // What waits behind it in the chat does not wait for ever.
  const isWorthWaiting = (error: unknown) => {
    if (signal.aborted || error instanceof LoginRefusedError) return true;
    if (error instanceof RetryLaterError && !(error instanceof NotConnectedError)) return true;
    return failed + 1 < MAX_ATTEMPTS;
  };
  try {
    for (const [index, listed] of files.entries()) {
      const { name } = listed;
      if (index >= MAX_FILES) {
        came.leftOut.push(fill(words.tooManyFiles, { name, max: String(MAX_FILES) }));
        continue;
      }
      const file = await located(listed, deps).catch((error) => {
        if (isWorthWaiting(error)) throw error;
        return "Slack does not give it";
      });
      if (typeof file === "string") {
        came.leftOut.push(fill(words.fileUnreadable, { name, reason: file }));
        continue;
      }
      const maxBytes = Math.min(MAX_FILE_BYTES, MAX_TOTAL_BYTES - totalBytes);
      if (file.sizeBytes > maxBytes) {
        came.leftOut.push(tooLarge(words, name, file.sizeBytes, maxBytes));
        continue;
      }
      const bytes = await download(file, deps, { signal, maxBytes }).catch((error) => {
        if (isWorthWaiting(error)) throw error;
        return "Slack does not give it";
      });
      if (typeof bytes === "string") {
        came.leftOut.push(
          bytes === "too large"
            ? tooLarge(words, name, undefined, maxBytes)
            : fill(words.fileUnreadable, { name, reason: bytes }),
        );
        continue;
      }
      totalBytes += bytes.length;
      const path = join(dir, `${index}-${safeName(name)}`);
      await Deno.writeFile(path, bytes, { mode: 0o600 });
      const said = file.isAudio ? await heard(path, deps) : undefined;
      if (said !== undefined) {
        came.spoken.push(said);
        continue;
      }
      came.paths.push(path);
      if (file.isAudio) came.unheard.push(name);
    }
    deps.failures.delete(dir);
    return came;
  } catch (error) {
    deps.failures.set(dir, failed + 1);
    if (deps.failures.size > MAX_FAILING) deps.failures.delete(deps.failures.keys().next().value!);
    await came.remove();
    throw error;
  }
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

/** What is said in a file; undefined where nobody can tell, so that it stays a file. */
async function heard(
  path: string,
  { transcribe }: IncomingFilesDeps,
): Promise<string | undefined> {
  try {
    const said = (await transcribe(path)).trim();
    return said === "" ? undefined : said;
  } catch {
    return undefined;
  }
}

function tooLarge(
  words: Words,
  name: string,
  sizeBytes: number | undefined,
  maxBytes: number,
): string {
  const size = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`;
  return fill(words.fileTooLarge, {
    name,
    size: size(sizeBytes ?? maxBytes + 1),
    max: size(maxBytes),
  });
}

/** A name that is one file's in its folder. */
function safeName(name: string): string {
  const safe = name.replace(/[^\p{L}\p{N}._ -]/gu, "_").replace(/^\.+/, "_").trim();
  // A file system counts bytes.
  return safe.length <= 60 ? safe || "file" : safe.slice(-60).toWellFormed();
}
