/**
 * The local socket: how a command talks to the service of its home.
 *
 * Stands alone: programs of others use it too (`mod.ts` at the root).
 *
 * Invariants:
 * - The socket lies in a folder of mode 0700. Where Unix sockets are missing, a loopback port with
 *   a key in a file of mode 0600 takes its place.
 * - The socket gives no rights: tokens, grants and blocks change only in files that the gateway
 *   can't reach.
 * - A client that leaves cancels its calls. An owner leaves when its guests are done.
 *
 * Runs in: gateway (server), one-shot commands (client).
 *
 * Entries: every file.
 *
 * @module
 */
