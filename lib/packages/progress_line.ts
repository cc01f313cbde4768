/**
 * How far a fetch of packages is, for whoever waits for it: on a terminal one line that is rewritten and
 * goes away at the end, elsewhere one line at the start and one at the end.
 *
 * @module
 */

import type { FetchProgress } from "./fetch_packages.ts";

/** Where it goes; standard error, so that the output of a command stays clean. */
export interface ProgressOutput {
  writeSync(bytes: Uint8Array): number;
  isTerminal(): boolean;
}

/** Nothing is written before the first `show`. */
export interface ProgressLine {
  show(progress: FetchProgress): void;
  end(): void;
}

/** Back to the begin of the line, and empties it. */
const CLEAR = "\r\x1b[2K";

export function progressLine(out: ProgressOutput): ProgressLine {
  const encoder = new TextEncoder();
  const write = (text: string) => void out.writeSync(encoder.encode(text));
  const rewrites = out.isTerminal();
  let last: FetchProgress | undefined;
  return {
    show(progress) {
      if (rewrites) write(`${CLEAR}Fetching packages: ${counts(progress)}`);
      else if (last === undefined) write(`Fetching ${packages(progress.total)}\n`);
      last = progress;
    },
    end() {
      if (last === undefined) return;
      write(rewrites ? CLEAR : `Fetched packages: ${counts(last)}\n`);
      last = undefined;
    },
  };
}

function counts({ fetched, total, bytes }: FetchProgress): string {
  return `${fetched} of ${total}, ${Math.round(bytes / 2 ** 20)} MiB`;
}

function packages(count: number): string {
  return count === 1 ? "1 package" : `${count} packages`;
}
