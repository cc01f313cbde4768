import { assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { toMatrixHtml } from "./to_matrix_html.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const GOLDEN = new URL("golden/", import.meta.url);

const names = [...Deno.readDirSync(GOLDEN)].map(({ name }) => name)
  .filter((name) => name.endsWith(".md")).sort();

for (const name of names) {
  Deno.test(`toMatrixHtml() gives golden/${name} the HTML that lies beside it`, async () => {
    const markdown = await Deno.readTextFile(new URL(name, GOLDEN));
    const wanted = await Deno.readTextFile(new URL(name.replace(/md$/, "html"), GOLDEN));
    assertEquals(toMatrixHtml(markdown), wanted);
  });
}

/** "m.room.message msgtypes" of the client-server API. */
const ELEMENTS = new Set(
  ("del h1 h2 h3 h4 h5 h6 blockquote p a ul ol sup sub li b i u strong em s code hr br div table " +
    "thead tbody tr th td caption pre span img details summary").split(" "),
);
const ATTRIBUTE =
  /^(?: href="(?:https?:\/\/|mailto:)[^"<>]*"| start="\d+"| class="language-[\w+#.-]+")?$/i;
const VOID = new Set(["br", "hr"]);

/** What is wrong with it: elements, attributes, nesting. */
function faultOf(html: string): string | undefined {
  const open: string[] = [];
  const rest = html.replace(/<(\/?)([a-z0-9]+)([^<>]*)>/g, (tag, slash, name, attributes) => {
    if (!ELEMENTS.has(name) || !ATTRIBUTE.test(attributes)) open.push(`?${tag}`);
    else if (slash === "") VOID.has(name) || open.push(name);
    else if (open.pop() !== name) open.push(`?${tag}`);
    return "";
  });
  if (/[<>"]/.test(rest) || /&(?!(?:amp|lt|gt|quot);)/.test(rest)) return `not escaped: ${rest}`;
  return open.length === 0 ? undefined : `not closed or not allowed: ${open.join()}`;
}

const marks = fc.constantFrom(
  ..."* ** _ ` ``` ~~ [ ]( ) < > & \" ' # - + 1. | \\ ! > <b> <script> &lt; https://a.b/ \n \n\n \t"
    .split(" "),
  "\n",
  "\n\n",
  "    ",
  "\u0000",
  "\u001b",
  "\ud800",
  "@alice:example.org",
  "javascript:x",
  "word",
);

Deno.test("toMatrixHtml() never throws, and writes nothing but allowed elements that are closed", () => {
  const texts = fc.oneof(
    fc.array(marks, { maxLength: 60 }).map((parts) => parts.join("")),
    anyString({ maxLength: 200 }),
  );
  fc.assert(fc.property(texts, (text) => assertEquals(faultOf(toMatrixHtml(text)), undefined)), {
    numRuns: rounds(300),
  });
});

Deno.test("toMatrixHtml() nests no deeper than clients show", () => {
  const html = toMatrixHtml(`${"> ".repeat(300)}x\n\n${"- ".repeat(300)}x`);
  let [depth, deepest] = [0, 0];
  for (const [, slash] of html.matchAll(/<(\/?)(?!br|hr)[a-z0-9]+/g)) {
    depth += slash === "" ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  assertEquals(deepest < 100, true, `${deepest} levels`);
  assertMatch(html, /x/);
});
