/**
 * Secrets of the operator's: encrypted at rest with AES-256-GCM, changed by `service secrets`, given by
 * name to what they are for.
 *
 * @module
 */

import type { Secret, SecretInfo } from "../contract/secrets.ts";
import type { writeFileAtomic } from "../base/atomic_write.ts";
import { ServiceError } from "../base/errors.ts";
import { hmacSha256 } from "../base/sha256.ts";
import { damagedError, isDamaged } from "./damaged.ts";
import { removeTemporaries, setAside } from "./leftovers.ts";
import type { SealedFile } from "./sealed_file.ts";
import { sealSecret } from "./secret_cipher.ts";
import { checkSecret } from "./secret_fields.ts";
import { makeSecretsKey, readSecretsKey, SECRETS_KEY_FILE, type SecretsKey } from "./secret_key.ts";
import type { StateLock } from "./state_lock.ts";
import { keyDamage, openAll, type Opened, type StoredSecrets } from "./stored_secrets.ts";

/** What a secret is set to. With neither hosts nor commands, one that is there keeps its own. */
export type SecretChange = Pick<Secret, "name" | "value"> & Partial<Pick<Secret, Scope>>;

type Scope = "hosts" | "commands";

/** The secrets of a home. A change by another process is seen at the next call. */
export interface SecretStore {
  /**
   * Adds a secret or replaces it. Rejects with `invalid_request`, naming the field, for a name, scope or
   * value (8 characters at least, 64 KiB at most) that cannot be, and with `refused` while the others
   * cannot be read; never repeats the value. `by` stands in the record; absent: the command line.
   */
  set(secret: SecretChange, by?: string): Promise<SecretInfo>;
  /** False when there was none. Needs no key. */
  remove(name: string, by?: string): Promise<boolean>;
  /** By name. Throws `refused` when the file is damaged; needs no key. */
  list(): SecretInfo[];
  /** Throws `refused` when the state is damaged or the key is another one. */
  reveal(name: string): Secret | undefined;
  /**
   * All of them, for scrubbing. While they cannot be read, those that this process read last: what has
   * got out already is still to be hidden.
   */
  revealAll(): readonly Secret[];
  /**
   * A key of 32 bytes for something else that is encrypted at rest, which follows from that of the secrets:
   * the same as long as that is. Makes that one where there is none. Rejects with `refused` as `set`.
   */
  deriveKey(purpose: string): Promise<Uint8Array>;
  /** Called after each change that this process sees; must not throw. Returns what ends that. */
  onChange(listener: () => void): () => void;
  /** Why values cannot be read, for people: the file is damaged, or the key is gone or another one. */
  damaged(): string | undefined;
  /**
   * Sets a file aside whose values cannot be read, and a key that is none; there are no secrets then.
   * False when all is well.
   */
  reset(): Promise<boolean>;
}

/** Secrets that there may be at once. */
const MAX_SECRETS = 1_000;

/** What a {@linkcode SecretStore} is made of. */
export interface SecretStoreDeps {
  file: SealedFile<StoredSecrets>;
  /** Under which the key is made. */
  lock: StateLock;
  keysDir: string;
  /** Value of SERVICE_SECRETS_KEY. */
  keyFromEnv?: string;
  /** What an operator types to set a damaged file aside. */
  repair: string;
  now: () => number;
  /** Instead of the disk's; for tests. */
  write?: typeof writeFileAtomic;
}

/** Keeps secrets in a file. */
export function createSecretStore(deps: SecretStoreDeps): SecretStore {
  return new FileSecretStore(deps);
}

class FileSecretStore implements SecretStore {
  readonly #deps: SecretStoreDeps;
  readonly #listeners = new Set<() => void>();
  /** What the file held with which key, and what came of it. */
  #known: { of: StoredSecrets | string; key: string; opened: Opened } | undefined;
  #signature: string | undefined;
  #lastRead: readonly Secret[] = [];

  constructor(deps: SecretStoreDeps) {
    this.#deps = deps;
  }

  async set({ name, value, ...scope }: SecretChange, by?: string): Promise<SecretInfo> {
    const { hosts = [], commands = [] } = scope;
    checkSecret({ name, value, hosts, commands });
    const key = await this.#takeKey();
    const now = this.#deps.now();
    const keepsScope = scope.hosts === undefined && scope.commands === undefined;
    const result = await this.#deps.file.update(({ key: id, secrets }) => {
      const damage = keyDamage({ key: id, secrets }, key, this.#deps.keysDir);
      if (damage !== undefined) throw damagedError(damage, this.#deps.repair);
      const old = secrets.find((each) => each.name === name);
      const others = secrets.filter((each) => each !== old);
      if (others.length >= MAX_SECRETS) {
        throw new ServiceError(
          "invalid_request",
          `There are ${MAX_SECRETS} secrets already; remove some that are not needed any more`,
        );
      }
      const info: SecretInfo = {
        name,
        hosts: keepsScope && old !== undefined ? old.hosts : [...new Set(hosts)],
        commands: keepsScope && old !== undefined ? old.commands : [...new Set(commands)],
        createdAt: old?.createdAt ?? now,
        updatedAt: now,
      };
      const stored = sealSecret(info, value, key.bytes);
      const data = {
        name,
        hosts: info.hosts,
        commands: info.commands,
        replaced: old !== undefined,
        ...by === undefined ? {} : { by },
      };
      return {
        value: { key: key.id, secrets: [...others, stored].toSorted(byName) },
        records: [{ kind: "secret.set", data }],
        result: info,
      };
    });
    this.#open();
    return copyOf(result);
  }

