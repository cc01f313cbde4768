/**
 * Clicks on the buttons of an approval
 * (https://docs.slack.dev/reference/interaction-payloads/block_actions-payload).
 *
 * @module
 */

import { textOf } from "../api/slack_api.ts";
import { CONVERSATION, readChatId, TS } from "./chat_id.ts";
import { senderIdOf, type SlackSelf } from "./slack_self.ts";

/** What a button carries: enough to answer after a restart. */
export interface ApprovalButton {
  id: string;
  /** The first 8 hex digits of the digest. */
  digest: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  chatId: string;
}

/** A click, as it waits on the disk. Plain JSON. */
export interface SlackClick {
  kind: "click";
  isApproved: boolean;
  button: ApprovalButton;
  /** Where the button stands, for a word to who clicked. */
  channel: string;
  threadTs?: string;
  userId: string;
  userName: string;
  senderId: string;
  /** The platform's id of the click. */
  actionTs: string;
}

/** Names of the buttons. */
export const APPROVE_ACTION = "approval_approve";
export const DENY_ACTION = "approval_deny";

/** What stands in a button's `value`; Slack gives it back as it is. */
export function writeButton({ id, digest, expiresAt, chatId }: ApprovalButton): string {
  return [id, digest, expiresAt, chatId].join(" ");
}

function readButton(value: string): ApprovalButton | undefined {
  const [id = "", digest = "", expiresAt = "", chatId = "", ...rest] = value.split(" ");
  if (!/^[\w-]{1,100}$/.test(id) || !/^[0-9a-f]{8}$/.test(digest) || rest.length > 0) return;
  if (!/^\d{1,15}$/.test(expiresAt) || readChatId(chatId) === undefined) return undefined;
  return { id, digest, expiresAt: Number(expiresAt), chatId };
}

/** The click of a payload; undefined where it is of something else. */
export function readClick(payload: unknown, self: SlackSelf): SlackClick | undefined {
  if (textOf(payload, "type") !== "block_actions") return undefined;
  const { actions } = payload as { actions?: unknown };
  const action: unknown = Array.isArray(actions) ? actions[0] : undefined;
  const name = textOf(action, "action_id");
  if (name !== APPROVE_ACTION && name !== DENY_ACTION) return undefined;
  const button = readButton(textOf(action, "value"));
  const userId = textOf(payload, "user", "id");
  const channel = textOf(payload, "container", "channel_id") || textOf(payload, "channel", "id");
  const actionTs = textOf(action, "action_ts");
  if (button === undefined || !CONVERSATION.test(channel) || !TS.test(actionTs)) return undefined;
  if (!/^[UW][A-Z0-9]{1,30}$/.test(userId)) return undefined;
  const threadTs = textOf(payload, "container", "thread_ts") ||
    textOf(payload, "message", "thread_ts");
  return {
    kind: "click",
    isApproved: name === APPROVE_ACTION,
    button,
    channel,
    ...TS.test(threadTs) && { threadTs },
    userId,
    userName: textOf(payload, "user", "name") || textOf(payload, "user", "username"),
    senderId: senderIdOf(userId, textOf(payload, "user", "team_id"), self),
    actionTs,
  };
}
