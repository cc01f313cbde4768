import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { matchName, matchNames, mayMatchBelow } from "./match_names.ts";
import { cpuMs } from "../../tests/support/cpu_ms.ts";

/** The same by a regular expression, which may take for ever. */
function byExpression(pattern: string, name: string): boolean {
  const source = [...pattern].map((char) =>
    char === "*" ? ".*" : char === "?" ? "." : char.replace(/[\\^$.+()[\]{}|/]/g, "\\$&")
  );
  return new RegExp(`^${source.join("")}$`, "su").test(name);
}

Deno.test("matchName() takes * and ? for part of a name", () => {
  const cases: [string, string, boolean][] = [
    ["", "", true],
    ["a", "a", true],
    ["a", "A", false],
    ["*", "", true],
    ["*.ts", "a.ts", true],
    ["*.ts", ".ts", true],
    ["*.ts", "a.tsx", false],
    ["?", "😀", true],
    ["??", "😀", false],
    ["a*b*c", "aXbXbc", true],
    ["a*b*c", "aXbXcb", false],
    [".*", "a", false],
  ];
  for (const [pattern, name, expected] of cases) {
    assertEquals([pattern, name, matchName(pattern, name)], [pattern, name, expected]);
  }
  const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "?", "."), maxLength: 8 });
  fc.assert(fc.property(text, text, (pattern, name) => {
    assertEquals(matchName(pattern, name), byExpression(pattern, name));
  }));
});

Deno.test("matchNames() takes ** for any number of names, none too", () => {
  const split = (path: string) => path.split("/").filter((name) => name !== "");
  const cases: [string, string, boolean][] = [
    ["", "", true],
    ["**", "", true],
    ["a/**", "a", true],
    ["a/**", "a/b/c", true],
    ["a/**", "b/a", false],
    ["**/c", "c", true],
    ["**/c", "a/b/c", true],
    ["**/c", "a/b/c/d", false],
    ["a/**/c", "a/c", true],
    ["a/**/c", "a/b/c/b/c", true],
    ["a/*/c", "a/b/b/c", false],
    ["**/x/**/y", "x/a/x/b/y", true],
    ["**/x/**/y", "y/x", false],
  ];
  for (const [pattern, path, expected] of cases) {
    assertEquals([pattern, path, matchNames(split(pattern), split(path))], [
      pattern,
      path,
      expected,
    ]);
  }
});

Deno.test("matchNames() takes bounded time whatever pattern and path are", () => {
  const start = cpuMs();
  assert(!matchName("*a".repeat(100) + "b", "a".repeat(255)));
  assert(
    !matchNames(
      [...Array.from({ length: 400 }, (_, at) => at % 2 ? "a" : "**"), "b"],
      Array.from({ length: 2_000 }, () => "a"),
    ),
  );
  const tookMs = cpuMs() - start;
  assert(tookMs < 2_000, `${tookMs} ms`);
});

Deno.test("mayMatchBelow() says yes exactly where a longer path can match", () => {
  const names = fc.array(fc.constantFrom("a", "b"), { maxLength: 4 });
  const patterns = fc.array(fc.constantFrom("a", "b", "*", "**"), { maxLength: 4 });
  // Every path of up to five more names of these; what a short pattern wants fits into them.
  const more = (left: number): string[][] =>
    left === 0 ? [[]] : [[], ...more(left - 1).flatMap((rest) => [["a", ...rest], ["b", ...rest]])];
  const below = more(5).filter((rest) => rest.length > 0);
  fc.assert(fc.property(patterns, names, (pattern, folder) => {
    const expected = below.some((rest) => matchNames(pattern, [...folder, ...rest]));
    assertEquals(mayMatchBelow(pattern, folder), expected);
  }));
});
