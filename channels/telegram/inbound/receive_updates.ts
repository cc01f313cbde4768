/**
 * Updates on their way to the disk: what is heard waits there in the lane of its chat.
 *
 * @module
 */

import type { Update } from "grammy/types";
import type { Intake, IntakeEntry } from "../../../lib/channel/platform/intake.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { Chats } from "../outbound/chats.ts";
import type { ClickAnswers } from "../outbound/click_answers.ts";
import type { Heard } from "./heard.ts";
import { type ReadOptions, readUpdate } from "./read_update.ts";
import { Strangers } from "./strangers.ts";

/** What receiving works with. */
export interface ReceiveDeps {
  intake: Intake<Heard>;
  options: ReadOptions;
  chats: Chats;
  clicks: ClickAnswers;
  log: Pick<Log, "info" | "warning">;
}

/** Takes updates; resolves when they and the cursors are on the disk. */
export type ReceiveUpdates = (
  updates: readonly Update[],
  cursors?: Readonly<Record<string, string>>,
) => Promise<void>;

export function receiveUpdates(deps: ReceiveDeps): ReceiveUpdates {
  const strangers = new Strangers(deps.log);
  return (updates, cursors) =>
    deps.intake.add(updates.flatMap((update) => read(update, deps, strangers)), cursors);
}

function read(
  update: Update,
  { options, chats, clicks, log }: ReceiveDeps,
  strangers: Strangers,
): IntakeEntry<Heard>[] {
  let meaning: ReturnType<typeof readUpdate>;
  try {
    meaning = readUpdate(update, options);
  } catch (error) {
    // Of a kind that nobody knows: the rest is heard all the same.
    const reason = (error as Error).message;
    log.warning("An update cannot be read", { update: update?.update_id, reason });
    return [];
  }
  switch (meaning?.kind) {
    case undefined:
      return [];
    case "denied":
      strangers.met(meaning.senderId, meaning.senderName);
      if (meaning.queryId !== undefined) clicks.say(meaning.queryId, "notAllowed");
      return [];
    case "moved":
      chats.moved(meaning.from, meaning.to);
      return [];
    case "click": {
      const { chatId, queryId: id } = meaning.click;
      // Not behind messages that wait for the service: some of them wait for this click.
      return [{ lane: `${chatId} clicks`, id, data: meaning }];
    }
    case "message": {
      const { chatId, messageId } = meaning.message;
      return [{ lane: chatId, id: String(messageId), data: meaning }];
    }
  }
}
