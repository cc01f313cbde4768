/**
 * Sessions: list, show, messages, export, rename, fork, pin, delete. Each caller has those that
 * {@linkcode GatewayAsking.sees} says; any other one is answered exactly as one that is not there.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import { chatOfSession, sessionKeyOf } from "../contract/chat_session.ts";
import type { Journal, Session, SessionFilter } from "../contract/journal.ts";
import { CHAT_ID } from "../contract/wire/frames.ts";
import { exportSession } from "../journal/export_session.ts";
import { recordTurn } from "../replay/record_turn.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import { DEFAULT_PAGE, pageLimit, toWire, whole } from "./fields.ts";
import { gatewayOperation, gatewayStream } from "./operation.ts";
import { findSession, noSession } from "./sessions/find_session.ts";
import { forkSession } from "./sessions/fork_session.ts";
import { type Files, toMessageRow } from "./sessions/message_row.ts";
import { readLive } from "./sessions/read_live.ts";
import { readMessages } from "./sessions/read_messages.ts";
import { turnsOf } from "./sessions/turn_row.ts";
import {
  foundSession,
  liveChat,
  messageRow,
  sessionDetails,
  sessionRow,
  turnRow,
} from "./sessions/session_schemas.ts";

/** What operations on sessions work on. */
export interface SessionParts {
  journal: Pick<
    Journal,
    | "session"
    | "sessions"
    | "search"
    | "historyPage"
    | "renameSession"
    | "forkSession"
    | "deleteSession"
    | "pinSession"
    | "turns"
    | "history"
    | "follow"
    | "turn"
    | "nthTurn"
    | "contextBefore"
    | "epoch"
    | "contextTokens"
  >;
  /** Whether a turn runs in a session. */
  isRunning: (sessionKey: string) => boolean;
  /** Ids of the turns that run or wait in a session, in order. */
  openTurns: (sessionKey: string) => readonly string[];
  /** Tokens that the model of a preset is sent at most; of the configured model without one. */
  maxContextTokens: (preset: string | undefined) => number;
  /** Takes secrets out of what will be on record, or leaves. */
  scrubber: Pick<Scrubber, "value">;
  /** Names a chat that nobody has named. */
  randomId: () => string;
  /** Gives links to files of messages; absent: none are given. */
  files?: Files;
  /** Whether the model's reasoning is shown; asked each time. Absent: it is not. */
  showReasoning?: () => boolean;
}

const ALL = "/api/webui/sessions";
const ONE = `${ALL}/:key`;

const MAX_PAGE = 100;

const TITLE = "text of 1 to 200 characters";
const CHAT = "1 to 64 of A-Z a-z 0-9 _ : -";
const QUERY = "text of 1 to 500 characters";
const KEY = "<channel>:<1 to 128 of A-Z a-z 0-9 . _ : ->";

const key = z.string("a session's key");
const limit = pageLimit(MAX_PAGE);
const before = whole(0).optional()
  .describe("Cursor: only those before the page that gave it.");

const forkInput = z.object({
  key,
  before_user_index: whole(0)
    .describe("Messages of people that the fork keeps, with what was answered."),
  chat_id: z.string(CHAT).regex(CHAT_ID, CHAT).optional()
    .describe("Of the new chat, which must not be there yet; absent: one is made up."),
}, "an object");

