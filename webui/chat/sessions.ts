/**
 * Conversations as the service lists them: where each is shown, and what is saved of them.
 *
 * @module
 */

import { type Answer, request } from "../api/client.ts";
import { saveFile } from "../ui/save_file.ts";

/** A conversation of a list. */
export type Session = Answer<"sessions.list">["sessions"][number];

/** Where a session is shown: a chat of this port by its id, any other one by its key. */
export function placeOf({ chat_id, key }: Pick<Session, "chat_id" | "key">): string {
  return chat_id ?? `@${key}`;
}

/** Saves everything on record of sessions, one after another, as JSON lines. */
export async function exportSessions(
  sessions: readonly Pick<Session, "key">[],
  name: string,
): Promise<void> {
  const parts: Blob[] = [];
  for (const { key } of sessions) {
    parts.push(await (await request("sessions.export", { key })).blob());
  }
  const fileName = name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);
  saveFile(`${fileName}.jsonl`, new Blob(parts));
}
