/**
 * Methods of the Web API on a workspace of a test, as https://docs.slack.dev/reference/methods says.
 *
 * @module
 */

import {
  ALICE,
  type Args,
  BOB,
  BOT_ID,
  BOT_USER,
  type FakeMessage,
  type FakeWorkspace,
  Refused,
  TEAM,
} from "./fake_workspace.ts";

/** The scope that each method needs. */
const SCOPES: Readonly<Record<string, string>> = {
  "chat.postMessage": "chat:write",
  "chat.update": "chat:write",
  "chat.delete": "chat:write",
  "chat.postEphemeral": "chat:write",
  "reactions.add": "reactions:write",
  "reactions.remove": "reactions:write",
  "files.getUploadURLExternal": "files:write",
  "files.completeUploadExternal": "files:write",
  "files.info": "files:read",
  "users.info": "users:read",
  "users.conversations": "channels:read",
  "conversations.history": "channels:history",
  "conversations.replies": "channels:history",
  "conversations.open": "im:write",
  "assistant.threads.setStatus": "assistant:write",
};

/** Calls a method. Throws {@linkcode Refused}. */
export function callMethod(
  workspace: FakeWorkspace,
  method: string,
  args: Args,
  baseUrl: string,
): Record<string, unknown> {
  const needed = SCOPES[method];
  if (needed !== undefined && !workspace.scopes.has(needed)) {
    throw new Refused("missing_scope", { needed, provided: [...workspace.scopes].join(",") });
  }
  switch (method) {
    case "auth.test":
      return {
        url: "https://example.slack.com/",
        team: "Example",
        user: "helper",
        team_id: TEAM,
        user_id: BOT_USER,
        bot_id: BOT_ID,
        is_enterprise_install: false,
      };
    case "chat.postMessage":
      return post(workspace, args);
    case "chat.update": {
      const message = workspace.own(args);
      if (args.text !== undefined) message.text = args.text.slice(0, 40_000);
      if (args.blocks !== undefined) message.blocks = checkBlocks(args.blocks);
      message.edited = { user: BOT_USER, ts: workspace.nextTs() };
      return { channel: args.channel, ts: message.ts, text: message.text };
    }
    case "chat.delete": {
      const message = workspace.own(args);
      const { messages } = workspace.conversation(args.channel!);
      messages.splice(messages.indexOf(message), 1);
      return { channel: args.channel, ts: message.ts };
    }
    case "chat.postEphemeral":
      workspace.conversation(args.channel!);
      workspace.whispers.push({ user: args.user!, channel: args.channel!, text: args.text! });
      return { message_ts: workspace.nextTs() };
    case "reactions.add":
    case "reactions.remove": {
      const { reactions } = workspace.find(args.channel!, args.timestamp!);
      const isAdd = method === "reactions.add";
      if (isAdd === reactions.has(args.name!)) {
        throw new Refused(isAdd ? "already_reacted" : "no_reaction");
      }
      if (isAdd) reactions.add(args.name!);
      else reactions.delete(args.name!);
      return {};
    }
    case "users.info": {
      const name = ({ [ALICE]: "Alice", [BOB]: "Bob" } as Record<string, string>)[args.user!];
      if (name === undefined) throw new Refused("user_not_found");
      return { user: { id: args.user, name, profile: { display_name: name } } };
    }
    case "users.conversations": {
      const all = [...workspace.conversations.values()].filter((one) => one.isMember)
        .map(({ id, kind, user }) => ({ id, is_im: kind === "im", user }));
      return page(workspace, all, "channels", args);
    }
    case "conversations.history": {
      const { messages } = workspace.conversation(args.channel!);
      const top = messages.filter((one) => one.thread_ts === undefined || one.thread_ts === one.ts);
      return page(
        workspace,
        top.filter(within(args)).reverse().map((one) => withReplies(one, messages)),
        "messages",
        args,
      );
    }
    case "conversations.replies": {
      const { messages } = workspace.conversation(args.channel!);
      const thread = messages.filter(({ ts, thread_ts }) =>
        ts === args.ts || thread_ts === args.ts
      );
      if (thread.length === 0) throw new Refused("thread_not_found");
      const [first, ...replies] = thread;
      return page(
        workspace,
        [first!, ...replies.filter(within(args))].map((one) => withReplies(one, messages)),
        "messages",
        args,
      );
    }
    case "conversations.open": {
      const found = [...workspace.conversations.values()].find(({ user }) => user === args.users);
      if (found === undefined) throw new Refused("user_not_found");
      return { channel: { id: found.id } };
    }
    case "assistant.threads.setStatus":
      workspace.statuses.push({
        channel: args.channel_id!,
        threadTs: args.thread_ts!,
        status: args.status!,
      });
      return {};
    case "files.getUploadURLExternal": {
      const id = `F0FILE${String(workspace.files.size + 1).padStart(5, "0")}`;
      workspace.files.set(id, { name: args.filename!, bytes: undefined });
      return { upload_url: `${baseUrl}/upload/v1/${id}`, file_id: id };
    }
    case "files.completeUploadExternal": {
      const listed = JSON.parse(args.files!) as { id: string; title: string }[];
      const files = listed.map(({ id, title }) => {
        if (workspace.files.get(id)?.bytes === undefined) throw new Refused("file_not_found");
        return { id, title, name: workspace.files.get(id)!.name };
      });
      workspace.writeAsBot(args.channel_id!, { text: "", files, thread_ts: args.thread_ts });
      return { files };
    }
    case "files.info": {
      const file = workspace.files.get(args.file!);
      if (file === undefined) throw new Refused("file_not_found");
      return { file: workspace.fileObject(args.file!, baseUrl) };
    }
    default:
      throw new Refused("unknown_method");
  }
}

