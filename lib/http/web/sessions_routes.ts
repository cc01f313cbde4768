/**
 * Sessions over the WebSocket port: list, messages, rename, fork, delete, export. Each caller sees
 * those of the own workspace alone ({@linkcode ownSession}).
 *
 * @module
 */

import type { MediaLinks } from "../../channel/socket_host.ts";
import { chatOfSession, chatSessionKey } from "../../contract/chat_session.ts";
import { ServiceError } from "../../base/errors.ts";
import { exportSession } from "../../journal/export_session.ts";
import type { Journal, Session } from "../../contract/journal.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import { JSON_LINES, jsonLines } from "../json_lines.ts";
import { toMessageRow } from "./message_row.ts";
import { noSession, ownerOf, ownSession } from "./own_sessions.ts";
import { readQuery } from "./query_params.ts";
import { readMessages } from "./read_messages.ts";
import {
  deletedSession,
  forkBody,
  messagePage,
  messagesQuery,
  renameBody,
  sessionPage,
  sessionRow,
  sessionsQuery,
} from "./session_schemas.ts";
import type { WebCall, WebRoute } from "./web_route.ts";

/** What the routes need. */
export interface SessionsRoutesDeps {
  journal: Pick<
    Journal,
    | "session"
    | "sessions"
    | "historyPage"
    | "renameSession"
    | "forkSession"
    | "deleteSession"
    | "turns"
    | "history"
    | "follow"
  >;
  /** Whether a turn runs in a session. */
  isRunning: (sessionKey: string) => boolean;
  links: MediaLinks;
  /** The folder that they lead to. */
  mediaDir: string;
  /** Whether the model's reasoning is shown; asked each time. */
  showReasoning: () => boolean;
  /** Takes secrets out of what is on record from before they were known. */
  scrubber: Pick<Scrubber, "text" | "value">;
  /** Default: random. */
  newChatId?: () => string;
}

const SESSIONS = "/api/webui/sessions";
const ONE = `${SESSIONS}/:key`;
const DEFAULT_PAGE = 50;

export function createSessionsRoutes(deps: SessionsRoutesDeps): WebRoute[] {
  const sessions = new Sessions(deps);
  return [
    {
      method: "GET",
      path: SESSIONS,
      scope: "read",
      summary: "List sessions, newest first",
      docs: { query: sessionsQuery, answer: sessionPage },
      handle: (call) => sessions.list(call),
    },
    {
      method: "GET",
      path: ONE,
      scope: "read",
      summary: "Show a session",
      docs: { answer: sessionRow, errors: ["not_found"] },
      handle: (call) => sessions.show(call),
    },
    {
      method: "GET",
      path: `${ONE}/messages`,
      scope: "read",
      summary: "Show the messages of a session, the newest page first",
      docs: { query: messagesQuery, answer: messagePage, errors: ["not_found"] },
      handle: (call) => sessions.messages(call),
    },
    {
      method: "GET",
      path: `${ONE}/export`,
      scope: "read",
      summary: "Export everything on record of a session, as JSON lines",
      docs: { mediaType: JSON_LINES, errors: ["not_found"] },
      handle: (call) => sessions.export(call),
    },
    {
      method: "PUT",
      path: `${ONE}/title`,
      summary: "Rename a session",
      docs: { body: renameBody, answer: sessionRow, errors: ["not_found"] },
      handle: (call) => sessions.rename(call),
    },
    {
      method: "POST",
      path: `${ONE}/fork`,
      summary: "Make a chat of the beginning of a session",
      docs: { body: forkBody, answer: sessionRow, errors: ["not_found"] },
      handle: (call) => sessions.fork(call),
    },
    {
      method: "DELETE",
      path: ONE,
      summary: "Delete a session and everything in it; not while a turn is open in it",
      docs: { answer: deletedSession, errors: ["not_found"] },
      handle: (call) => sessions.delete(call),
    },
  ];
}

class Sessions {
  readonly #deps: SessionsRoutesDeps;

  constructor(deps: SessionsRoutesDeps) {
    this.#deps = deps;
  }

