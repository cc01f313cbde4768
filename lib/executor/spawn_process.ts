/**
 * One child process from its spawn to its end: nothing of its tree is left afterwards.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { killTree, readTail, spawnTree, withinMoments } from "../base/process_tree.ts";

/** How a process is started. */
export interface SpawnOptions {
  argv: readonly string[];
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** Default: `/`. */
  cwd?: string;
  /** Where its standard error goes: to ours, or its lines here. Default: the last of it tells why it ended. */
  stderrTo?: "inherit" | ((line: string) => void);
}

/** A process that was started. */
export interface SpawnedProcess {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  /** Resolves when it has exited. */
  readonly status: Promise<Deno.CommandStatus>;
  /** The last of its standard error. */
  readonly stderr: Promise<string>;
  /** Kills it with its tree; nothing once it has exited. */
  kill(): void;
}

/** How a process ended. */
export interface ProcessEnd {
  /** For people. */
  reason: string;
  /** The last of its standard error. */
  stderr: string;
}

/** The reason when it took more memory than it may have. */
export const OUT_OF_MEMORY = "its process ran out of memory";

const MAX_STDERR_BYTES = 4_096;
const KILLED = 128 + 9;

/** Starts it. Throws when it cannot be. */
export function spawnProcess(
  { argv, env, cwd = "/", stderrTo }: SpawnOptions,
): SpawnedProcess {
  const child = spawnTree(argv, {
    clearEnv: true,
    env: { ...env },
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: stderrTo === "inherit" ? "inherit" : "piped",
  });
  let exited = false;
  const status = child.status.then((status) => {
    exited = true;
    // Whatever is left of its group; in a sandbox everything ends with it.
    killTree(child);
    return status;
  });
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    status,
    stderr: stderrTo === undefined
      ? readTail(child.stderr, MAX_STDERR_BYTES)
      : stderrTo === "inherit"
      ? Promise.resolve("")
      : tellLines(child.stderr, stderrTo),
    kill() {
      // A number that was given back may belong to somebody else by now.
      if (!exited) killTree(child);
    },
  };
}

/** Tells each line; then there is no more to say of it. Never rejects. */
async function tellLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  tell: (line: string) => void,
): Promise<string> {
  const lines = stream.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  try {
    for await (const line of lines) tell(line);
  } catch {
    // What was read until then is what there is.
  }
  return "";
}

/**
 * Resolves when it has ended and, but for moments, `drained`. `tellExit` says of one that has exited by
 * itself what that means. Never rejects.
 */
export async function endOf(
  { status, stderr }: Pick<SpawnedProcess, "status" | "stderr">,
  tellExit: (code: number, stderr: string) => string = (code) =>
    `its process ended with code ${code}`,
  drained: Promise<unknown> = Promise.resolve(),
): Promise<ProcessEnd> {
  const { code, signal } = await status;
  await withinMoments(Promise.all([drained, stderr]));
  // Already there, but for a process that even a kill does not end.
  const said = await Promise.race([stderr, Promise.resolve("")]);
  // V8's words at the end of its heap, and those of Rust and C++ when the data limit is reached.
  if (/out of memory|memory allocation of \d+ bytes failed|bad_alloc/i.test(said)) {
    return { reason: OUT_OF_MEMORY, stderr: said };
  }
  // In a sandbox a signal arrives as the number that a shell gives it.
  const endedBy = signal ?? (code === KILLED ? "SIGKILL" : undefined);
  const reason = endedBy === undefined
    ? tellExit(code, said)
    : `its process was ended by ${endedBy}`;
  return { reason, stderr: said };
}

/** What an exit means for one that says last why it ends, such as an error that nothing caught. */
export function tellLastWords(code: number, stderr: string): string {
  // Not where an error comes from.
  const said = stderr.split("\n").findLast((line) => !/^\s+at /.test(line)) ?? "";
  return `its process ended with code ${code}${said === "" ? "" : `: ${said}`}`;
}
