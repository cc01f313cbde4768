/**
 * `service channels missed`: messages that came too late to be answered.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import type { MissedRow } from "../../lib/contract/journal.ts";
import { EXIT, type ExitCode, type Globals } from "../command.ts";
import { jsonLine, type Output } from "../output.ts";
import { plural } from "../plural.ts";
import { printTable } from "../table.ts";
import { timeText } from "../time_text.ts";
import type { ChannelsDeps } from "./deps.ts";

/** Messages that are shown at once. */
const LIMIT = 1_000;

/** Lists those of all channels, or of one runtime name. */
export async function listMissed(
  out: Output,
  deps: ChannelsDeps,
  channel: string | undefined,
  globals: Globals,
): Promise<ExitCode> {
  return await deps.withRunning(globals, async (client) => {
    const rows: MissedRow[] = [];
    for (let after = 0;;) {
      const page = await Array.fromAsync(
        client.stream("missed", { after, limit: LIMIT, ...channel !== undefined && { channel } }),
      );
      if (globals.json) { for (const row of page) await out.stream(jsonLine(row) + "\n"); }
      else rows.push(...page);
      if (page.length < LIMIT) break;
      after = page.at(-1)!.rowid;
    }
    if (globals.json) return EXIT.done;
    if (rows.length === 0) {
      out.note("No missed messages");
      return EXIT.done;
    }
    printTable(
      out,
      ["MESSAGE", "CHANNEL", "CHAT", "FROM", "WRITTEN", "CAME", "TEXT"],
      rows.map((row) => rowOf(row, out)),
    );
    out.note("These weren't answered. Answer one with: service channels missed --answer MESSAGE");
    return EXIT.done;
  });
}

/** Lists them no longer. */
export async function clearMissed(
  out: Output,
  deps: ChannelsDeps,
  channel: string | undefined,
  globals: Globals,
): Promise<ExitCode> {
  const answer = await deps.withRunning(
    globals,
    (client) => client.call("missed_clear", channel === undefined ? {} : { channel }),
  );
  if (globals.json) out.json(answer);
  else out.note(`Dropped ${plural(answer.cleared, "message")}`);
  return EXIT.done;
}

/** Has one answered in its chat. */
export async function answerMissed(
  out: Output,
  deps: ChannelsDeps,
  message: number,
  globals: Globals,
): Promise<ExitCode> {
  const answer = await deps.withRunning(
    globals,
    (client) => client.call("missed_answer", { message }),
  );
  if (globals.json) out.json(answer);
  else if (answer.kind === "turn") out.note(`Message ${message} is being answered in its chat`);
  else out.note(`Message ${message} was a command; its answer goes to its chat`);
  return EXIT.done;
}

function rowOf(row: MissedRow, out: Output): string[] {
  const { rowid, runtimeName, chatId, senderId, senderName, sentAt, receivedAt } = row;
  return [
    String(rowid),
    visibleLine(runtimeName),
    visibleLine(chatId),
    visibleLine(senderName === undefined ? senderId : `${senderName} (${senderId})`),
    timeText(out, sentAt),
    timeText(out, receivedAt),
    visibleLine(textOf(row)),
  ];
}

function textOf({ content, isCut, files }: MissedRow): string {
  const named = files.length === 0 ? "" : ` (files: ${files.join(", ")})`;
  return `${content}${isCut ? "…" : ""}${named}`;
}
