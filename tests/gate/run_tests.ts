/**
 * Runs test files in several processes at once.
 *
 * @module
 */

import { type BatchResult, runBatch } from "./run_batch.ts";

/** How they are run. */
export interface RunTestsOptions {
  root: string;
  /** Processes at once. */
  jobs: number;
  env: Record<string, string>;
  /** Called with what came of each batch as soon as it has ended. */
  onResult: (files: readonly string[], result: BatchResult) => void;
}

/** Runs batches in their order, each as soon as a process is free for it. */
export async function runTests(
  batches: readonly string[][],
  { jobs, onResult, ...options }: RunTestsOptions,
): Promise<void> {
  const waiting = batches.values();
  await Promise.all(Array.from({ length: jobs }, async () => {
    for (const files of waiting) {
      onResult(files, await runBatch(files, options));
    }
  }));
}
