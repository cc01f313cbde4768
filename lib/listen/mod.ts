/**
 * Ports: one way to listen over `node:http`, and errors as HTTP and as frames.
 *
 * Stands alone: `Deno.serve` (2.9) has no header time-out, so how it listens may change; this is
 * the one place that knows.
 *
 * Invariants:
 * - Listeners take fewer connections than the process may have files. After running out of them,
 *   `node:http` never accepts again (`connection_room.ts`, `bounded_port.ts`).
 * - A code of `ServiceError` without a row in `error_table.ts` doesn't compile.
 * - The text of an unexpected error stays inside.
 * - With `no-legacy-abort` (deno.json) a request's signal aborts when its client leaves, and not
 *   when its answer was sent.
 *
 * Runs in: gateway; channel process where a channel listens.
 *
 * Entries:
 * - `check_silently.ts`: checks what may hold a secret
 * - `connection_room.ts`: how many connections a process takes
 * - `error_frame.ts`: an error as a WebSocket frame
 * - `error_table.ts`: status and type of each error code
 * - `errors.ts`: an error as an HTTP answer
 * - `explain_listen.ts`: why a listener can't open
 * - `listen.ts`: listens
 * - `port_log.ts`: log lines of a full port
 * - `refuse_upgrade.ts`: refuses an upgrade on the raw socket
 * - `request_error.ts`: checks a request against a schema
 * - `tls_identity.ts`: certificate and key of a listener
 *
 * @module
 */
