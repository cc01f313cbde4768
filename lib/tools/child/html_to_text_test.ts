import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { htmlToText } from "./html_to_text.ts";

const BASE = "https://example.com/dir/page";

Deno.test("htmlToText() keeps what a reader needs", () => {
  const cases: [string, string][] = [
    ["plain text", "plain text"],
    ["a &lt;b&gt; &#x41;&#66; &amp;amp; &nope; &euro;", "a <b> AB &amp; &nope; €"],
    ["<p>one\n  two</p><p>three</p>", "one two\n\nthree"],
    ["<h2>Head</h2>text<br>line", "## Head\n\ntext\nline"],
    ["<ul><li>a<li>b</ul>end", "- a\n- b\n\nend"],
    ["<b>bo</b>ld <i>it</i>", "bold it"],
    ["<a href='../x?y=1&amp;z'>go</a> on", "go (https://example.com/x?y=1&z) on"],
    ["<a href='#part'>here</a> <a href='javascript:x()'>js</a>", "here js"],
    ['<a href="https://a.net/"></a>x', "x"],
    ["<pre>a\n  b &lt;</pre>c", "```\na\n  b <\n```\n\nc"],
    ["x<pre><code>one\n</code></pre>", "x\n\n```\none\n```"],
    ["</pre><pre></pre>y", "```\n```\n\ny"],
    ["<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>d", "- a\n  - b\n- c\n\nd"],
    ["</ul></ul><ul><li>a</ul>", "- a"],
    ["<table><tr><th><p>h</p></th><th>i</th></tr></table>", "h | i"],
    ["<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 | 2\n3"],
    ["<img alt='A cat' src=x>", "[image: A cat]"],
    ["<SCRIPT>if (a</b) alert('</p>')</SCRIPT >after", "after"],
    ["<style>p{}</style><template><p>x</p></template><!-- <p>no</p> -->yes", "yes"],
    ["<script>never closed <p>hidden", ""],
    ["a < b and c > d", "a < b and c > d"],
    ['<div title="a > b">in</div>', "in"],
    ["<!doctype html><html><head><title>T</title></head><body>B</body></html>", "T\n\nB"],
    ["x<!-- never closed", "x"],
    ["&#0;&#xD800;&#1114112;", "\ufffd\ufffd\ufffd"],
  ];
  for (const [html, text] of cases) assertEquals([html, htmlToText(html, BASE)], [html, text]);
});

Deno.test("htmlToText() takes any text, and shows nothing of scripts", () => {
  const piece = fc.constantFrom(
    "<",
    ">",
    "<p>",
    "</p",
    "<a href=",
    "'",
    '"',
    "<!--",
    "-->",
    "&",
    "&#x",
    "<pre>",
    "</pre>",
    " ",
    "word",
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
    const html = pieces.join("");
    assertEquals(typeof htmlToText(html, BASE), "string");
    assert(!htmlToText(`<script>hidden</script>${html}`, BASE).includes("hidden"));
  }));
});

Deno.test("htmlToText() needs no more than a moment for pages made to be slow", () => {
  const evil = [
    "<".repeat(300_000),
    "<a ".repeat(200_000),
    "<a href='".repeat(100_000),
    "<!--".repeat(100_000),
    "<script>".repeat(100_000),
    "<p title=".repeat(100_000),
    "&#".repeat(300_000),
    "<svg><".repeat(100_000),
    " ".repeat(500_000),
    "</a".repeat(200_000),
  ];
  for (const html of evil) {
    const start = performance.now();
    htmlToText(html, BASE);
    const took = performance.now() - start;
    assert(took < 3_000, `${html.slice(0, 10)} took ${took} ms`);
  }
});
