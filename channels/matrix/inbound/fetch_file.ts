/**
 * A file that came with a message, in the channel's own folder; what somebody said into a client is heard
 * where that is possible. Whatever cannot be had is said in the message, so that nothing is lost without a
 * word.
 *
 * @module
 */

import { join } from "@std/path";
import { readFault } from "../api/faults.ts";
import type { MatrixApi } from "../api/matrix_api.ts";
import { fill, type MatrixWords, sizeWords } from "../words.ts";
import type { HeardFile } from "./heard.ts";

/** Bytes of a file that the service takes. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** What is fetched with. */
export interface FetchFileDeps {
  api: Pick<MatrixApi, "download">;
  stateDir: string;
  transcribe: (path: string) => Promise<string>;
  words: MatrixWords;
  /** The file could not be had once more: whether its message is to wait for it no longer. */
  isHopeless: () => boolean;
  signal: AbortSignal;
}

/** What came of a file. */
export interface FetchedFile {
  /** Beside what was written. */
  text: string;
  /** Nothing of it goes on, for whatever `text` says: whoever sent it is to know. */
  isLeftOut: boolean;
  path: string | undefined;
  /** Removes it from the disk again. */
  remove(): Promise<void>;
}

/** Rejects where the server cannot be asked, so that it is asked again. `key`: of the message alone. */
export async function fetchFile(
  file: HeardFile,
  key: string,
  { api, stateDir, transcribe, words, isHopeless, signal }: FetchFileDeps,
): Promise<FetchedFile> {
  const { name, isVoice } = file;
  const without = (text: string) => ({
    text,
    isLeftOut: true,
    path: undefined,
    remove: () => Promise.resolve(),
  });
  const tooLarge = () =>
    without(fill(words.fileTooLarge, { name, limit: sizeWords(MAX_FILE_BYTES) }));
  if ((file.size ?? 0) > MAX_FILE_BYTES) return tooLarge();
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = await api.download(file.mxc, signal);
  } catch (error) {
    const fault = readFault(error);
    // Such as one of another server that is gone for good: the chat does not wait for it for ever.
    if (fault.kind !== "refused" && (fault.kind !== "away" || !isHopeless())) throw error;
    if (fault.kind === "refused" && fault.errcode === "M_TOO_LARGE") return tooLarge();
    return without(fill(words.fileGone, { name, reason: fault.words }));
  }
  const dir = join(stateDir, "media", key);
  const remove = () => Deno.remove(dir, { recursive: true });
  await Deno.mkdir(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, name);
  await Deno.writeFile(path, bytes, { mode: 0o600 });
  if (!isVoice) return { text: "", isLeftOut: false, path, remove };
  try {
    const said = (await transcribe(path)).trim();
    if (said !== "") return { text: said, isLeftOut: false, path: undefined, remove };
    return { text: "", isLeftOut: false, path, remove };
  } catch (error) {
    if (signal.aborted) throw error;
    const isOff = (error as { code?: unknown }).code === "not_enabled";
    const reason = isOff
      ? words.transcriptionOff
      : error instanceof Error
      ? error.message
      : String(error);
    return { text: fill(words.voiceNotHeard, { reason }), isLeftOut: false, path, remove };
  }
}

/** Removes what a process that was killed has left behind. */
export async function removeOldFiles(stateDir: string): Promise<void> {
  await Deno.remove(join(stateDir, "media"), { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}
