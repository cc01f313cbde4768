/**
 * The newest lines of a log, in memory: for who follows it over a port, wherever it is written to.
 *
 * @module
 */

/** A line. */
export interface RecentLine {
  /** Rises by one from line to line, and over restarts. */
  seq: number;
  text: string;
}

/** Lines that are kept. */
const MAX_LINES = 2_000;

/** Characters of a line that are kept. */
const MAX_CHARS = 4_000;

/** The newest lines of a log. */
export class RecentLines {
  /** Twice as many at most, so that dropping some is rare. */
  #lines: string[] = [];
  /** Number of the first. */
  #first: number;

  /** `startedAt`: milliseconds since 1970, from which lines are counted in microseconds. */
  constructor(startedAt: number = Date.now()) {
    this.#first = startedAt * 1_000 + 1;
  }

  add(line: string): void {
    const isLong = line.length > MAX_CHARS;
    this.#lines.push(isLong ? `${line.slice(0, MAX_CHARS).toWellFormed()}…` : line);
    if (this.#lines.length < 2 * MAX_LINES) return;
    this.#first += this.#lines.splice(0, MAX_LINES).length;
  }

  /**
   * The first `limit` lines after a number, or the newest without one. `missed`: some between are gone.
   */
  read(after: number | undefined, limit: number): { lines: RecentLine[]; missed: boolean } {
    const from = after === undefined
      ? Math.max(0, this.#lines.length - limit)
      : Math.max(0, after + 1 - this.#first);
    return {
      lines: this.#lines.slice(from, from + limit)
        .map((text, index) => ({ seq: this.#first + from + index, text })),
      missed: after !== undefined && after + 1 < this.#first,
    };
  }
}
