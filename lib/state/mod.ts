/**
 * Sealed files of the operators: tokens, grants, blocks, pending approvals, reports, secrets.
 *
 * Stands alone: it is what the gateway must never reach. It lies in `operator/` of the home.
 *
 * Invariants:
 * - A file that was edited, cut, rolled back or removed counts as damaged, and grants nothing.
 * - Each change leaves its audit record in the same write.
 * - Of a token only the digest is kept; secrets are encrypted with AES-256-GCM.
 *
 * Runs in: launcher, one-shot commands (they change the files in place).
 *
 * Entries:
 * - `damaged.ts`: state that can't be trusted, as a value
 * - `finding_store.ts`: reports of dry runs
 * - `grant_store.ts`: standing grants
 * - `issued_tokens.ts`: short-lived tokens in memory
 * - `latch_store.ts`: what is blocked in a session
 * - `operator_state.ts`: all of it, opened once
 * - `pairing_store.ts`: strangers who were given a code
 * - `pending_store.ts`: which approvals are pending
 * - `secret_fields.ts`: bounds of a stored secret
 * - `secret_key.ts`: the key that secrets are encrypted with
 * - `secret_store.ts`: the stored secrets
 * - `state_disk.ts`: reads files without following links
 * - `state_lock.ts`: one change at a time, over all processes
 * - `token_store.ts`: tokens of operators and approvers
 *
 * @module
 */
