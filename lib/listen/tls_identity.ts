/**
 * The certificate and key that a listener shows.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** PEM, each as its text or as the path of its file. */
export interface TlsIdentity {
  /** Certificate, with the intermediate ones after it. */
  cert: string;
  /** Its private key, not encrypted. */
  key: string;
}

/**
 * Reads both. Throws `config_invalid`, naming `<setting>.sslCertfile` or `<setting>.sslKeyfile`, when one
 * cannot be read, is no PEM, or the key is another one's.
 */
export async function readTlsIdentity(
  { cert, key }: TlsIdentity,
  setting: string,
): Promise<TlsIdentity> {
  const { createPrivateKey, X509Certificate } = await import("node:crypto");
  const certText = await readPem(cert, `${setting}.sslCertfile`);
  const keyText = await readPem(key, `${setting}.sslKeyfile`);
  const certificate = parse(`${setting}.sslCertfile`, "a PEM certificate", () => {
    return new X509Certificate(certText);
  });
  const privateKey = parse(
    `${setting}.sslKeyfile`,
    "a PEM private key without a passphrase",
    () => {
      return createPrivateKey(keyText);
    },
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw invalid(
      `${setting}.sslKeyfile`,
      `the key does not belong to the certificate of ${setting}.sslCertfile`,
    );
  }
  return { cert: certText, key: keyText };
}

async function readPem(source: string, param: string): Promise<string> {
  if (source.includes("-----BEGIN ")) return source;
  try {
    return await Deno.readTextFile(source);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(param, `cannot read "${source}": ${reason}`, cause);
  }
}

function parse<Part>(param: string, expected: string, read: () => Part): Part {
  try {
    return read();
  } catch {
    // What the parser says may quote the file, which may be a key.
    throw invalid(param, `its content is not ${expected}`);
  }
}

function invalid(param: string, problem: string, cause?: unknown): ServiceError {
  return new ServiceError("config_invalid", `${param}: ${problem}`, { param }, { cause });
}
