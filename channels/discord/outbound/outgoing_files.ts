/**
 * Files of an answer, in messages that Discord takes.
 *
 * @module
 */

import { basename } from "@std/path";
import type { RawFile } from "discord.js";

/** On servers without boosts, and in direct messages. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_MESSAGE_BYTES = 24 * 1024 * 1024;
const MAX_FILES = 10;

/** Files by messages, and the names of those that are too large. */
export interface OutgoingFiles {
  messages: RawFile[][];
  tooLarge: string[];
}

/** Reads them. Rejects where one cannot be read. */
export async function outgoingFiles(paths: readonly string[]): Promise<OutgoingFiles> {
  const outgoing: OutgoingFiles = { messages: [], tooLarge: [] };
  let bytes = 0;
  for (const path of paths) {
    const name = basename(path);
    const { size } = await Deno.stat(path);
    if (size > MAX_FILE_BYTES) {
      outgoing.tooLarge.push(name);
      continue;
    }
    const last = outgoing.messages.at(-1);
    const file = { name, data: await Deno.readFile(path) as unknown as RawFile["data"] };
    if (last === undefined || last.length === MAX_FILES || bytes + size > MAX_MESSAGE_BYTES) {
      outgoing.messages.push([file]);
      bytes = size;
    } else {
      last.push(file);
      bytes += size;
    }
  }
  return outgoing;
}
