/**
 * Answers and messages on their way to channels, and the manager that runs channels.
 *
 * Stands alone: it works on records of the journal and links to channels, and knows neither turns
 * nor platforms.
 *
 * Invariants:
 * - What goes out is a row of the outbox, or a cursor in a turn's events. A message is added in the
 *   commit that moves its cursor. What was being sent during a crash is `unknown` until a person
 *   decides.
 * - Each chat has a lane that sends its oldest message first. Chats don't wait for each other.
 * - Each runtime name has one reconcile loop (`manager/runner.ts`). Two instances never run under
 *   one name.
 * - A restart backs off: 1, 2, 4 … 60 s; 1 s again after five minutes of running.
 *
 * Runs in: gateway.
 *
 * Entries:
 * - `create_deliveries.ts`: deliveries over the journal
 * - `file_place.ts`: where a channel finds the files of a message
 * - `manager/create_channel_manager.ts`: runs the channels that are wanted
 * - `outbox.ts`: takes messages for chats, from the gate and from automations
 *
 * @module
 */
