/**
 * Finds out whether a known form stands at a place of a text.
 *
 * Work is bounded by the place, not by the form: most places are no beginning of any form, most
 * beginnings are dismissed by the first check, and each further check is paid for by the one before.
 *
 * @module
 */

import { codeSeed, hashForm, shortCode } from "./form_hash.ts";
import type { SecretFingerprint } from "./secret_fingerprint.ts";
import { mayBreak, unwrap } from "./unwrap.ts";

/** What is known of a place. */
export type Finding =
  /** The longest form that stands there. */
  | { name: string; end: number }
  /** To be asked again when the text has at least so many characters more. */
  | { missing: number };

/** Fingerprints that begin alike and are looked at together. */
interface Group {
  salt: string;
  seed: number;
  wrapped: boolean;
  fingerprints: SecretFingerprint[];
}

const PAIRS = 1 << 14;
const BREAKS = [0x0a, 0x0d, 0x5c];

/** Fingerprints, sorted for looking up. Never changes. */
export class FingerprintTable {
  readonly #plain = new Map<string, Group[]>();
  readonly #wrapped = new Map<string, Group[]>();
  /** What prefixes begin with, without being whole. */
  readonly #beginnings = new Set<string>();
  readonly #wrappedBeginnings = new Set<string>();
  readonly #prefixLengths: number[];
  readonly #maxPrefix: number;
  /** Whether two characters beside each other may begin a form, by a hash of them. */
  readonly #pairs = new Uint8Array(PAIRS);
  readonly isEmpty: boolean;

  constructor(fingerprints: readonly SecretFingerprint[]) {
    this.isEmpty = fingerprints.length === 0;
    const lengths = new Set<number>();
    for (const fingerprint of fingerprints) {
      const { prefix, wrapped } = fingerprint;
      lengths.add(prefix.length);
      addTo(wrapped ? this.#wrapped : this.#plain, fingerprint);
      const beginnings = wrapped ? this.#wrappedBeginnings : this.#beginnings;
      for (let length = 1; length < prefix.length; length++) {
        beginnings.add(prefix.slice(0, length));
      }
      const first = prefix.charCodeAt(0);
      this.#pairs[pairOf(first, prefix.charCodeAt(1))] = 1;
      if (wrapped) { for (const second of BREAKS) this.#pairs[pairOf(first, second)] = 1; }
    }
    this.#prefixLengths = [...lengths];
    this.#maxPrefix = Math.max(0, ...lengths);
  }

  /** The first place from `at` on that may begin a form. Of the last character that is not known. */
  next(text: string, at: number): number {
    const last = text.length - 1;
    if (at >= last) return at;
    const pairs = this.#pairs;
    let first = text.charCodeAt(at);
    for (; at < last; at++) {
      const second = text.charCodeAt(at + 1);
      if (pairs[pairOf(first, second)] === 1) return at;
      first = second;
    }
    return at;
  }

  /** What stands at `at`. With `isWhole` the text is over, and nothing is ever missing. */
  find(text: string, at: number, isWhole: boolean): Finding | undefined {
    const look = new Look(text, at, isWhole);
    this.#look(look, text, at, isWhole);
    return look.finding;
  }

  #look(look: Look, text: string, at: number, isWhole: boolean): void {
    const start = text.slice(at, at + this.#maxPrefix);
    // A break within the first characters is looked over where one may stand.
    const unwrapped = hasBreak(start) ? unwrap(text, at, this.#maxPrefix) : undefined;
    const begins = unwrapped?.text ?? start;
    for (const length of this.#prefixLengths) {
      if (start.length >= length) look.at(this.#plain.get(start.slice(0, length)));
      if (begins.length >= length) look.at(this.#wrapped.get(begins.slice(0, length)));
    }
    if (isWhole) return;
    if (at + start.length === text.length && this.#beginnings.has(start)) look.missing(1);
    const isOpen = unwrapped?.isOpen ?? at + start.length === text.length;
    if (isOpen && this.#wrappedBeginnings.has(begins)) look.missing(1);
  }
}

/** What one place turns out to be. */
class Look {
  #end = 0;
  #name = "";
  #missing = Infinity;

  constructor(readonly text: string, readonly from: number, readonly isWhole: boolean) {}

  get finding(): Finding | undefined {
    if (this.#missing !== Infinity) return { missing: this.#missing };
    return this.#end === 0 ? undefined : { name: this.#name, end: this.#end };
  }

  missing(chars: number): void {
    this.#missing = Math.min(this.#missing, chars);
  }

  at(groups: readonly Group[] | undefined): void {
    for (const group of groups ?? []) this.#atGroup(group);
  }

  #atGroup({ salt, seed, wrapped, fingerprints }: Group): void {
    const codes = new Map<number, number>();
    const hashes = new Map<number, string>();
    const read = (length: number) =>
      wrapped ? unwrap(this.text, this.from, length) : this.#slice(length);
    next: for (const { name, length, checks, hash } of fingerprints) {
      for (const check of checks) {
        let code = codes.get(check.length);
        if (code === undefined) {
          const { text, isOpen } = read(check.length);
          if (text.length < check.length) {
            if (isOpen && !this.isWhole) this.missing(check.length - text.length);
            continue next;
          }
          codes.set(check.length, code = shortCode(seed, text));
        }
        if ((code & ((1 << check.bits) - 1)) !== check.code) continue next;
      }
      const { text, end, isOpen } = read(length);
      if (text.length < length) {
        if (isOpen && !this.isWhole) this.missing(length - text.length);
        continue;
      }
      let found = hashes.get(length);
      if (found === undefined) hashes.set(length, found = hashForm(salt, text));
      if (found === hash && end > this.#end) {
        this.#end = end;
        this.#name = name;
      }
    }
  }

  #slice(length: number) {
    const end = this.from + length;
    return { text: this.text.slice(this.from, end), end, isOpen: true };
  }
}

function addTo(map: Map<string, Group[]>, fingerprint: SecretFingerprint): void {
  const { prefix, salt, wrapped } = fingerprint;
  const groups = map.get(prefix) ?? [];
  map.set(prefix, groups);
  const group = groups.find((one) => one.salt === salt);
  if (group === undefined) {
    groups.push({ salt, seed: codeSeed(salt), wrapped, fingerprints: [fingerprint] });
  } else group.fingerprints.push(fingerprint);
}

function pairOf(first: number, second: number): number {
  return (first * 127 + second) & (PAIRS - 1);
}

function hasBreak(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (mayBreak(text.charCodeAt(at))) return true;
  return false;
}
