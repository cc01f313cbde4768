/**
 * Runs test files in a process of `deno test`.
 *
 * @module
 */

import { resolve } from "@std/path";
import { readJunit, type TestCase } from "./junit.ts";

/** A process that says nothing for so long hangs. The longest test takes half of it. */
const SILENCE_MS = 480_000;

const STILL_RUNS = /has been running for over/;

/** What came of a batch. */
export interface BatchResult {
  cases: TestCase[];
  /** What it printed, when something failed. */
  failure?: string;
  /** How long it took, loading included, milliseconds. */
  durationMs: number;
}

/** How batches are run. */
export interface BatchOptions {
  /** Folder of the project, with a slash at its end. */
  root: string;
  env: Record<string, string>;
  /** How long it may say nothing, milliseconds; default: 480,000. */
  silenceMs?: number;
}

/**
 * Runs files one after the other, in one realm, so that what they import is loaded once. What they print
 * is kept, and given only when one of them fails.
 */
export async function runBatch(
  files: readonly string[],
  { root, env, silenceMs = SILENCE_MS }: BatchOptions,
): Promise<BatchResult> {
  const folder = await Deno.makeTempDir({ prefix: "batch-" });
  const report = `${folder}/report.xml`;
  const entry = `${folder}/batch_test.ts`;
  const begunAt = performance.now();
  const hung = new AbortController();
  let silence: ReturnType<typeof setTimeout> | undefined;
  try {
    const imports = files.map((file) => `import ${JSON.stringify(resolve(root, file))};\n`);
    await Deno.writeTextFile(entry, imports.join(""));
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["test", "-A", "--no-check", "--cached-only", "--frozen", "--lock=deno.lock"],
        ...[`--junit-path=${report}`, files.length === 1 ? files[0]! : entry],
      ],
      cwd: root,
      env: { ...env, NO_COLOR: "1" },
      stdout: "piped",
      stderr: "piped",
      signal: hung.signal,
    }).spawn();
    const printed: string[] = [];
    const follow = async (stream: ReadableStream<Uint8Array>) => {
      const texts: AsyncIterable<string> = stream.pipeThrough(new TextDecoderStream() as never);
      for await (const text of texts) {
        printed.push(text);
        // Deno itself says every now and then that a test still runs.
        if (STILL_RUNS.test(text)) continue;
        clearTimeout(silence);
        silence = setTimeout(() => hung.abort(), silenceMs);
      }
    };
    const [{ success }] = await Promise.all([
      child.status,
      follow(child.stdout),
      follow(child.stderr),
    ]);
    const durationMs = performance.now() - begunAt;
    const cases = readJunit(await Deno.readTextFile(report).catch(() => ""));
    if (success) return { cases, durationMs };
    const end = hung.signal.aborted
      ? `\nNothing was printed for ${silenceMs / 1_000} s, so it was ended.`
      : "";
    return { cases, durationMs, failure: tellingPart(printed.join("")) + end };
  } finally {
    clearTimeout(silence);
    await Deno.remove(folder, { recursive: true });
  }
}

/** The errors that `deno test` lists at its end; else the end of it all, since it broke off before. */
function tellingPart(printed: string): string {
  const errors = printed.indexOf("\n ERRORS \n");
  if (errors === -1) return printed.slice(-6_000);
  return printed.slice(errors + " ERRORS \n".length + 1, printed.indexOf("\n FAILURES \n"));
}
