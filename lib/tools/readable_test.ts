import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { FULL_RUN } from "../../tests/support/rounds.ts";
import { urlsInText } from "../agent/hosts.ts";
import type { ActionResult } from "../contract/actions.ts";
import { findDenoDir } from "../packages/deno_dir.ts";
import { type ChildJob, createExecutor } from "../executor/executor.ts";
import { readPage } from "../gate/read_page.ts";
import { gateFixture } from "../authority/testing/gate_fixture.ts";
import { articleText } from "./page/article_text.ts";

const SENTENCE =
  "The lantern, which the keeper lit each evening, was seen by ships far out at sea. ";
const NAV = `<nav>${"<a href='/nav'>Elsewhere</a> ".repeat(30)}</nav>`;

function page(body: string, head = ""): string {
  return `<!doctype html><html lang="en"><head><title>The Lantern - Site</title>${head}</head>` +
    `<body>${NAV}<main>${body}</main><footer>All rights reserved ${NAV}</footer></body></html>`;
}

const ARTICLE = page(
  `<article><h1>The Lantern</h1><p>${SENTENCE.repeat(6)}</p><h2>Oil</h2>
  <p>${SENTENCE.repeat(4)} See <a href="../oil?kind=a&amp;b">the oil</a>.</p>
  <ul><li>Wick<ul><li>cotton</li></ul></li><li>Glass</li></ul>
  <pre><code>light(lamp);
  wait();</code></pre>
  <table><tr><th>Ship</th><th>Seen</th></tr><tr><td>Ada</td><td>yes</td></tr></table>
  <p>${SENTENCE.repeat(4)}</p></article>`,
  '<meta name="author" content="A. Keeper"><meta property="og:site_name" content="Site\u202e">' +
    '<meta property="article:published_time" content="2026-10-01T08:00:00Z">',
);

/** Fetches a page from a server of its own. */
async function fetchPage(
  html: string,
  args: Record<string, unknown> = {},
  status = 200,
): Promise<{ result: ActionResult; base: string; tookMs: number }> {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => new Response(html, { status, headers: { "content-type": "text/html; charset=utf-8" } }),
  );
  const base = `http://127.0.0.1:${server.addr.port}`;
  try {
    await using gate = await gateFixture({ privateHosts: ["127.0.0.1"] });
    const start = performance.now();
    const result = await gate.act("web_fetch", { url: `${base}/a/page`, ...args }, {
      context: { personHosts: ["127.0.0.1"] },
    });
    return { result, base, tookMs: performance.now() - start };
  } finally {
    await server.shutdown();
  }
}

Deno.test("web_fetch gives the article of a page, with headings, lists, code, tables and links", async () => {
  const { result, base } = await fetchPage(ARTICLE);
  assertEquals(result.status, "ok", result.output);
  const { output } = result;
  assertMatch(
    output,
    /^HTTP 200 OK\ntext\/html; charset=utf-8\n\[the article of the page; format "text" gives the whole page\]\n\n# The Lantern/,
  );
  assertStringIncludes(output, "A. Keeper | Site\\u{202e} | published 2026-10-01T08:00:00Z");
  assertStringIncludes(output, "## Oil");
  assertStringIncludes(output, "- Wick\n  - cotton\n- Glass");
  assertStringIncludes(output, "```\nlight(lamp);\n  wait();\n```");
  assertStringIncludes(output, "Ship | Seen\nAda | yes");
  assert(!output.includes("Elsewhere") && !output.includes("All rights"), output);
  assertEquals(urlsInText(output), [`${base}/oil?kind=a&b`]);
});

Deno.test("web_fetch gives the whole text or the source when asked for it", async () => {
  const text = (await fetchPage(ARTICLE, { format: "text" })).result.output;
  assertStringIncludes(text, "Elsewhere");
  assertStringIncludes(text, "# The Lantern");
  const html = (await fetchPage(ARTICLE, { format: "html" })).result.output;
  assertStringIncludes(html, "<article><h1>The Lantern</h1>");
  const wrong = (await fetchPage(ARTICLE, { format: "pdf" })).result;
  assertStringIncludes(wrong.output, "Arguments of web_fetch: format");
});

Deno.test("web_fetch falls back to the whole page where there is no article, and says so", async () => {
  const links = page(`<div>${"<a href='/x'>Go to a part of the shop</a><br>".repeat(60)}</div>`);
  const { output } = (await fetchPage(links)).result;
  assertStringIncludes(output, "[no article was found; this is the text of the whole page]");
  assertStringIncludes(output, "Go to a part of the shop");
});

Deno.test("web_fetch gives the whole text of a page that the finder of articles gives up on", async () => {
  const html = `<title>T</title><main><article><p>${SENTENCE.repeat(20)}</p></article></main>`;
  const { output } = (await fetchPage(html)).result;
  assertStringIncludes(output, "[no article could be looked for; this is the text of the whole");
  assertStringIncludes(output, SENTENCE.trim());
});

