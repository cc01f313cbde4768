/**
 * What the file of secrets holds, and how all of it is opened at once: one value that does not open means
 * that somebody was there.
 *
 * @module
 */

import { z } from "zod";
import { type Damaged, isDamaged } from "./damaged.ts";
import { openSecret, type StoredSecret } from "./secret_cipher.ts";
import { SECRETS_KEY_FILE, SECRETS_KEY_VARIABLE, type SecretsKey } from "./secret_key.ts";
import type { Secret } from "../contract/secrets.ts";

/** What the file holds. */
export interface StoredSecrets {
  /** Id of the key of all of them; empty while there is none. */
  key: string;
  secrets: readonly StoredSecret[];
}

const storedSchema = z.strictObject({
  key: z.string(),
  secrets: z.array(z.strictObject({
    name: z.string(),
    hosts: z.array(z.string()),
    commands: z.array(z.string()),
    createdAt: z.number(),
    updatedAt: z.number(),
    iv: z.string(),
    sealed: z.string(),
  })),
});

/** What the file of secrets holds. */
export const parseSecrets = (value: unknown): StoredSecrets => storedSchema.parse(value);

/** A file without secrets. */
export const NO_SECRETS: StoredSecrets = { key: "", secrets: [] };

/** Secrets by name, or why they cannot be read. */
export type Opened = { byName: ReadonlyMap<string, Secret> } | Damaged;

/** Why a key does not open what is kept; undefined when it does, or is only missing where nothing is kept. */
export function keyDamage(
  { key: id, secrets }: StoredSecrets,
  key: SecretsKey | Damaged | undefined,
  keysDir: string,
): Damaged | undefined {
  if (key !== undefined && isDamaged(key)) return key;
  if (secrets.length === 0 || key?.id === id) return undefined;
  return {
    damaged: key === undefined
      ? `The key of the secrets is gone: there is no "${keysDir}/${SECRETS_KEY_FILE}" and no ` +
        SECRETS_KEY_VARIABLE
      : `The secrets were encrypted with another key than that of ${key.from}`,
  };
}

/** Opens every value. */
export function openAll(
  stored: StoredSecrets,
  key: SecretsKey | Damaged | undefined,
  keysDir: string,
): Opened {
  const damage = keyDamage(stored, key, keysDir);
  if (damage !== undefined) return damage;
  const opened = new Map<string, Secret>();
  for (const each of stored.secrets) {
    const { iv: _, sealed: __, ...info } = each;
    const value = openSecret(each, (key as SecretsKey).bytes);
    if (value === undefined) {
      return {
        damaged: `The secret ${each.name} does not open with the key of ` +
          `${(key as SecretsKey).from}: its name, scope or value was changed by somebody else`,
      };
    }
    opened.set(each.name, { ...info, value });
  }
  return { byName: opened };
}
