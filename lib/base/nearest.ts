/**
 * The name that was probably meant.
 *
 * @module
 */

/**
 * How many letters have to be added, dropped, changed or swapped with their neighbour to get from
 * one text to the other (optimal string alignment).
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, beforeLast[j - 2]! + 1);
      }
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

/**
 * The candidate nearest to what was typed, or undefined when none is near: at most a third of its
 * letters differ (at least one may), or one begins with the other from three letters on. `fold`
 * takes away what does not count, by default the case.
 */
export function nearest(
  typed: string,
  candidates: Iterable<string>,
  fold: (name: string) => string = (name) => name.toLowerCase(),
): string | undefined {
  const wanted = fold(typed);
  // Nobody means a name of a few letters by a text of hundreds; the distance costs their product.
  if (wanted.length === 0 || wanted.length > 100) return undefined;
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const name = fold(candidate);
    const distance = editDistance(wanted, name);
    const near = distance <= Math.max(1, Math.floor(Math.max(wanted.length, name.length) / 3)) ||
      (wanted.length >= 3 && (name.startsWith(wanted) || wanted.startsWith(name)));
    if (near && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}
