/**
 * Removes data by age and size, as `retention` in the configuration says.
 *
 * Stands alone: what may go, and in which order, each store knows (`RetentionStore` in
 * `lib/contract/retention.ts`). Here are the limits, the audit records and the hour.
 *
 * Invariants:
 * - Nothing is removed that the audit log has not, by name, before it goes.
 * - What a dry run finds is what a run removes: both go through the same loop.
 * - Memory and each step are bounded, however much there is.
 *
 * Runs in: launcher, one-shot commands.
 *
 * Entries:
 * - `retention.ts`: removes what is over its limits, when asked and once a day
 *
 * @module
 */
