/**
 * Audio as text, by the endpoint that section `transcription` names.
 *
 * Stands alone: it is a provider of its own, beside the models.
 *
 * Invariants:
 * - `endpoint.ts` opens no connection: the authority computes permissions with it.
 * - Audio goes to the configured address only, within bounds.
 *
 * Runs in: gateway; `endpoint.ts` in the launcher.
 *
 * Entries:
 * - `create_transcriber.ts`: the transcriber of a service
 * - `endpoint.ts`: where audio goes
 *
 * @module
 */
