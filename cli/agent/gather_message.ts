/**
 * Puts a message together from what was typed, piped in and attached.
 *
 * @module
 */

import type { UserPart } from "../../lib/agent/messages.ts";
import { ServiceError } from "../../lib/errors.ts";

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
  attach(path: string): Promise<UserPart>;
}

/**
 * The parts of the message, or undefined when nothing was given and a chat is wanted. Standard input
 * is read before any file. Throws `usage` when the message is blank, or what the sources throw.
 */
export async function gatherMessage(
  { message, files, useStdin }: MessageOptions,
  sources: MessageSources,
): Promise<UserPart[] | undefined> {
  if (message === "-" && !useStdin) {
    throw usage("-m - reads the message from standard input, which --no-stdin leaves out");
  }
  const wantsStdin = message === "-" || (useStdin && !sources.stdinIsTerminal);
  if (message === undefined && files.length === 0 && !wantsStdin) {
    if (sources.stdinIsTerminal) return undefined;
    throw usage("There is no message: give one with -m TEXT");
  }
  const piped = wantsStdin ? await sources.readStdin() : "";
  const text = joinMessage(message === "-" ? "" : message ?? "", piped);
  if (text === "" && files.length === 0) {
    throw usage(
      message === undefined
        ? "There is no message: give one with -m TEXT, or pipe one in"
        : "The message is empty",
    );
  }
  const parts: UserPart[] = text === "" ? [] : [{ type: "text", text }];
  for (const file of files) parts.push(await sources.attach(file));
  return parts;
}

/** The typed text, a blank line, then the piped text; a blank one of them is left out. */
export function joinMessage(typed: string, piped: string): string {
  // The line end that every tool prints last is none of the message.
  const texts = [typed, piped.replace(/\r?\n$/, "")];
  return texts.filter((text) => text.trim() !== "").join("\n\n");
}

function usage(message: string): ServiceError {
  return new ServiceError("usage", message, { param: "message" });
}
