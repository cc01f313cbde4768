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

/** A request; redirects are not followed. The answer's body has to be read or cancelled by `use`. */
export async function requestFile<T>(
  { caCerts }: FileHost,
  url: URL,
  init: RequestInit,
  use: (response: Response) => Promise<T>,
): Promise<T> {
  using client = Deno.createHttpClient({ caCerts: [...caCerts] });
  const signals = [AbortSignal.timeout(TIMEOUT_MS), ...init.signal ? [init.signal] : []];
  const response = await fetch(url, {
    ...init,
    client,
    redirect: "error",
    signal: AbortSignal.any(signals),
  });
  return await use(response);
}