Deno.test("web_fetch tells what an error page says", async () => {
  const { result } = await fetchPage("<h1>Gone &amp; lost</h1>", {}, 404);
  assertEquals(result.status, "failed");
  assertMatch(result.output, /^HTTP 404 Not Found\ntext\/html; charset=utf-8\n\n# Gone & lost$/);
});

Deno.test(
  needs(
    "web_fetch ends within its limits for pages made to be slow, with the whole text",
    FULL_RUN,
  ),
  async () => {
    const tail = `<p>${SENTENCE.repeat(20)}</p>`;
    const evil: [string, string, RegExp][] = [
      ["deep", "<div>".repeat(100_000) + tail, /no article is looked for in elements 100000 deep/],
      [
        "wide",
        "<b>x, y</b>".repeat(100_000) + tail,
        /no article is looked for in 1000\d\d elements/,
      ],
      ["mis-nested", "<b><i></b>".repeat(15_000) + tail, /whole page/],
      ["attributes", `<div ${"a=1 ".repeat(400_000)}>${tail}</div>`, /whole page|the article/],
      ["tables", "<table><tr><td>".repeat(10_000) + tail, /deep|whole page/],
      ["breaks", `<div>${"text, with<br>".repeat(38_000)}</div>${tail}`, /whole page|the article/],
      ["quotes", page(`<article>${tail.repeat(10)}<a href="${"&quot;".repeat(500_000)}`), /whole/],
    ];
    for (const [name, html, said] of evil) {
      const { result, tookMs } = await fetchPage(html);
      assertEquals([name, result.status], [name, "ok"], result.output.slice(0, 300));
      assertMatch(result.output.slice(0, 300), said, name);
      assert(tookMs < 20_000, `${name} took ${tookMs} ms`);
    }
  },
);

const PAGE = {
  type: "page",
  head: "H",
  html: "<p>source",
  url: "http://a/",
  wantsArticle: true,
  isError: false,
} as const;

Deno.test("readPage() falls back when its child fails, hangs, lies or has no packages", async () => {
  const deps = { maxOutputBytes: 10_000, signal: new AbortController().signal, denoDir: "/d" };
  const cases = [
    [{ type: "timeout", timeoutMs: 6_000 }, "no article was found within 6 s"],
    [{ type: "fault", message: "its process ran out of memory" }, "no article could be looked for"],
    [{ type: "failure", message: "secret detail" }, "no article could be looked for"],
    [{ type: "redirect", url: "http://b/" }, "no article could be looked for"],
  ] as const;
  for (const [outcome, said] of cases) {
    const run = ({ task }: ChildJob) =>
      Promise.resolve(
        (task.args as typeof PAGE).wantsArticle
          ? outcome
          : { type: "result" as const, output: "whole" },
      );
    assertEquals(await readPage(PAGE, { ...deps, executor: { run } }), {
      status: "ok",
      output: `H\n[${said}; this is the text of the whole page]\n\nwhole`,
    });
    const source = "H\n[no text could be made of the page; this is its source]\n\n<p>source";
    const executor = { run: () => Promise.resolve(outcome) };
    assertEquals((await readPage(PAGE, { ...deps, executor })).output, source);
  }
  const executor = { run: () => Promise.reject(new Error("not to be started")) };
  assertStringIncludes(
    (await readPage(PAGE, { ...deps, executor, denoDir: undefined })).output,
    "no text could be made of the page",
  );
});

Deno.test("articleText() finds nothing in what is no page", () => {
  for (const html of ["", "<", "plain text", "<html></html>", "\0", "<!--", "<template><p>x"]) {
    assertEquals(articleText(html, "https://a.example/"), undefined);
  }
});

Deno.test("readPage() finds the article in a page of 5 MB", async () => {
  const html = page(
    `<article><h1>Long</h1>${`<p>${SENTENCE.repeat(8)}</p>`.repeat(7_600)}</article>`,
  );
  assert(html.length > 4_900_000 && html.length <= 5_100_000, `${html.length}`);
  await using child = await pageChild();
  const { signal } = new AbortController();
  // A busy machine may take longer than people wait.
  const { output } = await readPage({ ...PAGE, html }, { ...child, signal, timeoutMs: 300_000 });
  assertMatch(output.slice(0, 200), /\[the article of the page/);
});

Deno.test("readPage() kills a child that is still at work when its time is up", async () => {
  await using child = await pageChild();
  const page = { ...PAGE, html: ARTICLE };
  const { signal } = new AbortController();
  assertStringIncludes(
    (await readPage(page, { ...child, signal, timeoutMs: 1 })).output,
    "H\n[no article was found within 0.001 s; this is the text of the whole page]\n\nThe Lantern",
  );
  assertStringIncludes(
    (await readPage(page, { ...child, signal, timeoutMs: 300_000 })).output,
    "# The Lantern",
  );
  const gone = new AbortController();
  gone.abort(new Error("cancelled"));
  const running = readPage(page, { ...child, signal: gone.signal });
  await assertRejects(() => running, Error, "cancelled");
});

/** What reads pages, in a child. */
async function pageChild() {
  const root = await Deno.makeTempDir();
  const log = { debug() {}, info() {}, warning() {}, error() {} };
  const executor = createExecutor({ cacheDir: root, log });
  const denoDir = findDenoDir({
    env: (name) => Deno.env.get(name),
    cwd: Deno.cwd(),
    home: () => null,
    os: Deno.build.os,
  });
  return {
    executor,
    denoDir,
    maxOutputBytes: 10_000,
    async [Symbol.asyncDispose]() {
      await executor.shutdown();
      await Deno.remove(root, { recursive: true });
    },
  };
}
