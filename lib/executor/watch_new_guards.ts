/**
 * Looks, while a program lives on in the sandbox, whether something came into the workspace that is to
 * be held back from it: a mount holds only what was there when the sandbox was made. A command has its
 * time limit; a program without one could wait for the key that somebody puts there tomorrow.
 *
 * @module
 */

import type { findGuards, Guard } from "./workspace_guards.ts";

/** How it is watched. */
export interface WatchNewOptions {
  /** What is held back already. */
  known: readonly Guard[];
  /** Looks through the workspace. */
  look(signal: AbortSignal): ReturnType<typeof findGuards>;
  /** Called once, with what is wrong, for people; the watch has ended then. */
  onFound(reason: string): void;
  /** Milliseconds between two looks, 20 times as long as one takes at least. Default 10,000. */
  everyMs?: number;
}

const EVERY_MS = 10_000;
/** A look takes at most a twentieth of the time. */
const LOOK_SHARE = 20;

/** Watches until it is disposed. */
export function watchNewGuards(
  { known, look, onFound, everyMs = EVERY_MS }: WatchNewOptions,
): Disposable {
  const held = new Set(known.map(({ path }) => path));
  const stopped = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function arm(afterMs: number): void {
    if (stopped.signal.aborted) return;
    timer = setTimeout(() => void lookOnce(), afterMs);
  }

  async function lookOnce(): Promise<void> {
    const startMs = performance.now();
    const reason = await find();
    if (stopped.signal.aborted) return;
    if (reason !== undefined) return onFound(reason);
    arm(Math.max(everyMs, (performance.now() - startMs) * LOOK_SHARE));
  }

  async function find(): Promise<string | undefined> {
    try {
      const searched = await look(stopped.signal);
      if ("problem" in searched) return searched.problem;
      const isNew = ({ path, how }: Guard) => how !== "pin" && !held.has(path);
      const found = searched.guards.find(isNew);
      return found && `"${found.path}", which is held back from commands, came into the workspace`;
    } catch (error) {
      return `the workspace cannot be looked through: ${(error as Error).message}`;
    }
  }

  arm(everyMs);
  return {
    [Symbol.dispose]() {
      stopped.abort();
      clearTimeout(timer);
    },
  };
}
