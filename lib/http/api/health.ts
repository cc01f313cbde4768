/**
 * GET /health says that the process answers; GET /ready says whether it can work.
 *
 * @module
 */

/** State of one part of the service. */
export interface Check {
  ok: boolean;
  /** For people. */
  detail: string;
}

/** Checks by name. */
export type Checks = Record<string, Check>;

/** The answer of GET /health; it depends on nothing. */
export function health(): Response {
  return Response.json({ status: "ok" });
}

/** The answer of GET /ready: 503 as soon as one check fails. */
export function ready(checks: Checks, version: string): Response {
  const ok = Object.values(checks).every((check) => check.ok);
  const status = ok ? "ready" : "unavailable";
  return Response.json({ status, version, checks }, { status: ok ? 200 : 503 });
}
