/**
 * Actions that wait for a person, and dry runs of automations.
 *
 * Stands alone: a pending approval outlives the call that asked for it, and several ends
 * (requester, approver, time limit, shutdown) race to settle it.
 *
 * Invariants:
 * - An approval is settled once, in one synchronous step. It counts only after its audit record is
 *   on disk.
 * - A person sees the action as it was resolved, and it is resolved again before it runs.
 * - In a dry run the gate notes actions and runs none of them.
 *
 * Runs in: launcher.
 *
 * Entries:
 * - `approval_refusal.ts`: why an action didn't run after somebody was asked
 * - `approvals.ts`: the pending approvals of a service
 * - `commission/commissions.ts`: dry runs, and what can be granted from their reports
 *
 * @module
 */
