/**
 * Speaks to the one place where files are.
 *
 * @module
 */

import { systemClock } from "../../../lib/base/clock.ts";
import { boundedFetch } from "../../../lib/channel/platform/mod.ts";

/** What a client trusts. */
export interface FileHost {
  /** The only address that is spoken to. */
  url: URL;
  /** Certificates (PEM) of authorities beside the usual ones. */
  caCerts: readonly string[];
}

const TIMEOUT_MS = 120_000;

/** Whether an address is there. */
export function isAtHost(host: FileHost | undefined, url: URL | null): url is URL {
  return host !== undefined && url !== null && url.origin === host.url.origin &&
    url.username === "" && url.password === "";
}

/** A request, as `boundedFetch`. */
export async function requestFile(
  { caCerts }: FileHost,
  url: URL,
  init: RequestInit,
  maxBytes?: number,
): Promise<Response> {
  using client = Deno.createHttpClient({ caCerts: [...caCerts] });
  const bounds = { peer: "The server", timeoutMs: TIMEOUT_MS, maxBytes, clock: systemClock };
  return await boundedFetch(url, { ...init, client } as RequestInit, bounds);
}
