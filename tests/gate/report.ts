// deno-lint-ignore-file no-console -- its output is what it is for
/**
 * Tells how a run goes, and at its end how it went.
 *
 * @module
 */

import { summarizeSkips } from "../support/summarize_skips.ts";
import type { BatchResult } from "./run_batch.ts";

/** How often a run that is no terminal says how far it is. */
const TELL_MS = 15_000;

/** Collects what came of checks and tests. */
export class Report {
  #passed = 0;
  #failed = 0;
  #done = 0;
  #toldAt = performance.now();
  readonly #files: number;
  readonly #leftOut: number;
  readonly #begunAt = performance.now();
  readonly #skipped: string[] = [];
  readonly #broken: string[] = [];
  readonly #unstable: string[] = [];
  readonly #durations: [files: string, ms: number][] = [];

  /** `leftOut`: test files that only the full run has. */
  constructor(files: number, { leftOut = 0 } = {}) {
    this.#files = files;
    this.#leftOut = leftOut;
  }

  /** Takes a check that is not a test; `problem` is what it printed when it failed. */
  addCheck(name: string, problem: string | undefined): void {
    if (problem === undefined) this.#passed++;
    else this.#fail(name, problem, 1);
  }

  addBatch(files: readonly string[], { cases, durationMs, failure }: BatchResult): void {
    this.#done += files.length;
    this.#durations.push([files.join(" "), durationMs]);
    for (const { name, outcome } of cases) {
      if (outcome === "skipped") this.#skipped.push(name);
      else if (outcome === "passed") this.#passed++;
    }
    if (failure !== undefined) {
      const failed = cases.filter(({ outcome }) => outcome === "failed");
      const names = new Set(failed.map(({ file }) => file));
      // A process that broke off, by a failing import say, may have counted no failure.
      this.#fail([...(names.size > 0 ? names : files)].join(" "), failure, failed.length || 1);
    }
    this.#tell();
  }

  /** Takes a file of a batch that failed, and that passes alone. */
  addUnstable(file: string): void {
    this.#unstable.push(file);
  }

  /** Shows what a failure printed. */
  tellFailure(what: string, printed: string): void {
    if (Deno.stdout.isTerminal()) this.#rewrite("");
    console.log(`FAILED ${what}\n${printed}\n`);
  }

  /** How long each process took, the longest first: seconds, a tab, its files. */
  timings(): string {
    return this.#durations.toSorted(([, a], [, b]) => b - a)
      .map(([file, ms]) => `${(ms / 1_000).toFixed(1)}\t${file}\n`).join("");
  }

  /** Prints what failed and the counts; true when nothing failed. */
  close(): boolean {
    if (Deno.stdout.isTerminal()) this.#rewrite("");
    const { lines, unexplained } = summarizeSkips(this.#skipped);
    if (lines.length > 0) console.log(`\nSkipped:\n  ${lines.join("\n  ")}`);
    if (this.#leftOut > 0) {
      console.log(`\nLeft out: ${this.#leftOut} test files. Run them with: deno task test:full`);
    }
    // A test that is left out without a word is as bad as one that fails.
    this.#failed += unexplained.length;
    this.#broken.push(...unexplained.map((name) => `skipped without a reason: ${name}`));
    if (this.#unstable.length > 0) {
      console.log(`\nRun again after a failure beside them:\n  ${this.#unstable.join("\n  ")}`);
    }
    if (this.#broken.length > 0) console.log(`\nFailed:\n  ${this.#broken.join("\n  ")}`);
    console.log(
      `${this.#passed} passed, ${this.#failed} failed, ${this.#skipped.length} skipped`,
    );
    return this.#failed === 0;
  }

  #fail(what: string, printed: string, count: number): void {
    this.#failed += count;
    this.#broken.push(what);
    this.tellFailure(what, printed);
  }

  #tell(): void {
    const seconds = Math.round((performance.now() - this.#begunAt) / 1_000);
    const text = `${this.#done} of ${this.#files} test files, ${this.#passed} passed` +
      `${this.#failed > 0 ? `, ${this.#failed} failed` : ""}, ${seconds} s`;
    if (Deno.stdout.isTerminal()) return this.#rewrite(text);
    if (performance.now() - this.#toldAt < TELL_MS && this.#done < this.#files) return;
    this.#toldAt = performance.now();
    console.log(text);
  }

  #rewrite(text: string): void {
    Deno.stdout.writeSync(new TextEncoder().encode(`\r\x1b[K${text}`));
  }
}
