/**
 * Wiring: opens the launcher's parts (`own_home.ts`) and the gateway's parts (`service/`).
 *
 * Stands alone: it is the top of the imports. It connects folders that don't know each other.
 *
 * Invariants:
 * - No second gateway opens the same journal (`service/hold_journal.ts`).
 * - An inbound message becomes a durable turn, keyed by the platform's own id for 8 days. The
 *   platform is told only after the commit (`service/channels/create_inbound.ts`).
 * - When a session has too much to do, its messages wait where they came from; other chats go on.
 * - What is older than `catchUpS` is a missed message, and its chat is told once.
 * - A restart knows who can come back to a turn; its first tool call waits for them
 *   (`service/take_up.ts`).
 *
 * Runs in: launcher (the files at the top), gateway (`service/`).
 *
 * Entries:
 * - `own_home.ts`: takes a home, and starts its gateway
 * - `owned_home.ts`: a home that this process owns; loaded once its gateway is being started
 * - `service/worker.ts`: the gateway; started by its path
 *
 * @module
 */
