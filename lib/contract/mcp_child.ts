/**
 * What the authority and the child that speaks with an MCP server call and tell each other. The server
 * may have taken the child over, so everything that the child says is checked.
 *
 * @module
 */

import { anything, flag, list, nothing, progressText, shape, text } from "../rpc/checks.ts";
import { call, notice } from "../rpc/endpoint.ts";

/** What the child is started with. */
export interface McpStart {
  transport: StdioStart | HttpStart;
  /** Folders that the server is told of; `file:` URLs. */
  roots: readonly string[];
  client: { name: string; version: string };
  /** For the server's greeting. */
  timeoutMs: number;
  /** The longest that a call may take. */
  callTimeoutMs: number;
}

/** A server that the child starts itself, within its own walls. */
export interface StdioStart {
  kind: "stdio";
  command: readonly string[];
  cwd: string;
  /** Its environment. */
  env: Readonly<Record<string, string>>;
  /** Variables of the child's own that the server has too, where they are set: those of its proxy. */
  passEnv: readonly string[];
}

/** A server at an address that was judged. */
export interface HttpStart {
  kind: "http";
  url: string;
  /** The only ones that are connected to. */
  addresses: readonly string[];
  headers: Readonly<Record<string, string>>;
}

/** What a server offers, as it said it; only bounded in size. */
export interface McpListed {
  /** What the server says that it is. */
  about: string;
  tools: unknown[];
  resources: unknown[];
  prompts: unknown[];
  /** Lists that could not be had, and why. */
  problems: string[];
}

/** Params of `call`. */
export interface McpCall {
  tool: string;
  args: Readonly<Record<string, unknown>>;
  timeoutMs: number;
  maxOutputBytes: number;
}

/** How a call came out: the server's words, bounded. */
export interface McpCalled {
  /** The server says that the tool failed. */
  failed: boolean;
  output: string;
}

const MAX_LISTED = 1_000;
const MAX_PROBLEMS = 100;
/** Of what the server says that it is, and of a problem. */
const MAX_WORDS_CHARS = 1_000;
/** Of why a server is of no use any more. */
const MAX_REASON_CHARS = 4_000;

/** Both ends. */
export const MCP_CHILD = {
  authority: {
    calls: {},
    notices: {
      /** A list may have changed. */
      changed: notice<void>(nothing),
      /** The server is of no use any more, and why. */
      broken: notice<string>((value) => text()(value).slice(0, MAX_REASON_CHARS)),
    },
  },
  child: {
    calls: {
      /** The server has greeted. */
      start: call<McpStart, void>({ result: nothing }),
      list: call<void, McpListed>({
        result: shape({
          about: text(MAX_WORDS_CHARS),
          tools: list(anything, MAX_LISTED),
          resources: list(anything, MAX_LISTED),
          prompts: list(anything, MAX_LISTED),
          problems: list(text(MAX_WORDS_CHARS), MAX_PROBLEMS),
        }),
      }),
      call: call<McpCall, McpCalled, string>({
        result: shape({ failed: flag, output: text() }),
        progress: progressText,
      }),
      ping: call<void, void>({ result: nothing }),
      /** Takes leave of the server. */
      close: call<void, void>({ result: nothing }),
    },
    notices: {},
  },
};
