/**
 * Certificates of an authority of one's own.
 *
 * @module
 */

import { ServiceError } from "../../../lib/base/errors.ts";

const MAX_BYTES = 4 * 1024 * 1024;

/** What `caFile` holds; none for an empty one. Rejects with `config_invalid`. */
export async function readCaCerts(caFile: string): Promise<string[]> {
  if (caFile === "") return [];
  const wrong = (what: string, cause?: unknown) =>
    new ServiceError(
      "config_invalid",
      `Cannot use caFile ${JSON.stringify(caFile)}: ${what}`,
      { param: "caFile" },
      { cause },
    );
  let text: string;
  try {
    const { isFile, size } = await Deno.stat(caFile);
    if (!isFile || size > MAX_BYTES) throw wrong(`it is no file of at most ${MAX_BYTES} bytes`);
    text = await Deno.readTextFile(caFile);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw wrong("it cannot be read", error);
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----")) throw wrong("no certificate in PEM is in it");
  return [text];
}