  async remove(name: string, by?: string): Promise<boolean> {
    const removed = await this.#deps.file.update(({ key, secrets }) => {
      const found = secrets.find((each) => each.name === name);
      if (found === undefined) return { result: false };
      const { hosts, commands } = found;
      return {
        value: { key, secrets: secrets.filter((each) => each !== found) },
        records: [{
          kind: "secret.removed",
          data: { name, hosts, commands, ...by === undefined ? {} : { by } },
        }],
        result: true,
      };
    });
    this.#open();
    return removed;
  }

  list(): SecretInfo[] {
    const state = this.#deps.file.read();
    if (isDamaged(state)) throw damagedError(state, this.#deps.repair);
    // For listeners alone: a look at names and scopes decrypts nothing.
    if (this.#listeners.size > 0) this.#open();
    return state.value.secrets.map(copyOf);
  }

  reveal(name: string): Secret | undefined {
    const opened = this.#open();
    if (isDamaged(opened)) throw damagedError(opened, this.#deps.repair);
    const found = opened.byName.get(name);
    return found && { ...copyOf(found), value: found.value };
  }

  revealAll(): readonly Secret[] {
    this.#open();
    return this.#lastRead;
  }

  async deriveKey(purpose: string): Promise<Uint8Array> {
    const { bytes } = await this.#takeKey();
    return hmacSha256(bytes, `service key for ${purpose}`);
  }

  onChange(listener: () => void): () => void {
    this.#open();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  damaged(): string | undefined {
    const opened = this.#open();
    return isDamaged(opened) ? opened.damaged : undefined;
  }

  async reset(): Promise<boolean> {
    const { file, lock, keysDir, keyFromEnv, now } = this.#deps;
    const reason = this.damaged();
    if (reason === undefined) return false;
    const wasReset = await file.reset(reason);
    const key = readSecretsKey({ keysDir, fromEnv: keyFromEnv });
    // A variable is the operator's own to mend, and a key that is whole may belong to what was set aside.
    if (key !== undefined && isDamaged(key) && !keyFromEnv?.trim()) {
      await lock.run(() => setAside(`${keysDir}/${SECRETS_KEY_FILE}`, now()));
    }
    this.#open();
    return wasReset;
  }

  /** What can be read now. Tells listeners when that is something else than before. */
  #open(): Opened {
    const { file, keysDir, keyFromEnv } = this.#deps;
    const state = file.read();
    const key = readSecretsKey({ keysDir, fromEnv: keyFromEnv });
    const of = isDamaged(state) ? state.damaged : state.value;
    const keyId = key === undefined ? "" : isDamaged(key) ? key.damaged : key.id;
    if (this.#known?.of === of && this.#known.key === keyId) return this.#known.opened;

    const opened = isDamaged(state) ? state : openAll(state.value, key, keysDir);
    this.#known = { of, key: keyId, opened };
    if (!isDamaged(opened)) this.#lastRead = [...opened.byName.values()];
    const signature = JSON.stringify([of, isDamaged(opened) ? opened.damaged : ""]);
    const isChange = this.#signature !== undefined && this.#signature !== signature;
    this.#signature = signature;
    // Later: whoever reads or changes secrets is not to find himself in a listener.
    if (isChange) queueMicrotask(() => this.#listeners.forEach((listener) => listener()));
    return opened;
  }

  /** The key, made if there is none and nothing that another one would open. */
  async #takeKey(): Promise<SecretsKey> {
    const { file, lock, keysDir, keyFromEnv: fromEnv, repair, write } = this.#deps;
    return await lock.run(async () => {
      const state = file.read();
      if (isDamaged(state)) throw damagedError(state, repair);
      const found = readSecretsKey({ keysDir, fromEnv });
      const damage = keyDamage(state.value, found, keysDir);
      if (damage !== undefined) throw damagedError(damage, repair);
      if (found !== undefined && !isDamaged(found)) return found;
      await removeTemporaries(keysDir, [SECRETS_KEY_FILE]);
      await makeSecretsKey(keysDir, write);
      const made = readSecretsKey({ keysDir, fromEnv });
      if (made === undefined || isDamaged(made)) {
        throw new ServiceError("internal", `The key in "${keysDir}" is gone`);
      }
      return made;
    });
  }
}

/** What may be said of a secret, and nothing else of it. */
function copyOf({ name, hosts, commands, createdAt, updatedAt }: SecretInfo): SecretInfo {
  return { name, hosts: [...hosts], commands: [...commands], createdAt, updatedAt };
}

function byName(a: SecretInfo, b: SecretInfo): number {
  return a.name < b.name ? -1 : 1;
}
