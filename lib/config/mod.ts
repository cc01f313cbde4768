/**
 * Schema and file of the configuration: reads, checks, edits and saves the text.
 *
 * Stands alone: it knows keys and text, not what they mean. What needs the policy, the registry or
 * the stored secrets to judge is in `lib/settings`.
 *
 * Invariants:
 * - `schema.ts` is the one source of types, checks, defaults and `config.schema.json`.
 * - A save keeps comments, order and unknown keys, and writes references, never their values.
 * - No manifest is known here. Of a channel's section it checks who may write and what runs
 *   (`channel_sections.ts`); the rest disables that channel alone when it starts.
 *
 * Runs in: launcher, one-shot commands. The gateway is given the checked values.
 *
 * Entries: every file.
 *
 * @module
 */
