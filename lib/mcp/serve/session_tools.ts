/**
 * The tools that read: which conversations there are, and what was said in one.
 *
 * @module
 */

import { z } from "zod";
import type { Message, UserPart } from "../../contract/messages.ts";
import { markedText } from "../../contract/text_part.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Session, StoredMessage } from "../../contract/journal.ts";
import type { AgentAccess } from "./agent_access.ts";
import { agentTool } from "./agent_tool.ts";
import { SESSION_ID, SESSION_ID_RULE } from "./ask_tool.ts";

const DEFAULT_SESSIONS = 20;
const MAX_SESSIONS = 100;
/** Sessions that are looked through for those of a channel. */
const PAGE = 500;
const MAX_PAGES = 20;

const DEFAULT_MESSAGES = 50;
const MAX_MESSAGES = 200;
/** Characters of a message, and of all that are answered. */
const MAX_TEXT_CHARS = 20_000;
const MAX_ALL_CHARS = 400_000;

const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

const listArgs = z.strictObject({
  limit: z.int("a whole number").min(1, "1 at least").max(MAX_SESSIONS, `${MAX_SESSIONS} at most`)
    .default(DEFAULT_SESSIONS).describe("How many."),
  before: z.int("a whole number").min(0, "0 at least").optional()
    .describe(
      "Only those that were last used before: updated_at of the last one of the page before.",
    ),
});

const sessionSchema = z.object({
  session_id: z.string(),
  title: z.string(),
  turns: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
});

/** Conversations, those used last first. */
export const listSessions = agentTool({
  name: "list_sessions",
  title: "List conversations",
  description:
    "Lists conversations with the agent, the ones used last first. Times are milliseconds " +
    "since 1970.",
  args: listArgs,
  result: z.object({ sessions: z.array(sessionSchema) }),
  annotations: READ_ONLY,
  async run({ limit, before }, { access, signal }) {
    const sessions: z.infer<typeof sessionSchema>[] = [];
    let cursor = before;
    for (let page = 0; page < MAX_PAGES && sessions.length < limit; page++) {
      let seen = 0;
      for await (
        const session of access.request("sessions", { limit: PAGE, before: cursor }, signal)
      ) {
        seen++;
        cursor = session.updatedAt;
        const id = idOf(session, access);
        if (id === undefined) continue;
        sessions.push({
          session_id: id,
          title: session.title,
          turns: session.turns,
          created_at: session.createdAt,
          updated_at: session.updatedAt,
        });
        if (sessions.length === limit) break;
      }
      if (seen < PAGE) break;
    }
    return both({ sessions });
  },
});

const readArgs = z.strictObject({
  session_id: z.string(SESSION_ID_RULE).regex(SESSION_ID, SESSION_ID_RULE)
    .describe("As list_sessions and ask answer it."),
  limit: z.int("a whole number").min(1, "1 at least").max(MAX_MESSAGES, `${MAX_MESSAGES} at most`)
    .default(DEFAULT_MESSAGES).describe("How many messages, the last ones."),
});

const messageSchema = z.object({
  role: z.enum(["user", "assistant", "tool", "summary"]),
  text: z.string(),
});

/** The last messages of a conversation. */
export const readSession = agentTool({
  name: "read_session",
  title: "Read a conversation",
  description: "Reads the last messages of a conversation with the agent, oldest first.",
  args: readArgs,
  result: z.object({
    session_id: z.string(),
    title: z.string(),
    /** Messages before them that are not among them. */
    left_out: z.number(),
    messages: z.array(messageSchema),
  }),
  annotations: READ_ONLY,
  async run({ session_id, limit }, { access, signal }) {
    const last: z.infer<typeof messageSchema>[] = [];
    let title = "";
    let count = 0;
    const items = access.request("session", { key: keyOf(session_id, access) }, signal);
    try {
      for await (const item of items) {
        if ("session" in item) {
          title = item.session.title;
          continue;
        }
        count++;
        last.push(shown(item.message));
        if (last.length > limit) last.shift();
      }
    } catch (error) {
      // By the name that the client knows it by.
      const isMissing = error instanceof ServiceError && error.code === "not_found";
      throw isMissing ? notFound(session_id) : error;
    }
    let chars = 0;
    const fitting = last.toReversed().filter(({ text }) => (chars += text.length) <= MAX_ALL_CHARS)
      .toReversed();
    return both({ session_id, title, left_out: count - fitting.length, messages: fitting });
  },
});

/** How a client names a session; undefined when it may not see it. */
function idOf({ key }: Session, { channel, readsAll }: AgentAccess): string | undefined {
  if (key.startsWith(`${channel}:`)) return key.slice(channel.length + 1);
  return readsAll ? key : undefined;
}

function keyOf(id: string, { channel, readsAll }: AgentAccess): string {
  // As `list_sessions` names one of another channel; an id of its own channel may hold a colon too.
  const isKey = readsAll && /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_-]+)?:/.test(id);
  return isKey ? id : `${channel}:${id}`;
}

function shown({ message }: StoredMessage): z.infer<typeof messageSchema> {
  const text = textOf(message);
  const cut = text.length - MAX_TEXT_CHARS;
  return {
    role: message.role,
    text: cut > 0 ? `${text.slice(0, MAX_TEXT_CHARS)}\n[… ${cut} more characters cut …]` : text,
  };
}

function textOf(message: Message): string {
  switch (message.role) {
    case "user":
      return message.parts.map(partText).join("\n");
    case "assistant":
      return [message.text, ...message.calls.map(({ tool }) => `[calls ${tool}]`)]
        .filter((text) => text !== "").join("\n");
    case "tool":
      return message.results.map(({ tool, output }) => `[${tool}]\n${output}`).join("\n");
    case "summary":
      return message.text;
  }
}

function partText(part: UserPart): string {
  switch (part.type) {
    case "text":
      return markedText(part);
    case "image":
      return `[image ${part.mediaType}]`;
    case "document":
      return `[document ${part.name}]`;
  }
}

/** For models as text, for programs as data. */
function both(value: Record<string, unknown>) {
  const text = JSON.stringify(value, null, 1);
  return { content: [{ type: "text" as const, text }], structuredContent: value };
}

function notFound(id: string): ServiceError {
  return new ServiceError("not_found", `There is no session "${id}"`, { param: "session_id" });
}
