/**
 * The audit log: a signed chain of records in files of `audit/`.
 *
 * Stands alone: whoever verifies the log must need nothing of the service that wrote it.
 *
 * Invariants:
 * - A record is on disk before its action runs. After a write that failed, every append rejects, so
 *   no action runs.
 * - Records are only appended. Checkpoints are signed; a copy outside the home shows a cut end.
 * - Reading never needs the lock: `service audit verify` works while the service runs.
 *
 * Runs in: launcher (writes), one-shot commands (read).
 *
 * Entries:
 * - `judge.ts`: the verdict about an audit folder
 * - `key.ts`: the key of the digests of arguments
 * - `log.ts`: appends records, and the port that others append through
 * - `page_records.ts`: reads the log from its end, a bounded page at a time
 * - `read_records.ts`: reads all records that pass a filter
 * - `record.ts`: a record, and how it chains to the one before
 * - `record_filter.ts`: which records are asked for
 * - `subjects.ts`: what a record is about
 * - `trusted_keys.ts`: whose signatures count
 * - `verify.ts`: finds every kind of change to a log
 *
 * @module
 */
