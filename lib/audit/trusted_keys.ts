/**
 * Whose signatures count when an audit is verified: the service's own key where its key folder can be
 * read, the public keys that are given, else the one that lies beside the records.
 *
 * @module
 */

import { PUBLIC_KEY_FILE, readTextIfAny } from "./files.ts";
import { type AuditVerifier, importVerifier, ownVerifier } from "./signing_key.ts";

/** Keys, and why they count. */
export interface TrustedKeys {
  keys: AuditVerifier[];
  /**
   * `beside`: whoever could write the records could have put it there, so its fingerprint has to be
   * compared with the one that the service told.
   */
  from: "own" | "given" | "beside" | "none";
  /** The public key beside the records is not the service's own. */
  isReplaced: boolean;
}

/** Finds the keys. Throws, naming the file, when one is no Ed25519 public key. */
export async function findTrustedKeys(
  { dir, keysDir, given = [] }: {
    dir: string;
    /** Absent: a copy of the records is verified, away from its service. */
    keysDir?: string;
    /** Files of public keys, PEM. */
    given?: readonly string[];
  },
): Promise<TrustedKeys> {
  const keys: AuditVerifier[] = [];
  for (const path of given) keys.push(await importVerifier(await Deno.readTextFile(path), path));
  const own = keysDir === undefined ? undefined : await ownVerifier(keysDir);
  const besidePath = `${dir}/${PUBLIC_KEY_FILE}`;
  const beside = await readTextIfAny(besidePath);
  if (own !== undefined) {
    keys.push(own);
    return { keys, from: "own", isReplaced: beside !== undefined && beside !== own.publicKey };
  }
  if (keys.length > 0) return { keys, from: "given", isReplaced: false };
  if (beside === undefined) return { keys, from: "none", isReplaced: false };
  return { keys: [await importVerifier(beside, besidePath)], from: "beside", isReplaced: false };
}
