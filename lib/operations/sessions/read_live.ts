import type { z } from "zod";
import type { Journal, Session } from "../../contract/journal.ts";
import { attachmentsOf, type Files, textOf } from "./message_row.ts";
import type { liveChat } from "./session_schemas.ts";

/**
 * Where a reader of the messages that are on record goes on: at the end of the events, or at the begin of
 * the turn that runs, whose messages may be on record in part.
 */
export function readLive(
  { key, lastSeq }: Pick<Session, "key" | "lastSeq">,
  { journal, openTurns, files }: {
    journal: Pick<Journal, "turn" | "epoch">;
    files?: Files;
    openTurns: (sessionKey: string) => readonly string[];
  },
): z.input<typeof liveChat> {
  const open = openTurns(key).map((id) => journal.turn(id)).filter((turn) => turn !== undefined);
  const running = open.find(({ status }) => status === "running");
  return {
    epoch: journal.epoch(key),
    after_seq: running?.afterSeq ?? lastSeq,
    ...running !== undefined && { running: running.id },
    waiting: open.filter(({ status }) => status === "queued")
      .map(({ id, input }) => ({
        turn_id: id,
        text: textOf(input),
        attachments: attachmentsOf(input, files),
      })),
  };
}
