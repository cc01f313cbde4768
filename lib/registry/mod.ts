/**
 * Which channels there are, and how each instance is configured.
 *
 * Stands alone: it brings manifests and configuration together by pure functions.
 *
 * Invariants:
 * - Manifests and adapters are loaded; a runtime, a check or a connector never is.
 * - Each channel is judged for itself: a broken one disables itself alone.
 * - The gateway is given specs without a secret, with a keyed fingerprint (`channel_specs.ts`).
 *
 * Runs in: launcher, one-shot commands.
 *
 * Entries:
 * - `channel_defaults.ts`: which fields are secrets, and first sections
 * - `channel_problems.ts`: what keeps enabled channels from starting
 * - `channel_registry.ts`: the channels that there are
 * - `channel_specs.ts`: instances without their secrets
 * - `locales/common_labels.ts`: labels that every channel has
 * - `locales/load_locale.ts`: a channel's words in a language
 * - `open_registry.ts`: loads manifests
 * - `worker_source_of.ts`: what a channel process is made of, from the configuration
 * - `unknown_channel_keys.ts`: keys that no contract names
 *
 * @module
 */
