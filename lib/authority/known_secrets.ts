/**
 * The secrets that this process knows of: those in the store and those in the configuration, as prints.
 * Whatever leaves the authority, and whatever the service says, is scrubbed by them.
 *
 * @module
 */

import type { NamedSecret } from "../config/redact.ts";
import { MIN_SECRET_CHARS } from "../secrets/forms_of.ts";
import { newSalt, printsOf } from "../secrets/prints_of.ts";
import { createScrubber, type Scrubber } from "../secrets/scrubber.ts";
import type { SecretPrint } from "../secrets/secret_print.ts";
import { isPlainSetting } from "./plain_setting.ts";
import type { SecretStore } from "../state/secret_store.ts";

/** Prints of earlier values that are kept; the oldest go first. */
const MAX_FORMER_PRINTS = 20_000;

/** What is known of secrets, as it changes. */
export class KnownSecrets {
  /** Follows every change. */
  readonly scrubber: Scrubber = createScrubber();
  readonly #salt = newSalt();
  readonly #listeners = new Set<(prints: readonly SecretPrint[]) => void>();
  #configured: readonly NamedSecret[] = [];
  #names: readonly string[] = [];
  #store: Pick<SecretStore, "revealAll"> | undefined;
  #stop = () => {};
  #prints = new Map<string, SecretPrint>();

  /** Of every secret that is known, and of former values: they may be about still, and good elsewhere. */
  get prints(): readonly SecretPrint[] {
    return [...this.#prints.values()];
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

  /** Called with all prints after each change. */
  onChange(listener: (prints: readonly SecretPrint[]) => void): void {
    this.#listeners.add(listener);
  }

  /** Follows no store any more. */
  close(): void {
    this.#stop();
    this.#listeners.clear();
  }

  #refresh(): void {
    const former = this.#prints;
    this.#prints = new Map();
    for (const { name, value } of this.#named()) {
      if (this.#isName({ value })) continue;
      for (const print of printsOf({ name, value }, this.#salt)) this.#add(print);
    }
    const isNew = [...this.#prints].some(([key, { name }]) => former.get(key)?.name !== name);
    const gone = [...former].filter(([key]) => !this.#prints.has(key));
    for (const [, print] of gone.slice(0, MAX_FORMER_PRINTS)) this.#add(print);
    if (!isNew) return;
    const { prints } = this;
    this.scrubber.update(prints);
    for (const listener of this.#listeners) listener(prints);
  }

  /** The store's first: its names are the ones that people gave. */
  #named(): readonly NamedSecret[] {
    return [...this.#store?.revealAll() ?? [], ...this.#configured];
  }

  #isName({ value }: Pick<NamedSecret, "value">): boolean {
    // Of shorter values there are no prints in any case.
    return value.length >= MIN_SECRET_CHARS && this.#names.some((name) => name.includes(value));
  }

  #add(print: SecretPrint): void {
    const key = `${print.wrapped}:${print.hash}`;
    if (!this.#prints.has(key)) this.#prints.set(key, print);
  }
}

function nameOf({ name }: NamedSecret): string {
  return name;
}
