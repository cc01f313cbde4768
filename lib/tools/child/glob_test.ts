import { assertEquals, assertThrows } from "@std/assert";
import { compileGlob } from "./glob.ts";

Deno.test("compileGlob() matches paths, and names where the glob has no slash", () => {
  const cases: [string, string, boolean][] = [
    ["*.ts", "a.ts", true],
    ["*.ts", "src/deep/a.ts", true],
    ["*.ts", "a.tsx", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/deep/a.ts", false],
    ["/src/*.ts", "src/a.ts", true],
    ["./src/*.ts", "src/a.ts", true],
    ["src/**/*.ts", "src/a.ts", true],
    ["src/**/*.ts", "src/x/y/a.ts", true],
    ["**/*.ts", "a.ts", true],
    ["src/**", "src/x/y", true],
    ["a?.md", "ab.md", true],
    ["a?.md", "a/.md", false],
    ["*.{md,txt}", "x/readme.txt", true],
    ["{a,b{c,d}}.x", "bd.x", true],
    ["[ab].x", "b.x", true],
    ["[!ab].x", "c.x", true],
    ["[!ab].x", "a.x", false],
    ["[a-c].x", "b.x", true],
    ["a+(b).x", "a+(b).x", true],
    ["a[.x", "a[.x", true],
    ["ä*", "äö", true],
    ["?", "\u{1f600}", true],
  ];
  for (const [glob, path, expected] of cases) {
    assertEquals([glob, path, compileGlob(glob)(path)], [glob, path, expected]);
  }
});

Deno.test("compileGlob() refuses a glob that stands for too many", () => {
  assertThrows(() => compileGlob("{a,b}".repeat(10)), Error, "more than 64 alternatives");
});
