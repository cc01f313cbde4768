/**
 * The HTTP API (`api/`) and the routes of the WebSocket port (`web/`).
 *
 * Stands alone: below it nobody knows HTTP; layers below throw `ServiceError`, and one place turns
 * it into a status (`lib/listen/errors.ts`).
 *
 * Invariants:
 * - `request_edge.ts` is what both ports do with every request. The browser guard comes first, so a
 *   page can't guess keys; a stranger can't learn routes.
 * - Both POST routes meet in `api/open_turn.ts`. What leaves is a pure mapping of a turn's events,
 *   so a resumed stream is the same to the byte.
 * - When the last reader of a foreground turn has left, the turn is cancelled; with an
 *   Idempotency-Key after 30 s (`api/readers.ts`).
 * - A client that was asked about an action by a tool call keeps its seat until that has expired
 *   (`api/chat/offered_approvals.ts`).
 * - A route of `web/` is data: scope, schemas, handler. Docs, OpenAPI and a test come from that
 *   list.
 * - Bodies that are being read hold a bounded number of bytes together; beyond it: 503
 *   `overloaded`.
 * - The authority checks a caller's credential again before it does what only it may.
 *
 * Runs in: gateway.
 *
 * Entries:
 * - `access_log.ts`: one log line for each request
 * - `api/app.ts`: the HTTP API
 * - `local_user_check.ts`: lets in the service's own user without a secret
 * - `web/admission/admission.ts`: who is let in at the WebSocket port
 * - `web/admission/handshake_log.ts`: one log line for each handshake
 * - `web/admission/posture.ts`: who is let in, in one line
 * - `web/app.ts`: the routes of the WebSocket port
 * - `web/arrival.ts`: what a trusted proxy is believed by
 * - `web/media_links.ts`: signed links to files
 * - `web/routes.ts`: the list of routes
 *
 * @module
 */
