/**
 * What may be done: one pure function over rules, grants and the resolved target.
 *
 * Stands alone: a decision is reproducible from data, so it can be tested, explained and pinned.
 *
 * Invariants:
 * - `policy.ts` is pure and total. The first rule that matches decides: fixed rules, then
 *   `gates.rules`, then the default rules.
 * - Only resolved targets are compared, never what was asked for. What can't be resolved is
 *   refused.
 * - A name that would be refused is never looked up.
 * - A secret goes only to what its scope names; no rule, grant or person widens it.
 *
 * Runs in: launcher, one-shot commands.
 *
 * Entries: every file.
 *
 * @module
 */
