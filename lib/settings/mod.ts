/**
 * Loads, examines and changes the configuration as a whole.
 *
 * Stands alone: it joins the text (`lib/config`) with what judges it: policy, providers, secrets,
 * pinned cases.
 *
 * Invariants:
 * - A configuration that breaks a pinned case of `policy.test.json` doesn't load.
 * - A change is written between two audit records, so there is one however it ends.
 * - Over the port only the keys of `editable_keys.ts` can change.
 *
 * Runs in: launcher, one-shot commands.
 *
 * Entries:
 * - `changes.ts`: what differs, and what each difference takes
 * - `configured_uses.ts`: what a changed secret means for the configuration
 * - `editable_keys.ts`: which keys can change over the port
 * - `examine.ts`: from text to configuration, with all problems
 * - `load.ts`: loads the configuration
 * - `pinned_cases.ts`: checks the pinned cases
 * - `plan_change.ts`: plans a change of the text
 * - `setting_change.ts`: the type of a change
 * - `write_settings.ts`: writes a change
 *
 * @module
 */
