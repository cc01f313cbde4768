/**
 * Compares names with a glob in bounded time, however the glob and the names are made: no regular
 * expression, and never more than one place to go back to.
 *
 * @module
 */

/**
 * Whether the names of a path are those of a pattern: `*` and `?` stand for part of a name, a name `**`
 * for any number of names, none too.
 */
export function matchNames(pattern: readonly string[], names: readonly string[]): boolean {
  return match(pattern, names, "**", matchName);
}

/** Whether a pattern may match something below the folder that the names lead to. */
export function mayMatchBelow(pattern: readonly string[], folder: readonly string[]): boolean {
  // Every place in the pattern where the folder's names may have led.
  let places = new Set([0]);
  for (const name of folder) {
    const next = new Set<number>();
    for (const place of places) {
      let at = place;
      for (; pattern[at] === "**"; at++) next.add(at);
      const part = pattern[at];
      if (part !== undefined && matchName(part, name)) next.add(at + 1);
    }
    places = next;
  }
  return [...places].some((at) => at < pattern.length);
}

/** Whether one name is what a pattern with `*` and `?` says. */
export function matchName(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  const star = pattern.indexOf("*");
  if (!pattern.includes("?")) {
    if (star < 0) return false;
    // Most patterns have one star, which needs no going back.
    if (star === pattern.lastIndexOf("*")) {
      return name.length >= pattern.length - 1 && name.startsWith(pattern.slice(0, star)) &&
        name.endsWith(pattern.slice(star + 1));
    }
  }
  return match([...pattern], [...name], "*", (one, char) => one === "?" || one === char);
}

/** The first star that does not fit takes one more; only the last star is ever gone back to. */
function match<T extends string>(
  pattern: readonly T[],
  items: readonly T[],
  star: string,
  same: (pattern: T, item: T) => boolean,
): boolean {
  let at = 0;
  let index = 0;
  let lastStar = -1;
  let taken = 0;
  while (index < items.length) {
    const part = pattern[at];
    if (part === star) {
      lastStar = at++;
      taken = index;
    } else if (part !== undefined && same(part, items[index]!)) {
      at++;
      index++;
    } else if (lastStar >= 0) {
      at = lastStar + 1;
      index = ++taken;
    } else return false;
  }
  while (pattern[at] === star) at++;
  return at === pattern.length;
}