function post(workspace: FakeWorkspace, args: Args): Record<string, unknown> {
  const blocks = args.blocks === undefined ? [] : checkBlocks(args.blocks);
  if (blocks.length === 0 && !args.text) throw new Refused("no_text");
  const message = workspace.writeAsBot(args.channel!, {
    text: (args.text ?? "").slice(0, 40_000),
    blocks,
    thread_ts: args.thread_ts,
  });
  if (blocks.some(({ type }) => type === "actions")) {
    workspace.cards.push({ channel: args.channel!, message: { ...message } });
  }
  return { channel: args.channel, ts: message.ts, message: { ...message, reactions: undefined } };
}

function page(
  workspace: FakeWorkspace,
  all: readonly unknown[],
  key: string,
  { limit, cursor }: Args,
): Record<string, unknown> {
  const from = Number(cursor ?? 0);
  const to = from + Math.min(Number(limit ?? 100), workspace.maxPage);
  const isMore = to < all.length;
  return {
    [key]: all.slice(from, to),
    has_more: isMore,
    response_metadata: { next_cursor: isMore ? String(to) : "" },
  };
}

function within({ oldest = "0", latest = "9999999999" }: Args) {
  return ({ ts }: FakeMessage) => Number(ts) > Number(oldest) && Number(ts) < Number(latest);
}

function withReplies(
  { reactions: _, ...message }: FakeMessage,
  all: readonly FakeMessage[],
): Record<string, unknown> {
  const replies = all.filter((one) => one.thread_ts === message.ts && one.ts !== message.ts);
  if (replies.length === 0) return message;
  return {
    ...message,
    thread_ts: message.ts,
    reply_count: replies.length,
    latest_reply: replies.at(-1)!.ts,
  };
}

/** The blocks of a message, within Slack's limits. */
function checkBlocks(text: string): Record<string, unknown>[] {
  const blocks = JSON.parse(text) as Record<string, unknown>[];
  if (!Array.isArray(blocks) || blocks.length > 50) throw new Refused("invalid_blocks");
  const markdown = blocks.filter(({ type }) => type === "markdown")
    .reduce((sum, { text }) => sum + String(text).length, 0);
  if (markdown > 12_000) throw new Refused("msg_blocks_too_long");
  for (const block of blocks) {
    if (block.type === "markdown" && block.text === "") throw new Refused("invalid_blocks");
    for (const one of (block.elements ?? []) as Record<string, unknown>[]) {
      if (String(one.value ?? "").length > 2_000) throw new Refused("invalid_blocks");
    }
  }
  return blocks;
}
