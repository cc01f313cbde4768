/**
 * How certificates of mail servers are checked. Always: there is no setting that turns it off.
 *
 * @module
 */

import { ServiceError } from "../../../lib/base/errors.ts";

/** Options of node:tls. */
export interface TlsOptions {
  /** PEM; absent for the usual certificates. */
  ca?: string;
  rejectUnauthorized: true;
  minVersion: "TLSv1.2";
}

/** Bytes of a file of certificates. */
const MAX_CA_BYTES = 4 * 1024 * 1024;

/** Reads the file of certificates, where one is set. Rejects with `config_invalid`. */
export async function tlsOptions(tlsCaFile: string | undefined): Promise<TlsOptions> {
  const options: TlsOptions = { rejectUnauthorized: true, minVersion: "TLSv1.2" };
  if (tlsCaFile === undefined) return options;
  const wrong = (what: string, cause?: unknown) =>
    new ServiceError(
      "config_invalid",
      `Cannot use tlsCaFile ${JSON.stringify(tlsCaFile)}: ${what}`,
      { param: "tlsCaFile" },
      { cause },
    );
  let ca: string;
  try {
    const { size, isFile } = await Deno.stat(tlsCaFile);
    if (!isFile || size > MAX_CA_BYTES) {
      throw wrong(`it is no file of at most ${MAX_CA_BYTES} bytes`);
    }
    ca = await Deno.readTextFile(tlsCaFile);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw wrong("it cannot be read", error);
  }
  if (!ca.includes("-----BEGIN CERTIFICATE-----")) throw wrong("no certificate in PEM is in it");
  return { ...options, ca };
}
