/**
 * Puts a message together from what was typed, piped in and attached.
 *
 * @module
 */

import { MAX_FILES, MAX_FILES_BYTES } from "../../lib/documents/read_upload.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { AskedPart } from "../../lib/local/protocol.ts";
import type { AttachedFile } from "./attach_file.ts";

/** What the command line says about the message. */
export interface MessageOptions {
  /** `-m`: the text, `-` for standard input, undefined when it was not given. */
  message?: string;
  /** `--file`, in their order. */
  files: readonly string[];
  /** False with `--no-stdin`. */
  useStdin: boolean;
}

/** Where a message comes from. */
export interface MessageSources {
  stdinIsTerminal: boolean;
  /** Standard input to its end. */
  readStdin(): Promise<string>;
  attach(path: string): Promise<AttachedFile>;
}

/**
 * The parts of the message, or undefined when nothing was given and a chat is wanted. Standard input
 * is read before any file. Throws `usage` when the message is blank, `too_large` for too many or too
 * large files, or what the sources throw.
 */
export async function gatherMessage(
  { message, files, useStdin }: MessageOptions,
  sources: MessageSources,
): Promise<AskedPart[] | undefined> {
  if (message === "-" && !useStdin) {
    throw usage("-m - reads the message from standard input, which --no-stdin leaves out");
  }
  const wantsStdin = message === "-" || (useStdin && !sources.stdinIsTerminal);
  if (message === undefined && files.length === 0 && !wantsStdin) {
    if (sources.stdinIsTerminal) return undefined;
    throw usage("No message: give it as TEXT or with -m");
  }
  // The line end that every tool prints last is none of the message.
  const piped = wantsStdin ? (await sources.readStdin()).replace(/\r?\n$/, "") : "";
  // What is piped in beside a message is what that is about, as a file would be.
  const isMessage = message === undefined || message === "-";
  const texts: AskedPart[] = [
    { type: "text" as const, text: isMessage ? piped : message },
    ...isMessage ? [] : [{
      type: "text" as const,
      text: piped,
      provenance: "file" as const,
      from: "standard input",
    }],
  ].filter(({ text }) => text.trim() !== "");
  if (texts.length === 0 && files.length === 0) {
    throw usage(
      message === undefined
        ? "No message: give it as TEXT or with -m, or pipe it in"
        : "The message is empty",
    );
  }
  const attached = await attachAll(files, sources);
  return [...texts, ...attached];
}

/** Reads them all. Throws `too_large` for more than a message may bring. */
export async function attachAll(
  files: readonly string[],
  { attach }: Pick<MessageSources, "attach">,
): Promise<AttachedFile[]> {
  if (files.length > MAX_FILES) {
    throw tooLarge(`${files.length} files cannot be attached: at most ${MAX_FILES} can`);
  }
  const attached: AttachedFile[] = [];
  let bytes = 0;
  for (const path of files) {
    const file = await attach(path);
    attached.push(file);
    bytes += file.data.length / 4 * 3 - (file.data.match(/=*$/)![0].length);
    if (bytes > MAX_FILES_BYTES) {
      const mebibytes = MAX_FILES_BYTES / (1024 * 1024);
      throw tooLarge(`The files cannot be attached: together they are over ${mebibytes} MiB`);
    }
  }
  return attached;
}

function tooLarge(message: string): ServiceError {
  return new ServiceError("too_large", message, { param: "file" });
}

function usage(message: string): ServiceError {
  return new ServiceError("usage", message, { param: "message" });
}
