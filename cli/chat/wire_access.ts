/**
 * How `service chat` gets in: a token for each handshake, since socket tokens work once, and one for the
 * routes beside the socket, both with whatever the person has.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";

/** What lets a client in. */
export interface WireAccess {
  /** For the next handshake; absent where none is needed. */
  token?: string;
  /** For the routes of the port, which tell more than the socket does; absent where there is none. */
  apiToken?: string;
}

/** What access is got with. */
export interface WireAccessDeps {
  /** The WebSocket's address. */
  url: URL;
  /**
   * A token of `service tokens issue` (`sat_…`), or the secret of the port (tokenIssueSecret, token);
   * undefined for a service on this machine without a secret.
   */
  secret?: string;
  fetch: typeof fetch;
}

/** Rejects with `invalid_token` for a secret that is refused, `not_found` when nothing answers. */
export async function wireAccess({ url, secret, fetch }: WireAccessDeps): Promise<WireAccess> {
  const isApiToken = secret?.startsWith("sat_") ?? false;
  const path = isApiToken ? "/api/webui/socket-token" : "/webui/bootstrap";
  const at = new URL(path, url);
  at.protocol = url.protocol === "wss:" ? "https:" : "http:";
  at.search = "";
  let response: Response;
  try {
    response = await fetch(at, {
      method: isApiToken ? "POST" : "GET",
      headers: {
        ...secret !== undefined && { authorization: `Bearer ${secret}` },
        ...isApiToken && { "content-type": "application/json" },
      },
      body: isApiToken ? "{}" : undefined,
      redirect: "error",
      signal: AbortSignal.timeout(15_000),
    });
  } catch (cause) {
    const { message } = (cause as Error).cause as Error | undefined ?? cause as Error;
    // The last of the errors that it lists is the one that says why.
    const why = message.split(": ").at(-1);
    throw new ServiceError(
      "not_found",
      `No service answers at ${url.host}: ${why}. Start one with: service start`,
      { param: "url" },
      { cause },
    );
  }
  const body = await response.json().catch(() => undefined);
  if (response.ok) {
    const textOf = (value: unknown) => typeof value === "string" ? value : undefined;
    return { token: textOf(body?.token), apiToken: isApiToken ? secret : textOf(body?.api_token) };
  }
  if (body?.error?.code === "forbidden_user") {
    throw new ServiceError("forbidden_user", `${url.host} refused: ${body.error.message}`);
  }
  // Without a secret in force a far client may still be let in without a token; a proxy may forward
  // the socket's path alone, and then a static token is all there is.
  if (response.status === 404 || (response.status === 403 && secret === undefined)) {
    return { token: secret };
  }
  if (response.status === 401) {
    throw new ServiceError(
      "invalid_token",
      secret === undefined
        ? `${url.host} asks for a token or the port's secret: give it as SERVICE_TOKEN`
        : `${url.host} does not know the token or secret in SERVICE_TOKEN`,
    );
  }
  const said = typeof body?.error?.message === "string" ? `: ${body.error.message}` : "";
  throw new ServiceError("invalid_request", `${url.host} answered ${response.status}${said}`);
}
