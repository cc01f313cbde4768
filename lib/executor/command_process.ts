/**
 * One command from spawn to end: its output is kept within bounds and passed on while it comes, and
 * nothing of its tree is left afterwards.
 *
 * @module
 */

import { KeptOutput, type OutputScrubber } from "./kept_output.ts";
import { killTree, readTail, spawnTree, withinMoments } from "../base/process_tree.ts";
import { ProgressFeed } from "./progress_feed.ts";

/** How one command is run. */
export interface CommandProcessOptions {
  argv: readonly string[];
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** The command runs in a sandbox, which tells of its end by a code alone. */
  confined: boolean;
  /** What its output begins with once the command itself is about to start; not part of the output. */
  marker: string;
  timeoutMs: number;
  /** Bytes of output that are kept. */
  maxOutputBytes: number;
  /** Takes secrets out of what is kept, before it is cut. */
  scrubber?: OutputScrubber;
  /** Cancels this command. */
  signal: AbortSignal;
  /** Ends every command. */
  closing: AbortSignal;
  onProgress: (text: string) => void;
}

/** How a command ended, and what it printed until then. */
export type CommandEnd =
  | { type: "exited"; code: number; signal: string | null; output: string }
  | { type: "timeout"; timeoutMs: number; output: string }
  /** It printed more than any reader could want. */
  | { type: "flooded"; bytes: number; output: string }
  /** It was not the command that ended. */
  | { type: "fault"; message: string };

/** Bytes that a command may print before it is ended: reading costs the authority time. */
const MAX_PRINTED_BYTES = 64 * 1024 * 1024;
const MAX_STDERR_BYTES = 4_096;

/**
 * Runs a command. Rejects with the reason of `signal` after an abort, once its tree is gone, and when it
 * cannot be started.
 */
export async function runCommandProcess(options: CommandProcessOptions): Promise<CommandEnd> {
  const { timeoutMs, signal, closing } = options;
  const child = spawnTree(options.argv, {
    clearEnv: true,
    env: { ...options.env },
    cwd: options.cwd,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });

  let ending: "timeout" | "flooded" | "cancelled" | "closing" | undefined;
  let exited = false;
  const end = (how: NonNullable<typeof ending>) => {
    ending ??= how;
    // A number that was given back may belong to somebody else by now.
    if (!exited) killTree(child);
  };
  const onAbort = () => end("cancelled");
  const onClosing = () => end("closing");
  signal.addEventListener("abort", onAbort, { once: true });
  closing.addEventListener("abort", onClosing, { once: true });
  // Nobody is told of an abort that came before.
  if (signal.aborted) onAbort();
  if (closing.aborted) onClosing();
  const timer = setTimeout(() => end("timeout"), timeoutMs);

  const stderr = readTail(child.stderr, MAX_STDERR_BYTES);
  const output = readOutput(child.stdout, options, () => end("flooded"));
  const status = await child.status;
  exited = true;
  // Whatever is left of its group; in the sandbox everything ends with it.
  killTree(child);
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
  closing.removeEventListener("abort", onClosing);
  await withinMoments(Promise.all([output.ended, stderr]));
  output.stop();

  const { started, text, bytes } = output.result();
  switch (ending) {
    case "cancelled":
      throw signal.reason;
    case "closing":
      return { type: "fault", message: "the service is stopping" };
    case "timeout":
      return { type: "timeout", timeoutMs, output: text };
    case "flooded":
      return { type: "flooded", bytes, output: text };
  }
  const said = await Promise.race([stderr, Promise.resolve("")]);
  if (!started) {
    const reason = said.split("\n").at(-1) || `it ended with code ${status.code}`;
    return { type: "fault", message: `it cannot be started: ${reason}` };
  }
  // The command's own signal is told by a code; what ended the sandbox itself came from elsewhere.
  if (options.confined && status.signal !== null) {
    return { type: "fault", message: `its process was ended by ${status.signal}` };
  }
  const killedBy = status.signal ?? signalOf(status.code);
  return { type: "exited", code: status.code, signal: killedBy, output: text };
}

function readOutput(
  stdout: ReadableStream<Uint8Array>,
  { marker, maxOutputBytes, scrubber, onProgress }: CommandProcessOptions,
  onFlood: () => void,
) {
  const kept = new KeptOutput(maxOutputBytes, scrubber);
  const progress = new ProgressFeed(onProgress);
  const reader = stdout.getReader();
  const expected = new TextEncoder().encode(marker);
  let matched = 0;
  let isOther = false;
  let stopped = false;

  /** What follows the marker. Anything else in its place is said by the sandbox, not by the command. */
  function afterMarker(chunk: Uint8Array): Uint8Array {
    let at = 0;
    while (matched < expected.length && at < chunk.length) {
      if (chunk[at++] === expected[matched]) matched++;
      else {
        isOther = true;
        throw new Error("it did not begin as it should");
      }
    }
    return chunk.subarray(at);
  }

  async function read(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || stopped) return;
        const chunk = afterMarker(value);
        kept.push(chunk);
        progress.push(chunk);
        if (kept.totalBytes > MAX_PRINTED_BYTES) {
          onFlood();
          return;
        }
      }
    } catch {
      // A pipe that breaks has ended; the process's own end tells the rest.
    }
  }

  return {
    ended: read(),
    /** Nothing is read or told from now on. */
    stop() {
      stopped = true;
      progress.end();
      reader.cancel().catch(() => {});
    },
    result: () => ({
      started: !isOther && matched === expected.length,
      text: kept.text(),
      bytes: kept.totalBytes,
    }),
  };
}

const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
  24: "SIGXCPU",
  25: "SIGXFSZ",
  31: "SIGSYS",
};

/** The signal that a code over 128 stands for, as shells and sandboxes tell of one. */
function signalOf(code: number): string | null {
  return code > 128 ? SIGNALS[code - 128] ?? null : null;
}
