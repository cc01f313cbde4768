/**
 * The media folder: files that came with messages, each once, named by its hash.
 *
 * Stands alone: it asks the journal through one function, and knows no session.
 *
 * Invariants:
 * - A file stays while a session refers to it or somebody holds it. A crash's leftovers go at the
 *   next start.
 * - Steps on one file come one after another; files don't wait for each other.
 *
 * Runs in: gateway.
 *
 * Entries:
 * - `open_media.ts`: opens the folder
 * - `types.ts`: the port of the folder
 *
 * @module
 */
