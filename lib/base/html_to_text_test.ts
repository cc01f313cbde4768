import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { htmlToText } from "./html_to_text.ts";
import { cpuMs } from "../../tests/support/cpu_ms.ts";
import { rounds } from "../../tests/support/rounds.ts";

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
  for (const [html, text] of cases) {
    assertEquals([html, htmlToText(html, { baseUrl: BASE, markdown: true })], [html, text]);
  }
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
    assertEquals(typeof htmlToText(html, { baseUrl: BASE, markdown: true }), "string");
    assert(!htmlToText(`<script>hidden</script>${html}`).includes("hidden"));
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
    const start = cpuMs();
    htmlToText(html, { baseUrl: BASE, markdown: true });
    const took = cpuMs() - start;
    assert(took < 3_000, `${html.slice(0, 10)} took ${took} ms`);
  }
});

Deno.test("htmlToText() shows what a person sees of a mail", () => {
  assertEquals(
    htmlToText(
      "<style>p{}</style><p>Hi &amp; <b>bye</b>&nbsp;&#x1F600;</p><ul><li>one</li><li>two</li></ul>" +
        '<script>alert("<p>")</script><!-- <p>no</p> --><a href="https://a.b/c">click</a> 1 < 2' +
        "<blockquote>old<br>older</blockquote>",
    ),
    "Hi & bye 😀\n\n- one\n- two\n\nclick (https://a.b/c) 1 < 2\n\n> old\n> older",
  );
  assertEquals(htmlToText('<a href="javascript:x">y</a>'), "y");
  assertEquals(htmlToText("<pre>a\n  b</pre>"), "a\n  b");
});

Deno.test("htmlToText() takes any mail in little time, and never throws", () => {
  fc.assert(fc.property(fc.string(), (text) => void htmlToText(text)));
  for (
    const nasty of [
      "<",
      "<a ",
      "<a href='",
      "<!--",
      "&",
      "&#",
      "<p>",
      "<blockquote>",
      "<a>",
      "</",
      "<li>",
      "<br>",
    ]
  ) {
    const before = cpuMs();
    htmlToText(nasty.repeat(rounds(1_000_000, 200_000) / nasty.length));
    assert(cpuMs() - before < 3_000, `${nasty} takes too long`);
  }
});

Deno.test("htmlToText() marks each line of quotes, and no line around them", () => {
  const cases: [string, string][] = [
    ["a<blockquote><p>b</p><p>c</p></blockquote>d", "a\n\n> b\n>\n> c\n\nd"],
    ["<blockquote>a<blockquote>b<br>c</blockquote></blockquote>", "> a\n>\n>> b\n>> c"],
    ["<blockquote>a</blockquote><blockquote>b</blockquote>", "> a\n\n> b"],
    ["<blockquote><pre>a\n\n  b</pre></blockquote></blockquote>c", "> a\n>\n>   b\n\nc"],
  ];
  for (const [html, text] of cases) assertEquals([html, htmlToText(html)], [html, text]);
});

Deno.test("htmlToText() knows every name of a character, and leaves out fillers", () => {
  assertEquals(htmlToText("&Zcaron;&nbsp;&zwnj;&nbsp;Donau&shy;dampf &lt"), "Ž Donaudampf <");
});

Deno.test("htmlToText() shows the address of a link, unless its text is that", () => {
  const link = (href: string, text: string) => htmlToText(`<a href="${href}">${text}</a>`);
  assertEquals(link("https://a.net/b?c=1&amp;d", "a.net "), "a.net (https://a.net/b?c=1&d)");
  assertEquals(link("https://a.net", "https://a.net"), "https://a.net");
  assertEquals(link("/b", "relative to nothing"), "relative to nothing");
});
