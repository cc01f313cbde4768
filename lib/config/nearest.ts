/**
 * The known key that was probably meant.
 *
 * @module
 */

/**
 * The candidate that differs from `typed` in at most a third of its letters (at least one may), case
 * and underscores aside, or that one of them begins with from three letters on; else undefined.
 */
export function nearestKey(typed: string, candidates: readonly string[]): string | undefined {
  const wanted = fold(typed);
  // The distance costs the product of the lengths, and nobody means a key by hundreds of letters.
  if (wanted === "" || wanted.length > 60) return undefined;
  let best: { key: string; distance: number } | undefined;
  for (const key of candidates) {
    const name = fold(key);
    const distance = editDistance(wanted, name);
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, name.length) / 3));
    const begins = wanted.length >= 3 && (name.startsWith(wanted) || wanted.startsWith(name));
    if ((distance <= allowed || begins) && distance < (best?.distance ?? Infinity)) {
      best = { key, distance };
    }
  }
  return best?.key;
}

function fold(key: string): string {
  return key.replaceAll("_", "").replaceAll("-", "").toLowerCase();
}

/** Letters to add, drop, change, or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? beforeLast[j - 2]! + 1 : Infinity;
      row.push(Math.min(change, last[j]! + 1, row[j - 1]! + 1, swap));
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
