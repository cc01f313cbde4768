/**
 * Certificates of an authority of one's own.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";

const MAX_BYTES = 4 * 1024 * 1024;

/** What a file of certificates (PEM) holds; none for "". Rejects with `config_invalid`, naming the field. */
export async function readCaCerts(path: string, field = "caFile"): Promise<string[]> {
  if (path === "") return [];
  const wrong = (what: string, cause?: unknown) =>
    new ServiceError(
      "config_invalid",
      `Cannot use ${field} ${path}: ${what}`,
      { param: field },
      { cause },
    );
  let text: string;
  try {
    const { isFile, size } = await Deno.stat(path);
    if (!isFile || size > MAX_BYTES) throw wrong(`it is no file of at most ${MAX_BYTES} bytes`);
    text = await Deno.readTextFile(path);
  } catch (error) {
    throw error instanceof ServiceError ? error : wrong("it cannot be read", error);
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----")) throw wrong("no certificate in PEM is in it");
  try {
    Deno.createHttpClient({ caCerts: [text] }).close();
  } catch (error) {
    throw wrong("its certificates cannot be read", error);
  }
  return [text];
}
