/**
 * A file that came with a message, in the channel's own folder; what somebody said into a client is heard
 * where that is possible. Whatever cannot be had is said in the message, so that nothing is lost without a
 * word.
 *
 * @module
 */

import {
  hearVoice,
  type InboundFiles,
  MAX_INBOUND_FILE_BYTES,
} from "../../../lib/channel/platform/mod.ts";
import { readFault } from "../api/faults.ts";
import type { MatrixApi } from "../api/matrix_api.ts";
import { sizeWords, type Words } from "../words.ts";
import type { HeardFile } from "./heard.ts";

/** What is fetched with. */
export interface FetchFileDeps {
  api: Pick<MatrixApi, "download">;
  /** Where it is put. */
  files: InboundFiles;
  transcribe: (path: string) => Promise<string>;
  words: Words;
  /** The file could not be had once more: whether its message is to wait for it no longer. */
  isHopeless: () => boolean;
  signal: AbortSignal;
}

/** What came of a file. */
export interface FetchedFile {
  /** Beside what was written. */
  text: string;
  /** Whose words that is: `own` for what was spoken into the client. */
  provenance: "own" | "file";
  /** Nothing of it goes on, for whatever `text` says: whoever sent it is to know. */
  isLeftOut: boolean;
}

/** Rejects where the server cannot be asked, so that it is asked again. */
export async function fetchFile(
  file: HeardFile,
  { api, files, transcribe, words, isHopeless, signal }: FetchFileDeps,
): Promise<FetchedFile> {
  const { name, isVoice } = file;
  const without = (text: string) => ({ text, provenance: "file" as const, isLeftOut: true });
  const tooLarge = () =>
    without(words("fileTooLarge", { name, limit: sizeWords(MAX_INBOUND_FILE_BYTES) }));
  if ((file.size ?? 0) > MAX_INBOUND_FILE_BYTES) return tooLarge();
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = await api.download(file.mxc, signal);
  } catch (error) {
    const fault = readFault(error);
    // Such as one of another server that is gone for good: the chat does not wait for it for ever.
    if (fault.kind !== "refused" && (fault.kind !== "away" || !isHopeless())) throw error;
    if (fault.kind === "refused" && fault.errcode === "M_TOO_LARGE") return tooLarge();
    return without(words("fileGone", { name, reason: fault.words }));
  }
  const path = await files.write(name, bytes);
  if (!isVoice) return { text: "", provenance: "file", isLeftOut: false };
  const heard = await hearVoice(path, transcribe);
  signal.throwIfAborted();
  if (heard.kind === "text") {
    files.leaveOut(path);
    return { text: heard.text, provenance: "own", isLeftOut: false };
  }
  const reason = heard.kind === "off" ? words("transcriptionOff") : heard.reason;
  return { text: words("voiceNotHeard", { reason }), provenance: "file", isLeftOut: false };
}
