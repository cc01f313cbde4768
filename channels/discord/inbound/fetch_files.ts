/**
 * Files of messages, from Discord's store into the channel's folder.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { type InboundFiles, readBounded, withDeadline } from "../../../lib/channel/platform/mod.ts";
import type { InboundFile } from "./inbound_item.ts";

/** A store that gives nothing is left alone after so long, milliseconds. */
const FETCH_MS = 60_000;

/** Which files of a message are not there. */
export interface MissingFiles {
  /** Names of those that are larger than what is taken, or too many. */
  tooLarge: string[];
  /** Names of those that the store does not have any more. */
  gone: string[];
}

/** What files are fetched with. */
export interface FetchFilesOptions {
  /** Where they are put. */
  files: InboundFiles;
  listed: readonly InboundFile[];
  /** Asks for the addresses anew, which end after a day. */
  refresh: () => Promise<readonly InboundFile[]>;
  sleep: (ms: number) => Promise<void>;
  clock: Pick<Clock, "after">;
  signal: AbortSignal;
}

/** Waits before a store that does not answer is asked again; then its chat waits for it no longer. */
const AGAIN_MS = [1_000, 4_000];

/** Fetches what may be taken. Rejects when it is to stop. */
export async function fetchFiles(options: FetchFilesOptions): Promise<MissingFiles> {
  const { files, listed, refresh } = options;
  const missing: MissingFiles = { tooLarge: [], gone: [] };
  let fresh: readonly InboundFile[] | undefined;
  for (const [index, file] of listed.entries()) {
    const maxBytes = files.roomBytes;
    if (files.isFull || file.sizeBytes > maxBytes) {
      missing.tooLarge.push(file.name);
      continue;
    }
    let content = await fetchAgain(file.url, maxBytes, options);
    if (content === "gone") {
      fresh ??= await refresh();
      const again = fresh[index];
      content = again === undefined ? "gone" : await fetchAgain(again.url, maxBytes, options);
    }
    if (content === "gone") missing.gone.push(file.name);
    else if (content === "too large") missing.tooLarge.push(file.name);
    else await files.write(file.name, content);
  }
  return missing;
}

type Fetched = Uint8Array<ArrayBuffer> | "gone" | "too large";

async function fetchAgain(
  url: string,
  maxBytes: number,
  options: FetchFilesOptions,
): Promise<Fetched> {
  for (const waitMs of [...AGAIN_MS, 0]) {
    const fetched = await fetchFile(url, maxBytes, options);
    if (fetched !== "away") return fetched;
    if (waitMs > 0) await options.sleep(waitMs);
    options.signal.throwIfAborted();
  }
  return "gone";
}

async function fetchFile(
  url: string,
  maxBytes: number,
  { clock, signal }: FetchFilesOptions,
): Promise<Fetched | "away"> {
  try {
    return await withDeadline({ timeoutMs: FETCH_MS, clock, signal }, async (ending) => {
      const response = await fetch(url, { redirect: "error", signal: ending });
      if (response.ok) return await readBounded(response, maxBytes, ending) ?? "too large";
      await response.body?.cancel();
      return response.status === 429 || response.status >= 500 ? "away" : "gone";
    });
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Deno.errors.NotCapable ? "gone" : "away";
  }
}
