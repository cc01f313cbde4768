/**
 * Takes the values of secrets out of whatever leaves, and puts a placeholder that names the secret:
 * `[secret NAME]`. One implementation for the authority and the service; the
 * latter has fingerprints and never a value.
 *
 * @module
 */

import { FingerprintTable } from "./fingerprint_table.ts";
import type { SecretFingerprint } from "./secret_fingerprint.ts";
import { ScrubStream } from "./scrub_stream.ts";

/** A text that comes in pieces. */
export interface ScrubbedPieces {
  push(text: string): void;
  /** Says what is held back at a stop in the text; what of a secret comes after it is not said. */
  flush(): void;
  /** There is no more; what was held back is said now. */
  end(): void;
}

/** Takes secrets out. */
export interface Scrubber {
  text(text: string): string;
  /**
   * Of plain JSON, in its keys and texts, and a number that is a secret by itself. Gives the very same
   * value when there is nothing to take out. What is deeper than 500 levels becomes a text that says so.
   */
  value<T>(value: T): T;
  /**
   * Of texts that are pieces of one stream; `emit` is called with what may go on, never with an empty
   * text. Only what may begin a secret is held back, and together the same comes out as from `text`.
   */
  pieces(emit: (text: string) => void): ScrubbedPieces;
  /** The fingerprints in force from here on, also for streams that are under way. */
  update(fingerprints: readonly SecretFingerprint[]): void;
}

/** A text that is a secret by itself, with nothing around it. */
const WHOLE = /^\[secret [^\]]+\]$/;

const MAX_DEPTH = 500;
const TOO_DEEP = `[left out: more than ${MAX_DEPTH} levels deep]`;

/** A scrubber of the secrets of these fingerprints. */
export function createScrubber(fingerprints: readonly SecretFingerprint[] = []): Scrubber {
  let table = new FingerprintTable(fingerprints);

  function scrubText(text: string): string {
    if (table.isEmpty || text === "") return text;
    const stream = new ScrubStream(() => table);
    return stream.push(text) + stream.end();
  }

  function scrubValue(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return scrubText(value);
    if (typeof value === "number") {
      const scrubbed = scrubText(String(value));
      return WHOLE.test(scrubbed) ? scrubbed : value;
    }
    if (typeof value !== "object" || value === null) return value;
    // A model can nest what it likes, and the stack ends.
    if (depth === MAX_DEPTH) return TOO_DEEP;
    if (Array.isArray(value)) {
      const items = value.map((item) => scrubValue(item, depth + 1));
      return items.some((item, at) => item !== value[at]) ? items : value;
    }
    if (!isPlain(value)) return value;
    let changed = false;
    const entries = Object.entries(value).map(([key, item]) => {
      const entry: [string, unknown] = [scrubText(key), scrubValue(item, depth + 1)];
      changed ||= entry[0] !== key || entry[1] !== item;
      return entry;
    });
    return changed ? Object.fromEntries(entries) : value;
  }

  return {
    text: scrubText,
    value: <T>(value: T) => table.isEmpty ? value : scrubValue(value) as T,
    pieces(emit) {
      const stream = new ScrubStream(() => table);
      const say = (text: string) => text !== "" && emit(text);
      return {
        push: (text) => void say(stream.push(text)),
        flush: () => void say(stream.flush()),
        end: () => void say(stream.end()),
      };
    },
    update(next) {
      table = new FingerprintTable(next);
    },
  };
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
