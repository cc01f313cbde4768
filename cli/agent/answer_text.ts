/**
 * Makes one text of the segments of a turn.
 *
 * @module
 */

/**
 * Joins deltas as they come: the segments of a turn with a blank line between two, and without the
 * line ends before and after them, so that whoever prints it can end it with exactly one.
 */
export class AnswerText {
  #hasText = false;
  #atSegmentStart = true;
  /** Line ends that belong to the text only if more of the segment follows. */
  #held = "";

  /** Some text has come. */
  get hasText(): boolean {
    return this.#hasText;
  }

  /** Takes a delta and returns what to print now; empty when it all depends on what follows. */
  add(delta: string): string {
    const text = this.#held + delta;
    const start = this.#atSegmentStart ? lineEndsAt(text, 0, 1) : 0;
    const end = lineEndsAt(text, text.length - 1, -1) + 1;
    if (end <= start) {
      this.#held = this.#atSegmentStart ? "" : text;
      return "";
    }
    const gap = this.#atSegmentStart && this.#hasText ? "\n\n" : "";
    this.#hasText = true;
    this.#atSegmentStart = false;
    this.#held = text.slice(end);
    return gap + text.slice(start, end);
  }

  /** The segment is over; a next delta begins another. */
  endSegment(): void {
    this.#held = "";
    this.#atSegmentStart = true;
  }
}

/** The first place from `at` on, in steps, that is no line end. */
function lineEndsAt(text: string, at: number, step: 1 | -1): number {
  while (text[at] === "\n" || text[at] === "\r") at += step;
  return at;
}
