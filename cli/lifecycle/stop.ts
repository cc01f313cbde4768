/**
 * `service stop`: asks the service of a home to stop, and waits until it has.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Output } from "../output.ts";
import { findOwner, hasOpen, isOwned, type Owner, within } from "./owner.ts";
import { readRecord } from "./record.ts";
import { operateWith } from "../operator/operate_with.ts";
import { plural } from "../plural.ts";

/** How long it is waited for a service that starts, before it is asked to stop. */
const START_MS = 60_000;

/** What a service may take beside its turns. */
const FINISH_S = 20;

/** After {@linkcode StopAsked.force}, before the process is killed. */
const KILL_AFTER_MS = 5_000;

const POLL_MS = 100;

/** How to stop. */
export interface StopAsked {
  /** How long to wait for its end; by default as long as it gives its turns, and a little more. */
  timeoutS?: number;
  /** Interrupt what runs. */
  force: boolean;
}

/** What became of it. */
export type Stopped =
  | { wasRunning: false }
  /** `interrupted`: undefined where it did not come to say so. */
  | { wasRunning: true; pid: number; interrupted?: number };

/**
 * Stops it. Of several at once one asks, and the others wait with it: a second signal would interrupt
 * running turns. Throws `home_busy` for a home that a command has, and `request_timeout`.
 */
export async function stopService(
  paths: HomePaths,
  { timeoutS, force }: StopAsked,
  out: Output,
): Promise<Stopped> {
  const owner = await whenStarted(paths);
  if (owner.state === "none") return { wasRunning: false };
  try {
    if (owner.state === "command") throw ofCommand(owner.pid);
    const { pid, record } = owner;
    const isKnown = pid !== undefined && await hasOpen(pid, paths.lockFile);
    // It may have ended just now.
    if (pid === undefined || (!isKnown && await isOwned(paths))) throw unidentified(paths);
    using turn = await takeTurn(paths);
    const isAsked = owner.state === "stopping" || !turn.isOurs;
    out.note(
      isAsked && !force
        ? `The service (pid ${pid}) is stopping already. Waiting for it`
        : `Stopping the service (pid ${pid})`,
    );
    if (!isAsked) signal(pid, "SIGTERM");
    const limitS = timeoutS ?? (record?.drainTimeoutS ?? 0) + FINISH_S;
    if (force) await endNow(paths, pid, isAsked);
    else await untilGone(paths, owner, limitS, out);
    return { wasRunning: true, pid, interrupted: await interruptedBy(paths, pid) };
  } finally {
    if (owner.state === "running" || owner.state === "command") owner.client.close();
  }
}

/** The owner, once it is known what it is. */
async function whenStarted(paths: HomePaths): Promise<Owner> {
  const giveUpAt = Date.now() + START_MS;
  while (true) {
    const owner = await findOwner(paths);
    if (owner.state !== "starting" || Date.now() > giveUpAt) return owner;
    await pause();
  }
}

async function untilGone(
  paths: HomePaths,
  owner: Owner,
  limitS: number,
  out: Output,
): Promise<void> {
  const giveUpAt = Date.now() + limitS * 1_000;
  let said = 0;
  while (await isOwned(paths)) {
    const running = await runningTurns(owner);
    if (running !== undefined && running !== said) {
      said = running;
      if (running > 0) {
        out.note(`Waiting for ${plural(running, "turn")} to finish`);
      }
    }
    if (Date.now() > giveUpAt) {
      throw new ServiceError(
        "request_timeout",
        `The service is still stopping after ${limitS} s. ` +
          "To interrupt what it does: service stop --force",
      );
    }
    await pause();
  }
}

async function runningTurns(owner: Owner): Promise<number | undefined> {
  if (owner.state !== "running") return undefined;
  const asked = operateWith(owner.client)({ op: "service.status" }).catch(() => undefined);
  return (await within(1_000, asked))?.turns.running;
}

/** A second signal ends it at once; the kernel does where it does not. */
async function endNow(paths: HomePaths, pid: number, isAsked: boolean): Promise<void> {
  const startedAt = Date.now();
  let isTold = false;
  // Whoever watches over it may start another one at once.
  while (await isOwned(paths) && await hasOpen(pid, paths.lockFile)) {
    const elapsed = Date.now() - startedAt;
    if (!isTold && (isAsked || elapsed > 500)) {
      signal(pid, "SIGTERM");
      isTold = true;
    }
    if (elapsed > KILL_AFTER_MS) signal(pid, "SIGKILL");
    await pause();
  }
}

/** What the service wrote down when it ended: a moment after it has given the home back. */
async function interruptedBy(paths: HomePaths, pid: number): Promise<number | undefined> {
  const giveUpAt = Date.now() + 1_000;
  while (true) {
    const record = await readRecord(paths);
    if (record?.pid !== pid || record.stoppedAt !== undefined) return record?.interrupted;
    if (Date.now() > giveUpAt) return undefined;
    await pause();
  }
}

function signal(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    Deno.kill(pid, name);
  } catch (cause) {
    // It has ended meanwhile.
    if (cause instanceof Deno.errors.NotFound || /ESRCH/.test(String(cause))) return;
    throw new ServiceError(
      "home_busy",
      `Can't stop the process ${pid}: ${(cause as Error).message}. It belongs to another user`,
      {},
      { cause },
    );
  }
}

/** Whose turn it is to send the signal. */
async function takeTurn({ runDir }: HomePaths): Promise<{ isOurs: boolean } & Disposable> {
  const file = await Deno.open(`${runDir}/stop.lock`, { write: true, create: true, mode: 0o600 });
  const isOurs = await file.tryLock(true);
  return { isOurs, [Symbol.dispose]: () => file.close() };
}

function ofCommand(pid: number): ServiceError {
  return new ServiceError(
    "home_busy",
    `No service runs. The process ${pid} is a command that uses this home and ends by itself. ` +
      `To end it now: kill ${pid}`,
  );
}

function unidentified({ home }: HomePaths): ServiceError {
  return new ServiceError(
    "home_busy",
    `Another process uses ${home}, but which one can't be told. It may run in another container`,
  );
}

async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
