/**
 * How certificates of mail servers are checked. Always: there is no setting that turns it off.
 *
 * @module
 */

import { readCaCerts } from "../../../lib/channel/platform/read_ca_certs.ts";

/** Options of node:tls. */
export interface TlsOptions {
  /** PEM; absent for the usual certificates. */
  ca?: string;
  rejectUnauthorized: true;
  minVersion: "TLSv1.2";
}

/** Reads the file of certificates, where one is set. Rejects with `config_invalid`. */
export async function tlsOptions(tlsCaFile = ""): Promise<TlsOptions> {
  const [ca] = await readCaCerts(tlsCaFile, "tlsCaFile");
  return { rejectUnauthorized: true, minVersion: "TLSv1.2", ...ca !== undefined && { ca } };
}
