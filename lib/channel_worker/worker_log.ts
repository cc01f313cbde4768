/**
 * What a runtime and its packages write, on its way to the service's log: without secrets, cut, and no
 * faster than a log can be read.
 *
 * @module
 */

import type { Log } from "../base/log.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import { plainJson } from "../channel/plain_json.ts";
import { type ChannelLine, MAX_FIELDS_CHARS, MAX_LINE_CHARS } from "./protocol.ts";
import type { Rate } from "../base/rate.ts";

/** Characters of fields without secrets; what comes to more is left out. */
const MAX_SCRUBBED_FIELDS_CHARS = 6_000;

/** Characters in which secrets are looked for. */
const MAX_SCRUBBED_CHARS = 64 * 1024;

/** What a runtime may say. */
export type WorkerLog = Pick<Log, "info" | "warning" | "error">;

/** Makes the log of a worker; `tell` is given each line. */
export function createWorkerLog({ tell, rate, scrubber }: {
  tell: (line: ChannelLine) => void;
  rate: Rate;
  scrubber: Pick<Scrubber, "text" | "value">;
}): Log {
  let leftOut = 0;
  const line = (level: keyof Log) => (message: string, fields?: object) => {
    if (!rate.take()) return void leftOut++;
    const data = fields === undefined ? undefined : plainJson(fields, MAX_FIELDS_CHARS);
    // A placeholder may be longer than its secret.
    const scrubbed = data && plainJson(scrubber.value(data), MAX_SCRUBBED_FIELDS_CHARS);
    tell({
      level,
      // Scrubbed before the cut, which may go through a secret.
      message: scrubber.text(String(message).slice(0, MAX_SCRUBBED_CHARS)).slice(0, MAX_LINE_CHARS),
      data: {
        ...scrubbed as object | undefined,
        ...leftOut > 0 && { lines_left_out: leftOut },
      },
    });
    leftOut = 0;
  };
  return {
    debug: line("debug"),
    info: line("info"),
    warning: line("warning"),
    error: line("error"),
  };
}

/**
 * Lets what packages print go to the log: standard output belongs to whoever started the program. What is
 * no warning is for authors of packages, and would hide what a channel itself says.
 */
export function redirectConsole(console: Console, log: Log): void {
  const printed = (level: keyof Log) => (...values: unknown[]) =>
    log[level](
      values.map((value) =>
        typeof value === "string" ? value : Deno.inspect(value, { depth: 2, iterableLimit: 10 })
      ).join(" "),
    );
  console.log =
    console.info =
    console.dir =
    console.table =
      printed("debug");
  console.debug = console.trace = () => {};
  console.warn = printed("warning");
  console.error = printed("error");
}

/** The same for what is written to standard output, which carries frames; and no line of a package. */
export function redirectOutput(
  stdout: Pick<typeof Deno.stdout, "write" | "writeSync">,
  log: Pick<Log, "debug">,
): void {
  stdout.writeSync = (bytes) => {
    log.debug(new TextDecoder().decode(bytes).trimEnd());
    return bytes.length;
  };
  stdout.write = (bytes) => Promise.resolve(stdout.writeSync(bytes));
}
