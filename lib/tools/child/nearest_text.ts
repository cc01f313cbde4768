/**
 * The place in a file that is most like a text that does not stand in it: what a model needs to see in
 * order to ask again.
 *
 * @module
 */

/** Lines of the file and of the text that are compared; the work is their product. */
const MAX_FILE_LINES = 20_000;
const MAX_TEXT_LINES = 40;
const MAX_SHOWN_CHARS = 2_000;

/** A sentence and the nearest place with its line numbers. */
export function nearestText(file: string, text: string): string {
  const lines = file.split(/\r?\n/, MAX_FILE_LINES);
  const wanted = text.split(/\r?\n/).map(squash).filter((line) => line !== "")
    .slice(0, MAX_TEXT_LINES);
  if (wanted.length === 0) return "It holds only blanks; give text around them.";
  const squashed = lines.map(squash);
  const best = bestPlace(squashed, wanted);
  if (best === undefined) return "No line of it is like any line there; read the file again.";

  const from = Math.max(0, best.line - 1);
  const to = Math.min(lines.length, best.line + wanted.length + 1);
  const shown = lines.slice(from, to).map((line, index) => `${from + index + 1}: ${line}`)
    .join("\n").slice(0, MAX_SHOWN_CHARS).toWellFormed();
  const why = best.isSame ? "Only blanks or line breaks differ" : "The nearest place";
  return `${why}, at line ${best.line + 1} (number and colon are not part of the file):\n${shown}`;
}

/** Blanks inside as one, none around. */
function squash(line: string): string {
  return line.trim().replace(/\s+/g, " ");
}

function bestPlace(
  lines: readonly string[],
  wanted: readonly string[],
): { line: number; isSame: boolean } | undefined {
  let best = { line: 0, score: 0 };
  for (let line = 0; line < lines.length; line++) {
    let score = 0;
    for (let index = 0, at = line; index < wanted.length && at < lines.length; at++) {
      // Blank lines were left out of what is wanted.
      if (lines[at] === "" && index > 0) continue;
      if (lines[at] === wanted[index]) score++;
      index++;
    }
    if (score > best.score) best = { line, score };
  }
  if (best.score > 0) return { line: best.line, isSame: best.score === wanted.length };
  return likestLine(lines, wanted[0]!);
}

/** No line is the same: the one that shares most pairs of characters with the first one wanted. */
function likestLine(
  lines: readonly string[],
  wanted: string,
): { line: number; isSame: boolean } | undefined {
  const pairs = pairsOf(wanted);
  let best = { line: 0, score: 0 };
  for (const [line, text] of lines.entries()) {
    const others = pairsOf(text);
    let shared = 0;
    for (const pair of others) if (pairs.has(pair)) shared++;
    const score = 2 * shared / (pairs.size + others.size || 1);
    if (score > best.score) best = { line, score };
  }
  return best.score > 0.4 ? { line: best.line, isSame: false } : undefined;
}

function pairsOf(text: string): Set<string> {
  const pairs = new Set<string>();
  const end = Math.min(text.length, 200) - 1;
  for (let at = 0; at < end; at++) pairs.add(text.slice(at, at + 2));
  return pairs;
}
