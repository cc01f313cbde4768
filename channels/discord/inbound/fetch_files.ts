/**
 * Files of messages, from Discord's store into the channel's folder.
 *
 * @module
 */

import { extname, join } from "@std/path";
import type { InboundFile } from "./inbound_item.ts";

/** What the service takes with one message. */
const MAX_FILES = 4;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_ALL_BYTES = 24 * 1024 * 1024;

/** A store that gives nothing is left alone after so long, milliseconds. */
const FETCH_MS = 60_000;

/** What became of the files of a message. */
export interface FetchedFiles {
  /** The folder that they are in, to be removed. */
  dir: string;
  paths: string[];
  /** Names of those that are larger than what is taken, or too many. */
  tooLarge: string[];
  /** Names of those that the store does not have any more. */
  gone: string[];
}

/** What files are fetched with. */
export interface FetchFilesOptions {
  stateDir: string;
  /** Names the folder. */
  messageId: string;
  files: readonly InboundFile[];
  /** Asks for the addresses anew, which end after a day. */
  refresh: () => Promise<readonly InboundFile[]>;
  sleep: (ms: number) => Promise<void>;
  signal: AbortSignal;
}

/** Waits before a store that does not answer is asked again; then its chat waits for it no longer. */
const AGAIN_MS = [1_000, 4_000];

/** Fetches what may be taken. Rejects when it is to stop. */
export async function fetchFiles(options: FetchFilesOptions): Promise<FetchedFiles> {
  const { stateDir, messageId, files } = options;
  const dir = join(stateDir, "media", messageId);
  const fetched: FetchedFiles = { dir, paths: [], tooLarge: [], gone: [] };
  let leftBytes = MAX_ALL_BYTES;
  let fresh: readonly InboundFile[] | undefined;
  for (const [index, file] of files.entries()) {
    const maxBytes = Math.min(MAX_FILE_BYTES, leftBytes);
    if (fetched.paths.length === MAX_FILES || file.sizeBytes > maxBytes) {
      fetched.tooLarge.push(file.name);
      continue;
    }
    let content = await fetchAgain(file.url, maxBytes, options);
    if (content === "gone") {
      fresh ??= await options.refresh();
      const again = fresh[index];
      content = again === undefined ? "gone" : await fetchAgain(again.url, maxBytes, options);
    }
    if (typeof content === "string") {
      fetched[content === "gone" ? "gone" : "tooLarge"].push(file.name);
      continue;
    }
    leftBytes -= content.length;
    await Deno.mkdir(dir, { recursive: true, mode: 0o700 });
    const path = join(dir, plainName(file.name, index));
    await Deno.writeFile(path, content, { mode: 0o600 });
    fetched.paths.push(path);
  }
  return fetched;
}

type Fetched = Uint8Array<ArrayBuffer> | "gone" | "too large";

async function fetchAgain(
  url: string,
  maxBytes: number,
  { sleep, signal }: FetchFilesOptions,
): Promise<Fetched> {
  for (const waitMs of [...AGAIN_MS, 0]) {
    const fetched = await fetchFile(url, maxBytes, signal);
    if (fetched !== "away") return fetched;
    if (waitMs > 0) await sleep(waitMs);
    signal.throwIfAborted();
  }
  return "gone";
}

async function fetchFile(
  url: string,
  maxBytes: number,
  stopping: AbortSignal,
): Promise<Fetched | "away"> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(FETCH_MS)]);
  try {
    const response = await fetch(url, { redirect: "error", signal });
    const { status, body } = response;
    if (!response.ok || body === null) {
      await body?.cancel();
      return status === 429 || status >= 500 ? "away" : "gone";
    }
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      // Whatever it was said to have.
      if (size > maxBytes) return "too large";
      chunks.push(chunk);
    }
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
  } catch (error) {
    stopping.throwIfAborted();
    return error instanceof Deno.errors.NotCapable ? "gone" : "away";
  }
}

/** A name of one folder and nothing else, with its ending. */
function plainName(name: string, index: number): string {
  const ending = extname(name).replaceAll(/[^\w.]/g, "").slice(0, 12);
  const stem = name.slice(0, name.length - extname(name).length)
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "_").trim().slice(0, 60);
  return `${index + 1}-${stem || "file"}${ending}`;
}
