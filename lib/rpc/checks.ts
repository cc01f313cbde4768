/**
 * Checks for what an untrusted end says. They rebuild the value, so that nothing undeclared passes, and
 * name the field that is wrong.
 *
 * @module
 */

import type { Check } from "./endpoint.ts";

/** Takes whatever it is. */
export const anything: Check<unknown> = (value) => value;

/** For an answer that says nothing but that something is done. */
export const nothing: Check<void> = () => {};

/** Takes a string of at most so many characters. */
export function text(maxChars = Infinity): Check<string> {
  return (value) => {
    if (typeof value !== "string") throw new TypeError("expected text");
    if (value.length > maxChars) throw new TypeError(`expected at most ${maxChars} characters`);
    return value;
  };
}

/** Characters of one text of progress. */
export const MAX_PROGRESS_CHARS = 4_000;

/** Takes a text of progress; what is longer is cut. */
export const progressText: Check<string> = (value) => text()(value).slice(0, MAX_PROGRESS_CHARS);

/** Takes true and false. */
export const flag: Check<boolean> = (value) => {
  if (typeof value !== "boolean") throw new TypeError("expected true or false");
  return value;
};

/** Takes a whole number. */
export const whole: Check<number> = (value) => {
  if (!Number.isSafeInteger(value)) throw new TypeError("expected a whole number");
  return value as number;
};

/** Takes an array of at most so many items. */
export function list<T>(item: Check<T>, maxItems = Infinity): Check<T[]> {
  return (value) => {
    if (!Array.isArray(value)) throw new TypeError("expected a list");
    if (value.length > maxItems) throw new TypeError(`expected at most ${maxItems} items`);
    return value.map((each) => item(each));
  };
}

/** Takes an object with these fields. */
export function shape<T extends object>(fields: { [K in keyof T]: Check<T[K]> }): Check<T> {
  return (value) => {
    const given = (value ?? {}) as Record<string, unknown>;
    const entries = Object.entries<Check<unknown>>(fields).map(([name, check]) => {
      try {
        return [name, check(given[name])];
      } catch (error) {
        throw new TypeError(`${name}: ${(error as Error).message}`);
      }
    });
    return Object.fromEntries(entries);
  };
}

/** Takes one of several shapes, told apart by `type`. */
export function variants<T extends { type: string }>(
  of: { [K in T["type"]]: Check<Omit<Extract<T, { type: K }>, "type">> },
): Check<T> {
  return (value) => {
    const { type } = (value ?? {}) as { type?: unknown };
    if (typeof type !== "string" || !Object.hasOwn(of, type)) {
      throw new TypeError(`type: expected one of ${Object.keys(of).join(", ")}`);
    }
    return { type, ...of[type as T["type"]](value) } as unknown as T;
  };
}
