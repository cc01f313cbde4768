/**
 * Reads a mailbox for as long as it is told to: every mail that is new since the last start once, each
 * after the other, over as many connections as it takes.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { Log } from "../../../lib/base/log.ts";
import { type ImapSession, isLoginRefused, type MailHead } from "./imap_session.ts";
import type { CursorStore, MailboxCursor } from "./mailbox_cursor.ts";

/** What a mailbox is read with. */
export interface WatchDeps {
  /** Names the mailbox: server, name and folder. */
  mailbox: string;
  open: (signal: AbortSignal) => Promise<ImapSession>;
  cursor: CursorStore;
  /**
   * Takes a mail. Resolves when it is done with, whatever came of it; rejects when it has to be given
   * again.
   */
  take: (mail: TakenMail, session: ImapSession) => Promise<void>;
  /** How it stands, for people. */
  say: (detail: string) => void;
  /** Mails that are older are left alone. */
  maxAgeMs: number;
  pollMs: number;
  clock: Clock;
  log: Pick<Log, "info" | "warning" | "error">;
}

/** A mail that is new. */
export interface TakenMail extends MailHead {
  uidValidity: string;
}

/** Attempts to read one mail that ends the process each time. */
const MAX_ATTEMPTS = 3;

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
/** A server that refused a password is asked seldom: many lock an account after a few times. */
const LOGIN_WAIT_MS = 5 * 60_000;
/** What is under way when it has to stop may take so long. */
const STOP_GRACE_MS = 2_000;
/** A connection that held so long was a good one. */
const GOOD_AFTER_MS = 5 * 60_000;

/** Resolves after the signal, when nothing is under way any more. Never rejects. */
export async function watchMailbox(deps: WatchDeps, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  let failures = 0;
  while (!signal.aborted) {
    const began = clock.elapsed();
    let error: unknown;
    try {
      await readOver(await deps.open(signal), deps, signal);
    } catch (thrown) {
      error = thrown;
    }
    if (signal.aborted) return;
    if (clock.elapsed() - began > GOOD_AFTER_MS) failures = 0;
    const refused = isLoginRefused(error);
    const waitMs = refused
      ? LOGIN_WAIT_MS
      : Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 10), MAX_WAIT_MS);
    failures += 1;
    const reason = refused ? "the server refuses the name or the password" : reasonOf(error);
    deps.say(`not connected: ${reason}`);
    log.warning("The mailbox cannot be read", { reason, nextAttemptS: waitMs / 1_000 });
    await wait(clock, waitMs, signal);
  }
}

/** Reads over one connection, and closes it. */
async function readOver(
  session: ImapSession,
  deps: WatchDeps,
  signal: AbortSignal,
): Promise<void> {
  let cancel = () => {};
  // A command that nobody answers would hold up the end.
  const stop = () => cancel = deps.clock.after(STOP_GRACE_MS, () => void session.close());
  signal.addEventListener("abort", stop, { once: true });
  try {
    await readOn(deps, session, signal);
  } finally {
    signal.removeEventListener("abort", stop);
    cancel();
    await session.close();
  }
}

async function readOn(deps: WatchDeps, session: ImapSession, signal: AbortSignal): Promise<void> {
  const cursor = await start(deps, session);
  deps.say("connected");
  while (!signal.aborted) {
    await readNew(deps, { session, cursor, signal });
    await session.news(deps.pollMs, signal);
  }
}

/** Where to begin in this mailbox. */
async function start(deps: WatchDeps, session: ImapSession): Promise<MailboxCursor> {
  const { mailbox, log } = deps;
  const { uidValidity, uidNext } = session;
  const kept = await deps.cursor.read();
  if (kept !== undefined && kept !== "damaged" && kept.mailbox === mailbox) {
    if (kept.uidValidity === uidValidity) return kept;
  }
  const fresh: MailboxCursor = { mailbox, uidValidity, lastUid: Math.max(0, uidNext - 1) };
  if (kept === undefined || (kept !== "damaged" && kept.mailbox !== mailbox)) {
    // What lay there before it was connected is nobody's message to it.
    await deps.cursor.write(fresh);
    return fresh;
  }
  log.warning("The mailbox was numbered anew: unread mails are looked through", {
    reason: kept === "damaged" ? "the place in it is lost" : "UIDVALIDITY has changed",
  });
  // Mails that were taken carry a flag, and of those that do not the service knows the ids.
  return { ...fresh, lastUid: 0, isLost: true };
}

async function readNew(
  deps: WatchDeps,
  { session, cursor, signal }: {
    session: ImapSession;
    cursor: MailboxCursor;
    signal: AbortSignal;
  },
): Promise<void> {
  const { clock, log } = deps;
  const from = cursor.lastUid + 1;
  const oldestMs = clock.now() - deps.maxAgeMs;
  // The server knows days alone, and counts them in a zone of its own.
  const uids = await session.uidsFrom(from, oldestMs - 24 * 60 * 60 * 1_000, {
    unseen: cursor.isLost === true,
  });
  for (const uid of uids) {
    if (signal.aborted) return;
    const times = cursor.trying?.uid === uid ? cursor.trying.times + 1 : 1;
    if (times > MAX_ATTEMPTS) {
      log.error("A mail is left alone: reading it has ended the channel each time", { uid });
    } else {
      cursor.trying = { uid, times };
      await deps.cursor.write(cursor);
      try {
        const head = await session.head(uid);
        if (head !== undefined && head.receivedAt >= oldestMs) {
          await deps.take({ ...head, uidValidity: session.uidValidity }, session);
        }
      } catch (error) {
        // It can be told what went wrong, so that it was not the mail that ended everything.
        cursor.trying = undefined;
        await deps.cursor.write(cursor);
        throw error;
      }
    }
    cursor.lastUid = uid;
    cursor.trying = undefined;
    await deps.cursor.write(cursor);
  }
  if (cursor.isLost || cursor.lastUid < session.uidNext - 1) {
    cursor.isLost = undefined;
    cursor.lastUid = Math.max(cursor.lastUid, session.uidNext - 1);
    await deps.cursor.write(cursor);
  }
}

function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, done);
    signal.addEventListener("abort", done, { once: true });
    function done() {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}

/** What a client's error says: its own words, or those of the server. */
export function reasonOf(error: unknown): string {
  const { message, responseText, code } = Object(error) as Record<string, unknown>;
  const words = [responseText, message, code].find((each) =>
    typeof each === "string" && each !== ""
  );
  return String(words ?? "it failed without words").slice(0, 300);
}
