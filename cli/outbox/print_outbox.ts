/**
 * How messages for channels are shown to people.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import type { OutboxRow } from "../../lib/contract/journal.ts";
import type { Output } from "../output.ts";
import { plural } from "../plural.ts";
import { printTable } from "../table.ts";
import { timeText } from "../time_text.ts";

/** Prints them as a table, the oldest first. */
export function printOutbox(out: Output, rows: readonly OutboxRow[]): void {
  printTable(
    out,
    ["MESSAGE", "STATE", "CHANNEL", "CHAT", "CREATED", "TRIES", "ERROR", "TEXT"],
    rows.map((row) => [
      String(row.rowid),
      row.isPiece === true ? `${row.state} (part)` : row.state,
      visibleLine(row.channel),
      visibleLine(row.chatId),
      timeText(out, row.createdAt),
      String(row.attempts),
      visibleLine(row.error ?? "-"),
      visibleLine(textOf(row)),
    ]),
  );
}

/** What became of one that somebody has decided about, in words. */
export function decisionOf({ rowid, state, channel, chatId }: OutboxRow): string {
  const where = `${visibleLine(channel)} ${visibleLine(chatId)}`;
  return state === "expired"
    ? `Dropped message ${rowid} for ${where}; its text stays in the outbox for a week`
    : `Message ${rowid} for ${where} is pending again, for 24 hours`;
}

function textOf({ content, media = [] }: OutboxRow): string {
  if (media.length === 0) return content;
  return `${content} (${plural(media.length, "file")})`;
}
