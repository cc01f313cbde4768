/**
 * The secrets that this process knows of, as fingerprints: those in the store and those in the
 * configuration.
 * Whatever leaves the authority, and whatever the service says, is scrubbed by them.
 *
 * @module
 */

import type { NamedSecret } from "../config/redact.ts";
import { MIN_SECRET_CHARS } from "../secrets/forms_of.ts";
import { fingerprintsOf, newSalt } from "../secrets/fingerprints_of.ts";
import { createScrubber, type Scrubber } from "../secrets/scrubber.ts";
import type { SecretFingerprint } from "../secrets/secret_fingerprint.ts";
import { isPlainSetting } from "./plain_setting.ts";
import type { SecretStore } from "../state/secret_store.ts";

/** Fingerprints of earlier values that are kept; the oldest go first. */
const MAX_FORMER_FINGERPRINTS = 20_000;

/** What is known of secrets, as it changes. */
export class KnownSecrets {
  /** Follows every change. */
  readonly scrubber: Scrubber = createScrubber();
  readonly #salt = newSalt();
  readonly #listeners = new Set<(fingerprints: readonly SecretFingerprint[]) => void>();
  #configured: readonly NamedSecret[] = [];
  #names: readonly string[] = [];
  #store: Pick<SecretStore, "revealAll"> | undefined;
  #stop = () => {};
  #fingerprints = new Map<string, SecretFingerprint>();

  /** Of every secret that is known, and of former values: they may be about still, and good elsewhere. */
  get fingerprints(): readonly SecretFingerprint[] {
    return [...this.#fingerprints.values()];
  }

  /** Names of secrets that are not hidden, as their values stand in names that everybody sees. */
  get spelledInNames(): string[] {
    return [...new Set(this.#named().filter((secret) => this.#isName(secret)).map(nameOf))];
  }

  /** The secrets of the configuration from here on, and the names that stand for no secret. */
  configure(secrets: readonly NamedSecret[], names: readonly string[] = []): void {
    this.#configured = secrets.filter((secret) => !isPlainSetting(secret));
    this.#names = names;
    this.#refresh();
  }

  /** Takes those of the store too, now and after each change. */
  follow(store: Pick<SecretStore, "revealAll" | "onChange">): void {
    this.#store = store;
    this.#stop = store.onChange(() => this.#refresh());
    this.#refresh();
  }

  /** Called with all fingerprints after each change. */
  onChange(listener: (fingerprints: readonly SecretFingerprint[]) => void): void {
    this.#listeners.add(listener);
  }

  /** Follows no store any more. */
  close(): void {
    this.#stop();
    this.#listeners.clear();
  }

  #refresh(): void {
    const former = this.#fingerprints;
    this.#fingerprints = new Map();
    for (const { name, value } of this.#named()) {
      if (this.#isName({ value })) continue;
      for (const fingerprint of fingerprintsOf({ name, value }, this.#salt)) this.#add(fingerprint);
    }
    const isNew = [...this.#fingerprints].some(([key, { name }]) => former.get(key)?.name !== name);
    const gone = [...former].filter(([key]) => !this.#fingerprints.has(key));
    for (const [, fingerprint] of gone.slice(0, MAX_FORMER_FINGERPRINTS)) this.#add(fingerprint);
    if (!isNew) return;
    const { fingerprints } = this;
    this.scrubber.update(fingerprints);
    for (const listener of this.#listeners) listener(fingerprints);
  }

  /** The store's first: its names are the ones that people gave. */
  #named(): readonly NamedSecret[] {
    return [...this.#store?.revealAll() ?? [], ...this.#configured];
  }

  #isName({ value }: Pick<NamedSecret, "value">): boolean {
    // Of shorter values there are no fingerprints in any case.
    return value.length >= MIN_SECRET_CHARS && this.#names.some((name) => name.includes(value));
  }

  #add(fingerprint: SecretFingerprint): void {
    const key = `${fingerprint.wrapped}:${fingerprint.hash}`;
    if (!this.#fingerprints.has(key)) this.#fingerprints.set(key, fingerprint);
  }
}

function nameOf({ name }: NamedSecret): string {
  return name;
}
