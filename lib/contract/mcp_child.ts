/**
 * What the authority and the child that speaks with an MCP server say to each other, over the session
 * of `lib/rpc/session_protocol.ts`.
 *
 * The child is started with {@linkcode McpStart} and is ready once the server has greeted. Then it
 * answers `list` with a {@linkcode McpListed}, `call` ({@linkcode McpCall}) with a
 * {@linkcode McpCalled}, `ping`, and `close`, which takes leave of the server. It gives the notices
 * `changed` when a list may have changed, and `broken` ({@linkcode McpBroken}) when the server is of no
 * use any more.
 *
 * @module
 */

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

/** Data of the notice `broken`. */
export interface McpBroken {
  reason: string;
}
