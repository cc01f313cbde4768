/**
 * The place in a file that is most like a text that does not stand in it: what a model needs to see in
 * order to ask again.
 *
 * @module
 */

/** Lines of the text that are looked for; the work is their number times that of the file's. */
const MAX_TEXT_LINES = 40;
/** Lines of the file that are compared by their letters when none is the same. */
const MAX_COMPARED_LINES = 20_000;
/** Characters of a line that say what it is like. */
const MAX_COMPARED_CHARS = 200;
const MAX_SHOWN_CHARS = 2_000;
/** Of one line: a file without line breaks would show nothing else. */
const MAX_SHOWN_LINE_CHARS = 500;

/** A sentence and the nearest place with its line numbers. */
export function nearestText(file: string, text: string): string {
  const wanted = [...linesOf(text, MAX_TEXT_LINES * 4)].map(squash).filter((line) => line !== "")
    .slice(0, MAX_TEXT_LINES);
  if (wanted.length === 0) return "It holds only blanks; give text around them.";
  const same = samePlace(file, wanted);
  const best = same ?? likestLine(file, wanted[0]!);
  if ("none" in best) return best.none;

  const from = Math.max(1, best.from - 1);
  const lines = linesBetween(file, from, best.to + 1);
  const shown = lines.map((line, index) => `${from + index}: ${cut(line)}`).join("\n")
    .slice(0, MAX_SHOWN_CHARS).toWellFormed();
  const place = lines.slice(best.from - from, best.to - from + 1).join("\n");
  const why = same?.isWhole ? difference(place, text) : "The nearest place";
  return `${why}, at line ${best.from} (number and colon are not part of the file):\n${shown}`;
}

/** What is not the same in two texts that say the same. */
function difference(place: string, text: string): string {
  const found: string[] = [];
  const areBoth = (form: "NFC" | "NFD") =>
    place.normalize(form) === place && text.normalize(form) === text;
  if (!areBoth("NFC") && !areBoth("NFD")) {
    found.push("how letters with marks are written (Unicode normal forms)");
  }
  if (asciiMarks(place) !== place || asciiMarks(text) !== text) {
    found.push("quotation marks, dashes or blanks that are not ASCII");
  }
  if (place.includes("\t") !== text.includes("\t")) {
    found.push(place.includes("\t") ? "tabs, which the file has" : "tabs, which the file has not");
  }
  return found.length === 0
    ? "Only blanks or line breaks differ"
    : `Only blanks, line breaks or these differ: ${found.join("; ")}`;
}

/** What a reader takes for the same: one blank for any, none around, one form of each letter and mark. */
function squash(line: string): string {
  return asciiMarks(line.normalize("NFC")).trim().replace(/\s+/g, " ");
}

function asciiMarks(text: string): string {
  // Most lines have none.
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return text.replace(/[\u2018\u2019]/g, "'").replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-").replace(/[\u00a0\u2000-\u200a\u202f\u3000]/g, " ");
}

interface Place {
  /** Lines, counted from 1; both are part of it. */
  from: number;
  to: number;
  isWhole: boolean;
}

/**
 * Where most of the wanted lines stand one after another, blank lines left out on both sides; undefined
 * where none stands. One pass, which holds as many places at a time as there are wanted lines.
 */
function samePlace(file: string, wanted: readonly string[]): Place | undefined {
  const indexes = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    indexes.set(line, [...indexes.get(line) ?? [], index]);
  }
  const { length } = wanted;
  // By the number of a place's first line, lines that are not blank counted, modulo their number.
  const scores = new Array<number>(length).fill(0);
  const starts = new Array<number>(length).fill(0);
  let best: (Place & { score: number }) | undefined;
  let number = 0;
  let count = 0;
  const close = (slot: number, to: number) => {
    const score = scores[slot]!;
    if (score > (best?.score ?? 0)) {
      best = { score, from: starts[slot]!, to, isWhole: score === length };
    }
    scores[slot] = 0;
  };
  for (const raw of linesOf(file)) {
    number++;
    // A file may have millions of these.
    if (raw === "") continue;
    const line = squash(raw);
    if (line === "") continue;
    const slot = count % length;
    // Whoever had this slot ended with the line before.
    starts[slot] = number;
    for (const index of indexes.get(line) ?? []) {
      if (index <= count) scores[(count - index) % length]!++;
    }
    count++;
    close(count % length, number);
    if (best?.isWhole) break;
  }
  for (let slot = 0; slot < length; slot++) close(slot, number);
  return best;
}

/** No line is the same: the one that shares most pairs of characters with the first one wanted. */
function likestLine(file: string, wanted: string): Place | { none: string } {
  const pairs = pairsOf(wanted);
  let best = { line: 0, score: 0 };
  let number = 0;
  for (const raw of linesOf(file, MAX_COMPARED_LINES + 1)) {
    if (++number > MAX_COMPARED_LINES) break;
    const others = pairsOf(squash(raw.slice(0, 4 * MAX_COMPARED_CHARS)));
    let shared = 0;
    for (const pair of others) if (pairs.has(pair)) shared++;
    const score = 2 * shared / (pairs.size + others.size || 1);
    if (score > best.score) best = { line: number, score };
  }
  if (best.score > 0.4) return { from: best.line, to: best.line, isWhole: false };
  const lines = number > MAX_COMPARED_LINES ? `of its first ${MAX_COMPARED_LINES} lines` : "of it";
  return { none: `No line ${lines} is like any line there; read the file again.` };
}

function pairsOf(text: string): Set<string> {
  const pairs = new Set<string>();
  const end = Math.min(text.length, MAX_COMPARED_CHARS) - 1;
  for (let at = 0; at < end; at++) pairs.add(text.slice(at, at + 2));
  return pairs;
}

/** Lines without their ends, one at a time: a file may have millions. */
function* linesOf(text: string, max = Infinity): Generator<string> {
  let at = 0;
  for (let count = 0; count < max; count++) {
    const end = text.indexOf("\n", at);
    if (end === -1) {
      yield text.slice(at);
      return;
    }
    yield text.slice(at, end > at && text[end - 1] === "\r" ? end - 1 : end);
    at = end + 1;
  }
}

function linesBetween(text: string, from: number, to: number): string[] {
  const lines: string[] = [];
  let number = 0;
  for (const line of linesOf(text, to)) if (++number >= from) lines.push(line);
  return lines;
}

function cut(line: string): string {
  return line.length <= MAX_SHOWN_LINE_CHARS ? line : `${line.slice(0, MAX_SHOWN_LINE_CHARS)}…`;
}
