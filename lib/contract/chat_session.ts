/**
 * Which session a chat is: `websocket:<chat_id>`, or `websocket:<owner>.<chat_id>` within the workspace
 * of a person whom a proxy vouches for. No chat_id holds a dot, so nobody can name a chat of another
 * workspace, and every key reads back as one chat alone.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { CHAT_ID } from "./wire/frames.ts";
import type { ChatPlace } from "./chats.ts";

/** The channel whose chats are sessions as they stand. */
export const CHAT_CHANNEL = "websocket";

const WORKSPACE_KEY = /^[0-9a-f]{64}$/;
const OWNER = /^[0-9a-f]{32}$/;

/** A chat as its key has it: of a workspace key, 32 digits alone. */
export interface ChatOfSession {
  chatId: string;
  /** 32 hex digits; absent: the default workspace. */
  owner?: string;
}

/** Whose a chat is, as keys and `Journal.sessions` have it; undefined: the default workspace. */
export function chatOwner(workspaceKey: string | undefined): string | undefined {
  if (workspaceKey === undefined) return undefined;
  if (!WORKSPACE_KEY.test(workspaceKey)) {
    // A key of another form is a fault of whoever made it; nothing of a person is repeated here.
    throw new ServiceError(
      "invalid_request",
      `Cannot use a workspace key of ${workspaceKey.length} characters: expected 64 hex digits`,
      { param: "workspaceKey" },
    );
  }
  return workspaceKey.slice(0, 32);
}

/** The session's key of a chat. Throws `invalid_request` for a chat id or workspace key that is none. */
export function chatSessionKey({ chatId, workspaceKey }: ChatPlace): string {
  if (!CHAT_ID.test(chatId)) {
    throw new ServiceError(
      "invalid_request",
      `Cannot use chat_id ${JSON.stringify(chatId.slice(0, 80))}: ` +
        "expected 1 to 64 of A-Z a-z 0-9 _ : -",
      { param: "chat_id" },
    );
  }
  return sessionKeyOf({ chatId, owner: chatOwner(workspaceKey) });
}

/** The session's key of a chat as {@linkcode chatOfSession} gave it. */
export function sessionKeyOf({ chatId, owner }: ChatOfSession): string {
  return `${CHAT_CHANNEL}:${owner === undefined ? "" : `${owner}.`}${chatId}`;
}

/** The chat of a session's key; undefined when the key is none of a chat. */
export function chatOfSession(sessionKey: string): ChatOfSession | undefined {
  const prefix = `${CHAT_CHANNEL}:`;
  if (!sessionKey.startsWith(prefix)) return undefined;
  const rest = sessionKey.slice(prefix.length);
  const dot = rest.indexOf(".");
  const chatId = rest.slice(dot + 1);
  if (!CHAT_ID.test(chatId)) return undefined;
  if (dot < 0) return { chatId };
  const owner = rest.slice(0, dot);
  return OWNER.test(owner) ? { chatId, owner } : undefined;
}
