/**
 * How a benchmark says what it found: figures, each against another of the same run, because only a
 * ratio means the same on every machine. As a table, or with `--json` as one JSON object.
 *
 * @module
 */

/** One figure. */
export interface Figure {
  name: string;
  value: number;
  /** Such as `us`, `ms`, `MB`, `1/s`. */
  unit: string;
  /** What it is compared with, in the same unit. */
  against?: { name: string; value: number };
  /** Bounds of the ratio, or of the value where nothing is compared. */
  aim?: { atMost?: number; atLeast?: number };
}

/** A figure with what follows from it. */
export interface JudgedFigure extends Figure {
  /** `value` to `against.value`. */
  ratio?: number;
  /** Undefined where nothing is aimed at. */
  met?: boolean;
}

/** Where a report goes. */
export interface ReportOptions {
  json: boolean;
  write?: (text: string) => void;
}

/** Adds ratio and judgement to a figure. */
export function judge(figure: Figure): JudgedFigure {
  const { value, against, aim } = figure;
  const ratio = against && value / against.value;
  if (aim === undefined) return { ...figure, ratio };
  const { atMost = Infinity, atLeast = -Infinity } = aim;
  const judged = ratio ?? value;
  return { ...figure, ratio, met: judged <= atMost && judged >= atLeast };
}

/** Prints the figures of a benchmark; returns whether every aim was met. */
export function report(
  name: string,
  figures: readonly Figure[],
  { json, write = writeOut }: ReportOptions,
): boolean {
  const judged = figures.map(judge);
  if (json) {
    write(`${JSON.stringify({ bench: name, deno: Deno.version.deno, figures: judged })}\n`);
  } else {
    const rows = judged.map(toCells);
    const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
    const lines = rows.map((row) =>
      row.map((cell, column) =>
        column === 1 || column === 2 ? cell.padStart(widths![column]!) : cell.padEnd(
          widths![column]!,
        )
      ).join("  ").trimEnd()
    );
    write(`${name}\n${lines.map((line) => `  ${line}\n`).join("")}`);
  }
  return judged.every(({ met }) => met !== false);
}

/** The middle value. Throws when there is none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new RangeError("Cannot take the median of no values");
  return middle;
}

function toCells({ name, value, unit, against, ratio, aim, met }: JudgedFigure): string[] {
  const bounds = [
    ...aim?.atMost === undefined ? [] : [`at most ${aim.atMost}`],
    ...aim?.atLeast === undefined ? [] : [`at least ${aim.atLeast}`],
  ].join(", ");
  return [
    name,
    `${round(value)} ${unit}`,
    ratio === undefined ? "" : `${ratio.toFixed(2)} x`,
    against === undefined ? "" : against.name,
    bounds && `aim ${bounds}: ${met ? "met" : "MISSED"}`,
  ];
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function writeOut(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}