  list({ query, caller }: WebCall): Response {
    const { limit = DEFAULT_PAGE, before } = readQuery(sessionsQuery, query);
    const { journal } = this.#deps;
    // One more tells whether there is a next page.
    const rows = journal.sessions({ limit: limit + 1, before, owner: ownerOf(caller) });
    const page = rows.slice(0, limit);
    return this.#answer({
      sessions: page.map((session) => this.#row(session)),
      ...rows.length > limit && { before: page.at(-1)!.updatedAt },
    });
  }

  show(call: WebCall): Response {
    return this.#answer(this.#row(this.#find(call)));
  }

  messages(call: WebCall): Response {
    const session = this.#find(call);
    const { journal, links, mediaDir } = this.#deps;
    const { limit = DEFAULT_PAGE, before } = readQuery(messagesQuery, call.query);
    const page = readMessages(journal, session.id, { limit, before });
    let userIndex = page.userIndex;
    const showReasoning = this.#deps.showReasoning();
    const linkTo = (sha256: string, name?: string) => links.sign(`${mediaDir}/${sha256}`, name);
    const messages = page.messages.map((stored) => {
      const row = toMessageRow(stored, { userIndex, showReasoning, linkTo, links });
      if (row.role === "user") userIndex++;
      return row;
    });
    return this.#answer({
      key: session.key,
      messages,
      user_index: page.userIndex,
      ...page.before !== undefined && { before: page.before },
    });
  }

  async rename(call: WebCall): Promise<Response> {
    const { key } = this.#find(call);
    const { title } = await call.body(renameBody);
    const { journal, scrubber } = this.#deps;
    const session = await journal.renameSession(key, scrubber.text(title));
    if (session === undefined) throw noSession(key);
    return this.#answer(this.#row(session));
  }

  async fork(call: WebCall): Promise<Response> {
    const { key: sourceKey } = this.#find(call);
    const { journal, newChatId = () => crypto.randomUUID() } = this.#deps;
    const { before_user_index: beforeUserIndex, chat_id: chatId = newChatId() } = await call.body(
      forkBody,
    );
    const targetKey = chatSessionKey({ chatId, workspaceKey: call.caller.workspaceKey });
    const made = await journal.forkSession({ sourceKey, targetKey, beforeUserIndex })
      .catch(throwForkError);
    return this.#answer(this.#row(made));
  }

  async delete(call: WebCall): Promise<Response> {
    const { key } = this.#find(call);
    if (!await this.#deps.journal.deleteSession(key)) throw noSession(key);
    return this.#answer({ key, deleted: true });
  }

  export(call: WebCall): Response {
    const session = this.#find(call);
    const { request, context } = call;
    const headers = { "content-type": JSON_LINES };
    if (request.method === "HEAD") return new Response(null, { headers });
    const abort = new AbortController();
    context.streams = true;
    const body = jsonLines({
      lines: this.#lines(session, abort.signal),
      fail: (error) => context.fail(error).envelope,
      onEnd: (outcome) => {
        abort.abort();
        context.finish(200, outcome);
      },
    });
    return new Response(body, { headers });
  }

  async *#lines(session: Session, signal: AbortSignal) {
    const { journal, scrubber } = this.#deps;
    for await (const line of exportSession(journal, session, signal)) yield scrubber.value(line);
    if (journal.session(session.key)?.id !== session.id) {
      throw new ServiceError("not_found", "The session was deleted before its end was reached");
    }
  }

  #find({ params, caller }: WebCall): Session {
    return ownSession(this.#deps.journal, params.key ?? "", caller);
  }

  #answer(value: unknown): Response {
    return Response.json(this.#deps.scrubber.value(value));
  }

  #row({ key, title, modelPreset, createdAt, updatedAt, turns, lastSeq }: Session) {
    const chatId = chatOfSession(key)?.chatId;
    return {
      key,
      ...chatId !== undefined && { chat_id: chatId },
      channel: key.slice(0, key.indexOf(":")),
      title,
      model_preset: modelPreset ?? null,
      created_at: Math.floor(createdAt / 1000),
      updated_at: Math.floor(updatedAt / 1000),
      turns,
      last_seq: lastSeq,
      running: this.#deps.isRunning(key),
    };
  }
}

function throwForkError(error: unknown): never {
  if (!(error instanceof ServiceError)) throw error;
  const { param } = error.details;
  const field = FIELDS_OF_FORK[param ?? ""];
  if (field === undefined) throw error;
  throw new ServiceError(error.code, error.message, { param: field }, { cause: error });
}

/** How the body of a fork calls what the journal complains about. */
const FIELDS_OF_FORK: Readonly<Record<string, string>> = {
  targetKey: "chat_id",
  beforeUserIndex: "before_user_index",
};
