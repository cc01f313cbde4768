/**
 * What the service says to a click goes to who clicked alone: how an approval came out stands in its
 * message, for everybody.
 *
 * @module
 */

import type { OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import { SlackRefusal } from "../api/slack_fault.ts";
import type { SlackPlace } from "../events/chat_id.ts";
import type { SlackClick } from "../events/read_click.ts";
import { toMrkdwn } from "../text/to_mrkdwn.ts";

/** Characters of such a word; what is longer is a message like any other. */
const MAX_CHARS = 2_000;

/** What a click is published with, so that its reply finds back to it. */
export function clickMetadata(
  { channel, threadTs, userId }: SlackClick,
): Readonly<Record<string, string>> {
  return { clickedBy: userId, channel, ...threadTs !== undefined && { threadTs } };
}

/** Whether it was a reply to a click and was said; rejects as `say` does, but for what Slack refuses. */
export async function replyToClick(
  { content, media = [], metadata: { clickedBy, channel, threadTs } }: OutboundMessage,
  say: (place: SlackPlace, userId: string, text: string) => Promise<void>,
): Promise<boolean> {
  if (typeof clickedBy !== "string" || typeof channel !== "string") return false;
  if (content.trim() === "" || content.length > MAX_CHARS || media.length > 0) return false;
  const place = { channel, ...typeof threadTs === "string" && { threadTs } };
  try {
    await say(place, clickedBy, toMrkdwn(content));
    return true;
  } catch (error) {
    if (error instanceof SlackRefusal) return false;
    throw error;
  }
}
