/**
 * SQLite: sessions, turns, messages, events, what channels have heard, the outbox and automations.
 *
 * Stands alone: `lib/contract/journal.ts` is its port, and nobody else knows the tables.
 *
 * Invariants:
 * - One process has the file open. Deltas are committed once a turn of the event loop, all sessions
 *   together, before any reader sees them.
 * - After a crash (`recover.ts`) durable turns go on from their last step, until a second crash;
 *   others end as interrupted.
 * - Work for each append, read and turn doesn't grow with a session (`bench/journal.ts`).
 * - `epoch` changes after an unclean start and a deletion: numbers seen before don't count then.
 * - A fork copies ended turns in one transaction and has no events (`fork_session.ts`).
 * - The index of `search.ts` follows when somebody searches, so turns write nothing for it; a deleted session
 *   leaves no term in it.
 * - `say.ts` adds event, message and outbox row in one transaction.
 *
 * Runs in: gateway; `doctor` reads the schema's version, `restore` settles what it unpacked.
 *
 * Entries:
 * - `export_session.ts`: everything on record of a session
 * - `migrations/migrations.ts`: the steps of the schema
 * - `open.ts`: opens the journal
 * - `turn_state.ts`: what of a turn is open, and what closes it
 * - `settle_restored.ts`: prepares the journal of a backup for its first start
 *
 * @module
 */
