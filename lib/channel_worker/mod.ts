/**
 * A channel in a process of its own: both ends, and what they say.
 *
 * Stands alone: nothing that a channel process says is believed, so its protocol is its own folder.
 *
 * Invariants:
 * - The process has the permissions of one manifest. The first frame is its section, which the
 *   gateway never sees.
 * - Each message from it is checked and copied (`protocol.ts`). One that no honest process would
 *   send ends it; so do a crash and a minute without an answer to a ping.
 * - At most 64 messages are unanswered, 16 of one chat; the rest waits in the channel process, chat
 *   by chat (`publish_queue.ts`).
 * - A settings check, a connector and a login each get a process of their own.
 *
 * Runs in: channel process (`worker.ts`, `serve.ts`), gateway (`build_channel.ts`), launcher
 * (`worker_permissions.ts`).
 *
 * Entries:
 * - `build_channel.ts`: a channel process as the gateway sees it
 * - `open_channel_worker.ts`: asks the authority for a channel process
 * - `worker_client.ts`: the end that calls a channel
 * - `worker_permissions.ts`: permissions of a channel process
 * - `worker_source.ts`: what a channel process is made of
 * - `protocol.ts`: what a channel process and its host say to each other
 * - `setup_results.ts`: checks what a package's settings check returned
 * - `worker.ts`: the channel process; started by its path
 *
 * @module
 */