/** Operations on sessions. */
export const SESSIONS = {
  "sessions.list": gatewayOperation({
    summary: "List sessions, latest first",
    scope: "read",
    command: "sessions list",
    mcpTool: "list_sessions",
    input: z.object({ limit, before }),
    output: z.object({
      sessions: z.array(sessionRow).describe("Latest first."),
      before: z.int().optional().describe("Cursor of the next page; absent on the last."),
    }).describe("Sessions that the caller sees."),
    route: { method: "GET", path: ALL },
    run({ limit = DEFAULT_PAGE, before }, parts, { sees }) {
      // One more tells whether there is a next page.
      const found = parts.journal.sessions({ limit: limit + 1, before, ...sees });
      const page = found.slice(0, limit);
      return {
        sessions: page.map((session) => toRow(session, parts, sees)),
        ...found.length > limit && { before: page.at(-1)!.updatedAt },
      };
    },
  }),
  "sessions.search": gatewayOperation({
    summary: "Search the texts of sessions",
    scope: "read",
    command: "sessions search",
    args: ["q"],
    input: z.object({
      q: z.string(QUERY).min(1, QUERY).max(500, QUERY)
        .describe('Words that have to be in one message; "a phrase" in quotes.'),
      limit,
      before,
    }),
    output: z.object({
      sessions: z.array(foundSession).describe("Latest first."),
      before: z.int().optional().describe("Cursor of the next page; absent on the last."),
    }).describe("Sessions that the caller sees and that hold what was looked for."),
    route: { method: "GET", path: "/api/webui/search" },
    async run({ q, limit = DEFAULT_PAGE, before }, parts, { sees }) {
      const found = await parts.journal.search({ q, limit: limit + 1, before, ...sees });
      const page = found.slice(0, limit);
      return {
        sessions: page.map(({ session, count, texts }) => ({
          ...toRow(session, parts, sees),
          count,
          matches: texts.map(({ turnId, ...text }) => ({ ...text, turn_id: turnId })),
        })),
        ...found.length > limit && { before: page.at(-1)!.session.updatedAt },
      };
    },
  }),
  "sessions.get": gatewayOperation({
    summary: "Show a session without its messages",
    scope: "read",
    input: z.object({ key }),
    output: sessionDetails,
    route: { method: "GET", path: ONE, errors: ["not_found"] },
    run({ key }, parts, { sees }) {
      const session = findSession(parts.journal, key, sees);
      return {
        ...toRow(session, parts, sees),
        context_tokens: parts.journal.contextTokens(session.id),
        max_context_tokens: parts.maxContextTokens(session.modelPreset),
      };
    },
  }),
  "sessions.messages": gatewayOperation({
    summary: "Show the messages of a session, the newest page first",
    scope: "read",
    command: "sessions show",
    mcpTool: "read_session",
    input: z.object({ key, limit, before }),
    output: z.object({
      key: z.string(),
      messages: z.array(messageRow).describe("Oldest first."),
      turns: z.array(turnRow).describe("Those that the messages belong to, in their order."),
      user_index: z.int().describe("Messages of people before this page."),
      before: z.int().optional().describe("Cursor of the page before; absent on the first."),
      live: liveChat.optional(),
    }).describe("A stretch of a session's messages."),
    route: { method: "GET", path: `${ONE}/messages`, errors: ["not_found"] },
    run({ limit = DEFAULT_PAGE, before, ...asked }, parts, { sees }) {
      const { journal, files, showReasoning = () => false } = parts;
      const session = findSession(journal, asked.key, sees);
      const { id, key } = session;
      const page = readMessages(journal, id, { limit, before });
      const context = { files, showReasoning: showReasoning(), userIndex: page.userIndex };
      return {
        key,
        messages: page.messages.map((stored) => {
          const row = toMessageRow(stored, context);
          if (row.role === "user") context.userIndex++;
          return row;
        }),
        turns: turnsOf(page.messages, journal),
        user_index: page.userIndex,
        ...page.before !== undefined && { before: page.before },
        ...before === undefined && chatOfSession(key) !== undefined &&
          { live: readLive(session, parts) },
      };
    },
  }),
  "sessions.export": gatewayStream({
    summary: "Export everything on record of a session, as JSON lines",
    scope: "read",
    command: "sessions export",
    input: z.object({ key }),
    output: z.looseObject({ kind: z.enum(["session", "turn", "message", "event"]) })
      .describe("A record as the journal has it: the session, its turns, messages and events."),
    route: { method: "GET", path: `${ONE}/export`, errors: ["not_found"] },
    async *run({ key }, { journal }, { sees, signal }) {
      const session = findSession(journal, key, sees);
      yield* exportSession(journal, session, signal);
      if (journal.session(session.key)?.id !== session.id) {
        throw new ServiceError("not_found", "The session was deleted before its end was reached");
      }
    },
  }),
  "sessions.recording": gatewayOperation({
    summary: "Get a turn as a recording, which can be replayed",
    scope: "read",
    command: "sessions replay",
    input: z.object({
      key,
      turn: whole(1).optional().describe("Number of the turn, from 1 (default: the last)."),
    }),
    output: z.looseObject({ version: z.int(), about: z.string() })
      .describe(
        "A recording: what came before the turn, what the model and tools did, and its events.",
      ),
    route: {
      method: "GET",
      path: `${ONE}/recording`,
      errors: ["not_found", "conflict", "too_large"],
    },
    async run({ key, turn }, { journal, scrubber }, { sees }) {
      return scrubber.value(await recordTurn(journal, findSession(journal, key, sees), turn));
    },
  }),
  "sessions.rename": gatewayOperation({
    summary: "Rename a session",
    scope: "operate",
    command: "sessions rename",
    args: ["key", "title"],
    // What is a title is the journal's to say; more than this is none in any way.
    input: z.object({ key, title: z.string(TITLE).max(1_000, TITLE) }, "an object"),
    output: sessionRow,
    route: { method: "PUT", path: `${ONE}/title`, errors: ["not_found"] },
    async run({ title, ...asked }, parts, { sees }) {
      const { journal, scrubber } = parts;
      const { key } = findSession(journal, asked.key, sees);
      const session = await journal.renameSession(key, scrubber.value(title));
      if (session === undefined) throw noSession(key);
      return toRow(session, parts, sees);
    },
  }),
  "sessions.fork": gatewayOperation({
    summary: "Start a session from the beginning of another one",
    scope: "operate",
    command: "sessions fork",
    input: forkInput.extend({
      new_key: z.string(KEY).regex(/^[a-z][a-z0-9_]*:[A-Za-z0-9._:-]{1,128}$/, KEY).optional()
        .describe("Key of the new session (default: KEY-2, KEY-3, …)."),
    }),
    output: sessionRow,
    // Whoever comes by the port gets a chat.
    route: { method: "POST", path: `${ONE}/fork`, errors: ["not_found"], input: forkInput },
    async run({ before_user_index: beforeUserIndex, ...named }, parts, { sees }) {
      const { key } = findSession(parts.journal, named.key, sees);
      const targetKey = keyOfFork(named, parts, sees);
      try {
        const fork = { sourceKey: key, targetKey, beforeUserIndex };
        return toRow(await forkSession(parts.journal, fork), parts, sees);
      } catch (error) {
        const isTaken = error instanceof ServiceError && error.details.param === "targetKey";
        if (!isTaken) throw error;
        const param = named.new_key === undefined ? "chat_id" : "new_key";
        throw new ServiceError(error.code, error.message, { param }, { cause: error });
      }
    },
  }),
  "sessions.pin": gatewayOperation({
    summary: "Keep a session from retention, whatever its age",
    scope: "operate",
    command: "sessions pin",
    input: z.object({ key }),
    output: sessionRow,
    route: { method: "PUT", path: `${ONE}/pin`, errors: ["not_found"] },
    run: ({ key }, parts, { sees }) => pin(key, true, parts, sees),
  }),
  "sessions.unpin": gatewayOperation({
    summary: "Let retention remove a session again",
    scope: "operate",
    command: "sessions unpin",
    input: z.object({ key }),
    output: sessionRow,
    route: { method: "DELETE", path: `${ONE}/pin`, errors: ["not_found"] },
    run: ({ key }, parts, { sees }) => pin(key, false, parts, sees),
  }),
  "sessions.delete": gatewayOperation({
    summary: "Delete a session and everything in it; not while a turn is open in it",
    scope: "operate",
    command: "sessions delete",
    input: z.object({ key }),
    output: z.object({ key: z.string(), deleted: z.literal(true) }),
    route: { method: "DELETE", path: ONE, errors: ["not_found"] },
    async run(asked, { journal }, { sees }) {
      const { key } = findSession(journal, asked.key, sees);
      if (!await journal.deleteSession(key)) throw noSession(key);
      return { key, deleted: true as const };
    },
  }),
};

