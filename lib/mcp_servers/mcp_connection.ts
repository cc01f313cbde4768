/**
 * A connection to one MCP server: the child that speaks with it, and everything that the child says,
 * checked. The server may have taken the child over, so it is believed no more than the server.
 *
 * @module
 */

import { z } from "zod";
import type { McpCall, McpCalled, McpListed } from "../contract/mcp_child.ts";
import type { ChildSession, ChildSessionHandlers } from "../executor/child_session.ts";

/** A connected server. */
export interface McpConnection {
  /** Asks for everything that it offers. Rejects with an Error in words for people. */
  list(): Promise<McpListed>;
  /** Calls a tool. Rejects with such an Error, or with the signal's reason. */
  call(
    call: McpCall,
    options: { signal: AbortSignal; onProgress: (text: string) => void },
  ): Promise<McpCalled>;
  /** Whether it still answers. */
  ping(): Promise<void>;
  /** Resolves with why, once nothing of it is left. */
  readonly ended: Promise<string>;
  /** Ends it with its tree; `why` is what is told of that, for people. */
  close(why?: string): Promise<void>;
}

/** What a connection tells of by itself. */
export interface McpConnectionEvents {
  /** A list may have changed. */
  onChanged(): void;
}

/** Starts a child with these handlers. */
export type OpenSession = (handlers: ChildSessionHandlers) => Promise<ChildSession>;

const LIST_TIMEOUT_MS = 60_000;
const PING_TIMEOUT_MS = 6_000;
const LEAVE_TIMEOUT_MS = 500;
/** The child gives up first, and tells the server. */
const CALL_GRACE_MS = 2_000;
const MAX_PROBLEMS = 100;

const LISTED = z.object({
  about: z.string().max(1_000),
  tools: z.array(z.unknown()).max(1_000),
  resources: z.array(z.unknown()).max(1_000),
  prompts: z.array(z.unknown()).max(1_000),
  problems: z.array(z.string().max(1_000)).max(MAX_PROBLEMS),
});
const CALLED = z.object({ failed: z.boolean(), output: z.string() });
const BROKEN = z.object({ reason: z.string() });
/** Characters of a reason. */
const MAX_REASON_CHARS = 4_000;

/** Opens one. Rejects with what kept the session from starting. */
export async function openMcpConnection(
  open: OpenSession,
  { onChanged }: McpConnectionEvents,
): Promise<McpConnection> {
  // A notice may come before there is anything to close.
  const opened: { session?: ChildSession } = {};
  let broken: string | undefined;
  const session = opened.session = await open({
    onNotice(name, data) {
      if (name === "changed") return onChanged();
      if (name !== "broken" || broken !== undefined) return;
      const { data: said } = BROKEN.safeParse(data);
      broken = (said?.reason ?? "it is of no use any more").slice(0, MAX_REASON_CHARS);
      void opened.session?.close();
    },
  });
  if (broken !== undefined) void session.close();
  const { ended, close, request } = session;

  async function ask<T>(schema: z.ZodType<T>, asking: Promise<unknown>): Promise<T> {
    let answer: unknown;
    try {
      answer = await asking;
    } catch (error) {
      // What broke it says more than that it is gone.
      throw broken === undefined ? error : new Error(broken, { cause: error });
    }
    const { success, data } = schema.safeParse(answer);
    if (success) return data;
    throw new Error("the child that speaks with it answered nothing that it may");
  }

  return {
    list: () => ask(LISTED, request("list", {}, { timeoutMs: LIST_TIMEOUT_MS })),
    async call(call, { signal, onProgress }) {
      const timeoutMs = call.timeoutMs + CALL_GRACE_MS;
      try {
        return await ask(CALLED, request("call", call, { signal, onProgress, timeoutMs }));
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      }
    },
    async ping() {
      await ask(z.unknown(), request("ping", {}, { timeoutMs: PING_TIMEOUT_MS }));
    },
    ended: ended.then((reason) => broken ?? reason),
    async close(why) {
      // A server over HTTP keeps a session for who does not take leave.
      if (broken === undefined) {
        broken = why;
        await request("close", {}, { timeoutMs: LEAVE_TIMEOUT_MS }).catch(() => {});
      }
      await close();
    },
  };
}
