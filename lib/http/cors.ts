/**
 * What browsers are told about the origins of `api.allowedOrigins`; nobody else gets these headers.
 *
 * @module
 */

/** Headers that a page may read beside the harmless ones. */
const EXPOSED = "x-request-id, retry-after, x-should-retry";

/** Whether a request only asks if another one may be sent. Browsers send it without a key. */
export function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.has("origin") &&
    headers.has("access-control-request-method");
}

/** The answer to a preflight; `allow` is what the path can be asked with. */
export function preflightResponse({ headers }: Request, allow: string): Response {
  const answer = new Headers({
    "access-control-allow-methods": allow,
    "access-control-max-age": "600",
  });
  const wanted = headers.get("access-control-request-headers");
  // Clients bring headers of their own (x-stainless-…), and the origin was allowed by name.
  if (wanted !== null && /^[\w!#$%&'*+.^`|~, -]{1,2000}$/.test(wanted)) {
    answer.set("access-control-allow-headers", wanted);
  }
  if (headers.get("access-control-request-private-network") === "true") {
    answer.set("access-control-allow-private-network", "true");
  }
  return new Response(null, { status: 204, headers: answer });
}

/** Lets pages of an allowed origin read the response. */
export function allowOrigin(response: Response, origin: string): void {
  response.headers.set("access-control-allow-origin", origin);
  response.headers.set("access-control-expose-headers", EXPOSED);
  response.headers.append("vary", "origin");
}
