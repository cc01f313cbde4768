/**
 * The connections to a server whose certificate is that of an authority of one's own.
 *
 * @module
 */

import { ServiceError } from "../../../lib/base/errors.ts";

/**
 * Trusts the certificates of a file (PEM) beside the usual ones, until it is closed; undefined for no
 * file. Rejects with `config_invalid`, naming the file.
 */
export async function openHttpClient(caFile: string): Promise<Deno.HttpClient | undefined> {
  if (caFile === "") return undefined;
  try {
    return Deno.createHttpClient({ caCerts: [await Deno.readTextFile(caFile)] });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServiceError("config_invalid", `Cannot use caFile ${caFile}: ${reason}`);
  }
}
