/**
 * A certificate with its files, for listeners that speak TLS.
 *
 * @module
 */

import { type Certificate, makeCertificate } from "../../../tests/support/certificate.ts";

/** A certificate, as texts and as files, which go when it is disposed. */
export interface TestCertificate extends Certificate, Disposable {
  certFile: string;
  keyFile: string;
  caFile: string;
}

/** Makes one in a folder of its own. */
export async function makeTestCertificate(): Promise<TestCertificate> {
  const dir = await Deno.makeTempDir();
  const made = await makeCertificate(dir);
  return {
    ...made,
    certFile: `${dir}/cert.pem`,
    keyFile: `${dir}/key.pem`,
    caFile: `${dir}/ca.pem`,
    [Symbol.dispose]: () => Deno.removeSync(dir, { recursive: true }),
  };
}
