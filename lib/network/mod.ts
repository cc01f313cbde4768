/**
 * The network of a sandboxed program: a proxy outside of the sandbox and a relay inside.
 *
 * Stands alone: it runs in children and imports nothing but `lib/rpc`
 * (`tests/import_directions_test.ts`).
 *
 * Invariants:
 * - The only way out of the sandbox is one Unix socket.
 * - The proxy asks the authority about each connection, and connects only to the addresses that the
 *   answer names.
 * - The relay has no rights of its own; it serves programs with and without proxy support.
 *
 * Runs in: children that live on (`proxy/child.ts`), the sandbox itself (`relay/child.ts`).
 *
 * Entries:
 * - `proxy/child.ts`: the proxy; started by its path
 * - `proxy/protocol.ts`: what authority and proxy say to each other
 * - `relay/child.ts`: the relay; started by its path
 * - `relay/plan.ts`: what a relay listens on
 *
 * @module
 */
