/**
 * The tool servers of others: what they offer, and when they run.
 *
 * Stands alone: the authority keeps the list and checks it; the connection is in a child.
 *
 * Invariants:
 * - A server is connected when it is first needed, one child each, and restarted with back-off.
 * - What a server offers is checked, and its definition is part of the action: a changed tool voids
 *   its approvals and grants.
 * - A stdio server runs in the sandbox of commands; an HTTP server reaches judged addresses only.
 *
 * Runs in: launcher, one-shot commands.
 *
 * Entries:
 * - `mcp_servers.ts`: the servers of a service
 * - `open_mcp_servers.ts`: made from the configuration of a home
 *
 * @module
 */
