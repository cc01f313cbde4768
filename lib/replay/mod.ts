/**
 * Recorded turns, run again: the loop is the agent's own, and all around it is played from the record.
 *
 * Stands alone: a recording is one JSON value (`recording.ts`) with what the model said, what tools
 * returned, and the events that came of it.
 *
 * Invariants:
 * - Nothing is executed, sent or written: the journal is in memory, the model and the gate answer with
 *   what is recorded.
 * - What a turn can't be replayed for is found while it is recorded (`record_turn.ts`), never by a
 *   difference that isn't there.
 * - A difference counts unless it is one of time and chance (`compare.ts`).
 *
 * Runs in: gateway (records), one-shot commands and tests (replay).
 *
 * Entries:
 * - `compare.ts`: the first difference between what was recorded and what came now
 * - `record_turn.ts`: a turn of the journal as a recording
 * - `recording.ts`: what a recording is, and reads one
 * - `replay_turn.ts`: runs a recording
 *
 * @module
 */
