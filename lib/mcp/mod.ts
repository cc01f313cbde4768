/**
 * The Model Context Protocol: the client in the child of a server (`child.ts`), and this agent as a
 * server (`serve/`).
 *
 * Stands alone: it knows the wire of the protocol. Which servers there are and when they run is
 * `lib/mcp_servers`.
 *
 * Invariants:
 * - A server is not trusted: each message is bounded and checked, and a flood slows only itself.
 * - `serve/` uses the operations of the local protocol, so stdio and POST /mcp offer the same.
 *   Nothing of a client is kept.
 *
 * Runs in: a child that lives on (`child.ts`), gateway (POST /mcp), one-shot command (`service mcp
 * serve`).
 *
 * Entries:
 * - `child.ts`: the client of one server; started by its path
 * - `serve/agent_access.ts`: how the server reaches the agent
 * - `serve/create_agent_server.ts`: the agent as a server
 * - `serve/message_reader.ts`: JSON-RPC messages from lines
 * - `serve/serve_stdio.ts`: serves one client on standard input and output
 *
 * @module
 */
