/**
 * From a message as a tool call names it to what is sent where: the chat that the turn's answer goes to
 * when it names none, and its files as they are now.
 *
 * @module
 */

import { fileStamp } from "../tools/child/file_stamp.ts";
import type { Touch } from "../contract/tool.ts";
import type {
  ActionContext,
  ChatTarget,
  PathTarget,
  SentFile,
  UnresolvedTarget,
} from "../contract/actions.ts";
import { resolvePath, type Workspace } from "../policy/resolve/resolve.ts";

/** The turn that sends it. */
export type Sender = Pick<ActionContext, "sessionKey" | "channel" | "automation">;

/** Turns that come from here are in no chat that could be sent to. */
const NO_CHATS: ReadonlySet<string> = new Set(["api", "cli", "mcp", "automation"]);

/** The chat that the answer of a turn goes to; undefined when it goes to whoever asked alone. */
export function answerChat(
  { sessionKey, channel, automation }: Sender,
): { channel: string; chatId: string } | undefined {
  if (automation !== undefined) return automation.delivery;
  const start = `${channel}:`;
  if (NO_CHATS.has(channel) || !sessionKey.startsWith(start)) return undefined;
  return { channel, chatId: sessionKey.slice(start.length) };
}

/** The target of a message. Looks at the files, and opens none. */
export async function resolveChat(
  { channel, chatId, files = [] }: Extract<Touch, { kind: "chat" }>,
  from: Sender,
  workspace: Workspace,
): Promise<ChatTarget | UnresolvedTarget> {
  const own = answerChat(from);
  const named = channel !== undefined && chatId !== undefined ? { channel, chatId } : undefined;
  const to = named ?? own;
  if (to === undefined) {
    return {
      kind: "unresolved",
      what: "the chat of this conversation",
      reason: "its answers go to no chat; name a channel and a chat_id",
    };
  }
  const sent: SentFile[] = [];
  for (const path of files) {
    const target = await resolvePath(path, "read", workspace);
    if (target.kind === "unresolved") return target;
    sent.push(await sentFile(target));
  }
  return {
    kind: "chat",
    channel: to.channel,
    chatId: to.chatId,
    ...named === undefined && { withAnswer: true as const },
    ...sent.length > 0 && { files: sent },
  };
}

/** What is no file has nothing to be sent: whoever opens it says so. */
async function sentFile({ real }: PathTarget): Promise<SentFile> {
  const info = await Deno.stat(real).catch(() => undefined);
  return { real, bytes: info?.size ?? 0, stamp: info === undefined ? "" : fileStamp(info) };
}
