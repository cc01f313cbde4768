import { assertEquals, assertMatch } from "@std/assert";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import type { ImapSession } from "./imap_session.ts";
import { CursorStore, type MailboxCursor } from "./mailbox_cursor.ts";
import { watchMailbox } from "./watch_mailbox.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** A mailbox in memory, with what a server would say. */
class Mailbox {
  uidValidity = "1";
  readonly mails = new Map<number, { receivedAt: number; seen: boolean }>();
  /** Errors that the next connections fail with. */
  readonly failures: unknown[] = [];
  opened = 0;
  closed = 0;

  get uidNext(): number {
    return Math.max(0, ...this.mails.keys()) + 1;
  }

  open(): Promise<ImapSession> {
    this.opened += 1;
    const failure = this.failures.shift();
    if (failure !== undefined) return Promise.reject(failure);
    return Promise.resolve({
      uidValidity: this.uidValidity,
      uidNext: this.uidNext,
      uidsFrom: (from, _since, only) =>
        Promise.resolve(
          [...this.mails].filter(([uid, { seen }]) => uid >= from && !(only?.unseen && seen))
            .map(([uid]) => uid),
        ),
      head: (uid) =>
        Promise.resolve({
          uid,
          sizeBytes: 1,
          header: new Uint8Array(),
          receivedAt: this.mails.get(uid)!.receivedAt,
        }),
      source: () => Promise.resolve(undefined),
      markSeen: () => Promise.resolve(),
      news: (_ms, signal) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
      close: () => {
        this.closed += 1;
        return Promise.resolve();
      },
    });
  }
}

/** Reads a mailbox until `until` resolves. */
async function watch(
  mailbox: Mailbox,
  { stateDir, take }: { stateDir: string; take?: (uid: number) => Promise<void> },
): Promise<{ taken: number[]; lines: string[]; details: string[] }> {
  const clock = fakeClock();
  const taken: number[] = [];
  const lines: string[] = [];
  const details: string[] = [];
  const log = (message: string) => void lines.push(message);
  const ending = new AbortController();
  const cursor = new CursorStore(stateDir);
  const done = Promise.withResolvers<void>();
  const watching = watchMailbox({
    mailbox: "a@b/INBOX",
    open: async () => {
      const session = await mailbox.open();
      return {
        ...session,
        news(ms, signal) {
          done.resolve();
          return session.news(ms, signal);
        },
      };
    },
    cursor,
    take: async ({ uid }) => {
      await take?.(uid);
      taken.push(uid);
    },
    say: (detail) => void details.push(detail),
    maxAgeMs: 3 * DAY_MS,
    pollMs: 60_000,
    // Waits are over at once.
    clock: { ...clock, after: (_ms, run) => (queueMicrotask(run), () => {}) },
    log: { info: log, warning: log, error: log },
  }, ending.signal);
  await done.promise;
  ending.abort();
  await watching;
  assertEquals(mailbox.closed > 0, true);
  return { taken, lines, details };
}

const now = fakeClock().now();
const add = (mailbox: Mailbox, uid: number, { ageMs = 0, seen = false } = {}) =>
  mailbox.mails.set(uid, { receivedAt: now - ageMs, seen });

Deno.test("watchMailbox() begins with what comes after the first start, and goes on from there", async () => {
  const stateDir = await Deno.makeTempDir();
  const mailbox = new Mailbox();
  add(mailbox, 7);
  assertEquals((await watch(mailbox, { stateDir })).taken, []);
  add(mailbox, 8);
  add(mailbox, 11, { ageMs: 4 * DAY_MS });
  add(mailbox, 12, { seen: true });
  assertEquals((await watch(mailbox, { stateDir })).taken, [8, 12]);
  assertEquals((await watch(mailbox, { stateDir })).taken, []);
  await Deno.remove(stateDir, { recursive: true });
});

Deno.test("watchMailbox() looks through unread mails when the numbers begin anew, once", async () => {
  const stateDir = await Deno.makeTempDir();
  const mailbox = new Mailbox();
  add(mailbox, 50);
  await watch(mailbox, { stateDir });
  mailbox.uidValidity = "2";
  mailbox.mails.clear();
  add(mailbox, 1, { seen: true });
  add(mailbox, 2);
  add(mailbox, 3, { ageMs: 10 * DAY_MS });
  const first = await watch(mailbox, { stateDir });
  assertEquals(first.taken, [2]);
  assertMatch(first.lines.join(), /numbered anew/);
  assertEquals((await watch(mailbox, { stateDir })).taken, []);
  await Deno.writeTextFile(`${stateDir}/cursor.json`, '{"mailbox": 1');
  assertEquals((await watch(mailbox, { stateDir })).taken, [2]);
  await Deno.remove(stateDir, { recursive: true });
});

Deno.test("watchMailbox() gives a mail again that was not taken, and connects again after errors", async () => {
  const stateDir = await Deno.makeTempDir();
  const mailbox = new Mailbox();
  await watch(mailbox, { stateDir });
  add(mailbox, 1);
  add(mailbox, 2);
  mailbox.failures.push(
    new Error("gone"),
    Object.assign(new Error("no"), { authenticationFailed: true }),
  );
  let refusals = 10;
  const { taken, details } = await watch(mailbox, {
    stateDir,
    take: (uid) =>
      uid === 2 && refusals-- > 0 ? Promise.reject(new Error("full")) : Promise.resolve(),
  });
  assertEquals(taken, [1, 2]);
  assertEquals(details.slice(0, 3), [
    "not connected: gone",
    "not connected: the server refuses the name or the password",
    "connected",
  ]);
  await Deno.remove(stateDir, { recursive: true });
});

Deno.test("watchMailbox() leaves a mail alone that has ended the process three times", async () => {
  const stateDir = await Deno.makeTempDir();
  const mailbox = new Mailbox();
  await watch(mailbox, { stateDir });
  add(mailbox, 1);
  add(mailbox, 2);
  const cursor: MailboxCursor = {
    mailbox: "a@b/INBOX",
    uidValidity: "1",
    lastUid: 0,
    trying: { uid: 1, times: 3 },
  };
  await new CursorStore(stateDir).write(cursor);
  const { taken, lines } = await watch(mailbox, { stateDir });
  assertEquals(taken, [2]);
  assertMatch(lines.join(), /has ended the channel each time/);
  await Deno.remove(stateDir, { recursive: true });
});
