/**
 * Takes the values of secrets out of texts and streams.
 *
 * Stands alone: the same scrubber is used at every exit: what the authority sends, the audit log,
 * both logs, what people send, and the models.
 *
 * Invariants:
 * - A process other than the launcher knows a secret by its fingerprints, never by its value.
 * - A stream is decided by what stands at each position, never by where a piece ends.
 *
 * Runs in: launcher, gateway, channel process, one-shot commands.
 *
 * Entries:
 * - `forms_of.ts`: the forms in which a secret appears in texts
 * - `fingerprints_of.ts`: from a value to its fingerprints
 * - `scrubber.ts`: replaces secrets by placeholders
 * - `secret_name.ts`: what a secret may be called
 * - `secret_fingerprint.ts`: the type of a fingerprint
 *
 * @module
 */
