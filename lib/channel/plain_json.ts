/**
 * Plain JSON out of data of another thread: a copy, and bounded. What was cloned can hold one object many
 * times over, so that a small message is a text without end, and it can hold itself.
 *
 * @module
 */

/** Levels of arrays and objects. */
const MAX_DEPTH = 32;

/**
 * A copy of a value that is plain JSON of at most `maxChars` characters as a text, give or take what
 * escapes add; undefined for any other. Members that are undefined are left out.
 */
export function plainJson(value: unknown, maxChars: number): unknown {
  let left = maxChars;

  function copy(value: unknown, depth: number): unknown {
    left -= 1;
    if (left < 0 || depth > MAX_DEPTH) throw new NotPlain();
    switch (typeof value) {
      case "string":
        left -= value.length + 1;
        if (left < 0) throw new NotPlain();
        return value;
      case "number":
        left -= 3;
        if (!Number.isFinite(value)) throw new NotPlain();
        return value;
      case "boolean":
        left -= 4;
        return value;
      case "object":
        break;
      default:
        throw new NotPlain();
    }
    if (value === null) return value;
    if (Array.isArray(value)) {
      // A hole is nothing that JSON has, and a length costs nothing to claim.
      if (value.length > left) throw new NotPlain();
      return Array.from(value, (item) => copy(item, depth + 1));
    }
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) throw new NotPlain();
    const entries: [string, unknown][] = [];
    for (const key in value) {
      const item = (value as Record<string, unknown>)[key];
      if (item === undefined) continue;
      left -= key.length + 3;
      if (left < 0) throw new NotPlain();
      entries.push([key, copy(item, depth + 1)]);
    }
    return Object.fromEntries(entries);
  }

  try {
    return copy(value, 0);
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

class NotPlain extends Error {}
