/**
 * Speaks to the one place where files are.
 *
 * @module
 */

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

/** A request; a redirect is an answer like any other. `use` has to read or cancel the answer's body, until the signal ends it. */
export async function requestFile<T>(
  { caCerts }: FileHost,
  url: URL,
  init: RequestInit,
  use: (response: Response, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using client = Deno.createHttpClient({ caCerts: [...caCerts] });
  const late = AbortSignal.timeout(TIMEOUT_MS);
  const signal = init.signal ? AbortSignal.any([late, init.signal]) : late;
  const response = await fetch(url, {
    ...init,
    client,
    redirect: "manual",
    signal,
  });
  return await use(response, signal);
}
