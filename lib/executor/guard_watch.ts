/**
 * Looks, while a command runs, whether something that is held back from it was replaced.
 *
 * A mount stands on a file, not on its name: when a person's editor or git puts a new file in the place
 * of a guarded one, the kernel takes the mount away, and the command has the new file as it is. Nothing
 * can keep a person from that, so the command is ended and what it printed is kept from the turn.
 *
 * @module
 */

import type { Guard } from "./workspace_guards.ts";

/** How the guards of one command are watched. */
export interface GuardWatch extends Disposable {
  /** Aborted as soon as a look finds something replaced. */
  readonly signal: AbortSignal;
  /** A last look: the path of what was replaced, or undefined when everything is as it was. */
  finish(): Promise<string | undefined>;
}

/** Milliseconds between two looks. */
const LOOK_EVERY_MS = 250;

/** Watches from now on, until it is disposed. To be called before anything is mounted. */
export async function watchGuards(
  guards: readonly Guard[],
  { everyMs = LOOK_EVERY_MS }: { everyMs?: number } = {},
): Promise<GuardWatch> {
  const before = new Map<string, string | undefined>();
  await Promise.all(guards.map(async ({ path }) => before.set(path, await identity(path))));
  const found = new AbortController();
  let replaced: string | undefined;

  async function look(): Promise<void> {
    await Promise.all([...before].map(async ([path, was]) => {
      const now = await identity(path);
      // What was taken away alone left nothing to read, and stays on the list for what may follow.
      if (now === undefined || now === was) return;
      replaced ??= path;
      found.abort();
    }));
  }

  let looking: Promise<void> | undefined;
  const timer = guards.length === 0 ? undefined : setInterval(() => {
    looking ??= look().finally(() => looking = undefined);
  }, everyMs);
  return {
    signal: found.signal,
    async finish() {
      clearInterval(timer);
      await looking;
      await look();
      return replaced;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Numbers of files are given out again at once, so the time at which it was made counts too. */
async function identity(path: string): Promise<string | undefined> {
  try {
    const { dev, ino, birthtime } = await Deno.lstat(path);
    return `${dev}:${ino}:${birthtime?.getTime()}`;
  } catch {
    return undefined;
  }
}
