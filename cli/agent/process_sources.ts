/**
 * What a message is gathered from in this process: its standard input and its files.
 *
 * @module
 */

import type { Output } from "../output.ts";
import { attachFile } from "./attach_file.ts";
import type { MessageSources } from "./gather_message.ts";
import { readPiped } from "./read_piped.ts";

/** The sources of this process. */
export function processSources(out: Output): MessageSources {
  return {
    stdinIsTerminal: Deno.stdin.isTerminal(),
    readStdin: () =>
      readPiped({
        stdin: Deno.stdin.readable,
        onWait: () => out.note("Waiting for standard input to end; --no-stdin leaves it out"),
      }),
    attach: (path) => attachFile(path),
  };
}
