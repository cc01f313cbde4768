import type { StoredMessage } from "../../contract/journal.ts";
import type { HistoryPage, Journal } from "../../contract/journal.ts";

/** Messages of one read. One may hold the text of twenty documents. */
const READ_MESSAGES = 16;

/** Characters after which a page ends early, whatever was asked for. */
const MAX_PAGE_CHARS = 4 * 1024 * 1024;

/**
 * The newest messages of a session before a place, at most `limit`, and fewer where they are long: the
 * page says with `before` where it begins.
 */
export function readMessages(
  journal: Pick<Journal, "historyPage">,
  sessionId: number,
  { limit, before }: { limit: number; before?: number },
): HistoryPage {
  let found: HistoryPage = { messages: [], userIndex: 0, before };
  let chars = 0;
  do {
    const page = journal.historyPage(sessionId, {
      limit: Math.min(READ_MESSAGES, limit - found.messages.length),
      before: found.before,
    });
    chars += charsOf(page.messages);
    found = { ...page, messages: [...page.messages, ...found.messages] };
  } while (
    found.before !== undefined && found.messages.length < limit && chars < MAX_PAGE_CHARS
  );
  return found;
}

function charsOf(messages: readonly StoredMessage[]): number {
  return messages.reduce((sum, { message }) => sum + JSON.stringify(message).length, 0);
}