async function pin(named: string, pinned: boolean, parts: SessionParts, sees: SessionFilter) {
  const { key } = findSession(parts.journal, named, sees);
  const session = await parts.journal.pinSession(key, pinned);
  if (session === undefined) throw noSession(key);
  return toRow(session, parts, sees);
}

/** Undefined: one like the source's is made up. */
function keyOfFork(
  { new_key: newKey, chat_id: chatId }: { new_key?: string; chat_id?: string },
  { randomId }: SessionParts,
  { owner }: SessionFilter,
): string | undefined {
  if (newKey !== undefined || (chatId === undefined && owner === undefined)) return newKey;
  return sessionKeyOf({ chatId: chatId ?? randomId(), owner: owner ?? undefined });
}

function toRow(
  { modelPreset, folder, ...session }: Session,
  { isRunning }: SessionParts,
  { owner }: SessionFilter,
): z.input<typeof sessionRow> {
  const { key } = session;
  return toWire(sessionRow, {
    ...session,
    chatId: chatOfSession(key)?.chatId,
    channel: key.slice(0, key.indexOf(":")),
    modelPreset: modelPreset ?? null,
    // A path of this machine is nothing for who comes over a port.
    folder: owner === undefined ? folder : undefined,
    running: isRunning(key),
  });
}
