/**
 * The connections to a server whose certificate is that of an authority of one's own.
 *
 * @module
 */

import { readCaCerts } from "../../../lib/channel/platform/read_ca_certs.ts";

/**
 * Trusts the certificates of a file (PEM) beside the usual ones, until it is closed; undefined for no
 * file. Rejects with `config_invalid`, naming the file.
 */
export async function openHttpClient(caFile: string): Promise<Deno.HttpClient | undefined> {
  const caCerts = await readCaCerts(caFile);
  return caCerts.length === 0 ? undefined : Deno.createHttpClient({ caCerts });
}
