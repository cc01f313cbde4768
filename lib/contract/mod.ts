/**
 * The types that everything speaks: events, messages, actions, automations, the journal port, the
 * frames of the WebSocket (`wire/`).
 *
 * Stands alone: two folders that must not know each other meet here.
 *
 * Invariants:
 * - Types, zod schemas and pure functions over them. No effects, no state.
 * - A change of a stored event or a frame is a change for files and clients that exist.
 *
 * Runs in: every process.
 *
 * Entries: every file.
 *
 * @module
 */
