/**
 * A connection to one MCP server: the child that speaks with it, and everything that the child says,
 * checked. The server may have taken the child over, so it is believed no more than the server.
 *
 * @module
 */

import type { MCP_CHILD, McpCall, McpCalled, McpListed } from "../contract/mcp_child.ts";
import { boundedProgress } from "../executor/bounded_progress.ts";
import type { ChildSession } from "../executor/child_session.ts";
import type { Handlers } from "../rpc/endpoint.ts";

type McpSession = ChildSession<typeof MCP_CHILD.child>;

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
export type OpenSession = (handlers: Handlers<typeof MCP_CHILD.authority>) => Promise<McpSession>;

const LIST_TIMEOUT_MS = 60_000;
const PING_TIMEOUT_MS = 6_000;
const LEAVE_TIMEOUT_MS = 500;
/** The child gives up first, and tells the server. */
const CALL_GRACE_MS = 2_000;
/** Of what one call may tell; more is dropped. */
const PROGRESS = { maxChars: 256 * 1024, maxTexts: 10_000 };

/** Opens one. Rejects with what kept the session from starting. */
export async function openMcpConnection(
  open: OpenSession,
  { onChanged }: McpConnectionEvents,
): Promise<McpConnection> {
  // A notice may come before there is anything to close.
  const opened: { session?: McpSession } = {};
  let broken: string | undefined;
  const session = opened.session = await open({
    calls: {},
    notices: {
      changed: onChanged,
      broken(reason) {
        if (broken !== undefined) return;
        broken = reason;
        void opened.session?.close();
      },
    },
  });
  if (broken !== undefined) void session.close();
  const { ended, close, call } = session;

  /** What broke it says more than that it is gone. */
  function explain(error: unknown): never {
    throw broken === undefined ? error : new Error(broken, { cause: error });
  }

  return {
    list: () => call("list", undefined, { timeoutMs: LIST_TIMEOUT_MS }).catch(explain),
    async call(asked, { signal, onProgress }) {
      try {
        return await call("call", asked, {
          signal,
          onProgress: boundedProgress(onProgress, PROGRESS),
          timeoutMs: asked.timeoutMs + CALL_GRACE_MS,
        });
      } catch (error) {
        signal.throwIfAborted();
        return explain(error);
      }
    },
    ping: () => call("ping", undefined, { timeoutMs: PING_TIMEOUT_MS }).catch(explain),
    ended: ended.then((reason) => broken ?? reason),
    async close(why) {
      // A server over HTTP keeps a session for who does not take leave.
      if (broken === undefined) {
        broken = why;
        await call("close", undefined, { timeoutMs: LEAVE_TIMEOUT_MS }).catch(() => {});
      }
      await close();
    },
  };
}
