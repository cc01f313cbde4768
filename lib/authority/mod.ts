/**
 * The process that decides: holds the home's lock, starts the gateway with exactly the permission
 * table, restarts it, and does for it what the gateway may not do itself.
 *
 * Stands alone: it is the trusted half of the service. The gateway serves strangers, so every call
 * of the gateway is checked here (`answer_gateway.ts`).
 *
 * Invariants:
 * - Nothing that it imports can open a connection (`tests/import_directions_test.ts`).
 * - One process owns a home. The lock is the operating system's, so it is free after a kill.
 * - Secrets are known here as values, elsewhere only as fingerprints. All text that leaves is
 *   scrubbed.
 * - An edit of the configuration applies what is `live`, names the rest, and changes nothing if it
 *   is invalid.
 *
 * Runs in: launcher. `protocol.ts` and `gateway_transport.ts` also in the gateway.
 *
 * Entries:
 * - `authority.ts`: starts and supervises the gateway, and answers it
 * - `gateway_ports.ts`: the gate's way to the outbox and the automations of the gateway
 * - `gateway_transport.ts`: the gateway's end of the connection
 * - `gateway_worker.ts`: starts the gateway as a Worker, for one command
 * - `health.ts`: sandbox, audit and disk, for GET /ready
 * - `home_lock.ts`: the lock of a home
 * - `journal_mark.ts`: tells a lost or replaced journal from a new one
 * - `jwks/signing_key_fetch.ts`: fetches a proxy's signing keys in a child
 * - `known_secrets.ts`: the secrets known here, as fingerprints
 * - `local_users.ts`: which user owns a loopback connection
 * - `open_files.ts`: the limit of open files
 * - `permission_table.ts`: the permissions of each process, for `service permissions` too
 * - `projects.ts`: folders besides the workspace that turns may work in
 * - `plain_names.ts`: names that are never taken for secrets
 * - `protocol.ts`: what authority and gateway say to each other
 * - `run_gateway.ts`: starts the gateway as a process
 * - `scrubbed_ports.ts`: ports that scrub what passes through
 * - `take_home.ts`: folders and lock of a home
 * - `watch_config.ts`: applies edits of the configuration
 *
 * @module
 */
