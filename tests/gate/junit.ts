/**
 * Reads the report that `deno test --junit-path` writes.
 *
 * @module
 */

/** One test, or a step of one, of a report. */
export interface TestCase {
  /** As the report has it: a step's name follows its test's, after ` > `. */
  name: string;
  /** Relative to the folder that the tests ran in. */
  file: string;
  outcome: "passed" | "failed" | "skipped";
}

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

/** Every test and step of a report, in its order. */
export function readJunit(xml: string): TestCase[] {
  const cases: TestCase[] = [];
  const pattern = /<testcase name="([^"]*)" classname="([^"]*)"[^>]*>([\s\S]*?)<\/testcase>/g;
  for (const [, name, file, body] of xml.matchAll(pattern)) {
    const outcome = /<(failure|error)[ >]/.test(body!)
      ? "failed"
      : body!.includes("<skipped")
      ? "skipped"
      : "passed";
    cases.push({ name: unescape(name!), file: unescape(file!).replace(/^\.\//, ""), outcome });
  }
  return cases;
}

function unescape(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|([a-z]+));/gi,
    (whole, hex, decimal, name) =>
      hex !== undefined
        ? String.fromCodePoint(parseInt(hex, 16))
        : decimal !== undefined
        ? String.fromCodePoint(Number(decimal))
        : ENTITIES[name] ?? whole,
  );
}
