import { assert, assertEquals } from "@std/assert";
import { pageShape } from "./page_shape.ts";
import { cpuMs } from "../../../tests/support/cpu_ms.ts";

Deno.test("pageShape() counts elements and how deep they stand, by their tags", () => {
  const cases: [string, number, number][] = [
    ["", 0, 0],
    ["a < b", 0, 0],
    ["<div><DIV></div></div><div></div>", 3, 2],
    ["<ul><li>a<li>b<li>c</ul>", 4, 1],
    ["<p>a<p>b<br><img>", 4, 0],
    ["</div></div><div>", 1, 1],
    ["<div>".repeat(100_000), 100_000, 100_000],
  ];
  for (const [html, elements, depth] of cases) {
    assertEquals([html.slice(0, 40), pageShape(html)], [html.slice(0, 40), { elements, depth }]);
  }
});

Deno.test("pageShape() needs no more than a moment for pages made to be slow", () => {
  for (const evil of ["<".repeat(5_000_000), "<a".repeat(2_500_000), "<" + "a".repeat(5_000_000)]) {
    const start = cpuMs();
    pageShape(evil);
    const took = cpuMs() - start;
    assert(took < 3_000, `${evil.slice(0, 4)} took ${took} ms`);
  }
});
