/**
 * One child that lives on, from spawn to end: its pipes are whoever's it works for, and nothing of its
 * tree is left afterwards.
 *
 * @module
 */

import { killTree, readTail, withinMoments } from "../base/process_tree.ts";
import { describeEnd, MAX_STDERR_BYTES } from "./open_session.ts";

/** A running child, seen from the authority. */
export interface SpawnedChild {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  /** Resolves with why, for people, when nothing is left of it; never rejects. */
  readonly ended: Promise<string>;
  /** Kills it with its tree. */
  close(): void;
}

/** What is started, and until when. */
export interface SpawnOptions {
  argv: readonly string[];
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** Ends it whenever it aborts. */
  closing: AbortSignal;
}

/** Starts it. Throws when it cannot be. */
export function spawnChild({ argv: [path, ...args], env, closing }: SpawnOptions): SpawnedChild {
  const child = new Deno.Command(path!, {
    args,
    clearEnv: true,
    env: { ...env },
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    // A group of its own, so that it can be killed as a whole.
    detached: true,
  }).spawn();
  let exited = false;
  const close = () => {
    // A number that was given back may belong to somebody else by now.
    if (!exited) killTree(child);
  };
  closing.addEventListener("abort", close, { once: true });
  const stderr = readTail(child.stderr, MAX_STDERR_BYTES);

  async function end(): Promise<string> {
    const { code, signal } = await child.status;
    exited = true;
    closing.removeEventListener("abort", close);
    // Whatever is left of its group; in a sandbox everything ends with it.
    killTree(child);
    await withinMoments(stderr);
    // Already there, but for a process that even a kill does not end.
    return describeEnd(code, signal, await Promise.race([stderr, Promise.resolve("")]), false);
  }

  return { stdin: child.stdin, stdout: child.stdout, ended: end(), close };
}
