/**
 * Schedules, and one scheduler with one timer that turns due slots into turns.
 *
 * Stands alone: it sees turns, store and chats by ports, so tests run it on a fake clock.
 *
 * Invariants:
 * - What is due is claimed in one transaction: cursor, missed slots and runs. A run is a durable
 *   turn keyed by slot and attempt, so a crash at any step is made good by repeating the step.
 * - A round costs the same however many runs wait.
 * - A run starts a context of its own. The last result enters it as a summary, never as a person's
 *   words.
 *
 * Runs in: gateway.
 *
 * Entries:
 * - `agent_turns.ts`: how a run becomes a turn, and its result a message
 * - `automation_digest.ts`: shows a grant that its automation has changed
 * - `automation_view.ts`: automations and runs as people see them
 * - `automations.ts`: the automations of a service, with their scheduler
 * - `commission_report.ts`: the report of a dry run as people see it
 * - `run_result.ts`: what became of a run's turn
 *
 * @module
 */
