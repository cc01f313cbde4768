import type { StoredEvent } from "../contract/events.ts";
import type { Journal, Session, StoredMessage, Turn } from "../contract/journal.ts";

/** A line of an export, in this order: the session, its turns, its messages, its events. */
export type ExportLine =
  | { kind: "session"; session: Session }
  | { kind: "turn"; turn: Turn }
  | { kind: "message"; message: StoredMessage }
  | { kind: "event"; event: StoredEvent };

/** Rows of one read: a row may hold the text of twenty documents, and twice so many are in memory. */
const PAGE_ROWS = 16;

/**
 * Everything on record of a session, a page at a time, so that a long one is never in memory at once.
 * What is written meanwhile may be in it or not; a session that is deleted meanwhile just ends.
 */
export async function* exportSession(
  journal: Pick<Journal, "turns" | "history" | "follow">,
  session: Session,
  signal: AbortSignal,
): AsyncGenerator<ExportLine> {
  yield { kind: "session", session };
  for (let after = 0;;) {
    const page = journal.turns(session.id, after, PAGE_ROWS);
    for (const turn of page) yield { kind: "turn", turn };
    if (page.length < PAGE_ROWS) break;
    after = page.at(-1)!.rowid;
  }
  for (let after = 0;;) {
    const page = journal.history(session.id, after, PAGE_ROWS);
    for (const message of page) yield { kind: "message", message };
    if (page.length < PAGE_ROWS) break;
    after = page.at(-1)!.id;
  }
  for await (const event of journal.follow(session.id, { afterSeq: 0, live: false, signal })) {
    yield { kind: "event", event };
  }
}
