import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { gateFixture } from "../authority/testing/gate_fixture.ts";
import type { SearchProvider, SearchSettings } from "./search_endpoint.ts";

const KEY = "BSA-key-of-a-provider-1234567890";

interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Headers;
  body: string;
}

/** A provider on loopback. */
function serve(
  handler: (asked: Asked, request: Request) => Response | Promise<Response>,
): AsyncDisposable & { base: string; asked: Asked[] } {
  const asked: Asked[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const url = new URL(request.url);
    const one = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: await request.text(),
    };
    asked.push(one);
    return handler(one, request);
  });
  return {
    base: `http://127.0.0.1:${server.addr.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function settings(
  provider: SearchProvider,
  baseUrl: string,
  apiKey = provider === "searxng" ? "" : KEY,
): SearchSettings {
  return { provider, apiKey, baseUrl };
}

Deno.test("web_search asks Brave as Brave documents it, and shows what it found", async () => {
  await using site = serve(() =>
    Response.json({
      type: "search",
      query: { original: "deno sandbox", more_results_available: true },
      web: {
        type: "search",
        family_friendly: true,
        results: [
          {
            title: "Deno &amp; <strong>sandbox</strong>",
            url: "https://docs.deno.com/runtime/",
            is_source_local: false,
            description: "How <strong>Deno</strong> holds\n programs.",
            page_age: "2026-09-01T10:00:00",
            age: "September 1, 2026",
            profile: { name: "Deno" },
            type: "search_result",
          },
          { title: "", url: "https://b.example/?q=1", description: "" },
        ],
      },
    })
  );
  await using gate = await gateFixture({ webSearch: settings("brave", site.base) });
  const result = await gate.act("web_search", { query: "deno sandbox", count: 2 });
  assertEquals(result, {
    status: "ok",
    output: "1. Deno & sandbox\n   https://docs.deno.com/runtime/\n   September 1, 2026\n" +
      "   How Deno holds programs.\n\n2. (no title)\n   https://b.example/?q=1",
  });
  const [asked] = site.asked;
  assertEquals([asked!.method, asked!.path], ["GET", "/res/v1/web/search"]);
  assertEquals(asked!.query, {
    q: "deno sandbox",
    count: "2",
    result_filter: "web",
    text_decorations: "false",
  });
  assertEquals(asked!.headers.get("x-subscription-token"), KEY);
});

Deno.test("web_search asks Tavily as Tavily documents it", async () => {
  await using site = serve(() =>
    Response.json({
      query: "q",
      follow_up_questions: null,
      answer: null,
      images: [],
      results: [{
        title: "T",
        url: "https://t.example/a",
        content: "Text [...] more",
        score: 0.98,
        raw_content: null,
        published_date: "Mon, 02 Nov 2026 10:00:00 GMT",
      }],
      response_time: 1.2,
      request_id: "123",
    })
  );
  await using gate = await gateFixture({ webSearch: settings("tavily", `${site.base}/`) });
  const result = await gate.act("web_search", { query: 'ä "q"' });
  assertEquals(
    result.output,
    "1. T\n   https://t.example/a\n   Mon, 02 Nov 2026 10:00:00 GMT\n   Text [...] more",
  );
  const [asked] = site.asked;
  assertEquals([asked!.method, asked!.path, asked!.query], ["POST", "/search", {}]);
  assertEquals(asked!.headers.get("authorization"), `Bearer ${KEY}`);
  assertEquals(asked!.headers.get("content-type"), "application/json");
  assertEquals(JSON.parse(asked!.body), {
    query: 'ä "q"',
    max_results: 5,
    search_depth: "basic",
    topic: "general",
  });
});

Deno.test("web_search asks SearXNG as SearXNG documents it, below a path too", async () => {
  await using site = serve(() =>
    Response.json({
      query: "q",
      number_of_results: 0,
      results: Array.from({ length: 20 }, (_, index) => ({
        url: `https://s.example/${index % 15}`,
        title: `S${index}`,
        content: "c",
        engine: "duckduckgo",
        publishedDate: index === 0 ? "2026-01-02T00:00:00" : null,
      })),
      answers: [],
      suggestions: [],
      unresponsive_engines: [["brave", "too many requests"], ["qwant", "timeout"]],
    })
  );
  await using gate = await gateFixture({ webSearch: settings("searxng", `${site.base}/searx/`) });
  const { output } = await gate.act("web_search", { query: "q", count: 10 });
  assertStringIncludes(
    output,
    "1. S0\n   https://s.example/0\n   2026-01-02T00:00:00\n   c\n\n2. S1",
  );
  assertEquals(output.match(/^\d+\. /gm)!.length, 10);
  assertStringIncludes(
    output,
    "[Engines that did not answer: brave: too many requests, qwant: timeout]",
  );
  assertEquals(site.asked[0]!.path, "/searx/search");
  assertEquals(site.asked[0]!.query, { q: "q", format: "json" });
  assertEquals(site.asked[0]!.headers.get("authorization"), null);
});

Deno.test("web_search without a provider says how to have one", async () => {
  for (
    const [webSearch, said] of [
      [{ provider: "none", apiKey: "" }, /not configured.*tools\.webSearch\.provider/],
      [{ provider: "brave", apiKey: "" }, /brave needs tools\.webSearch\.apiKey/],
      [{ provider: "searxng", apiKey: "" }, /searxng needs tools\.webSearch\.baseUrl/],
      [
        { provider: "searxng", apiKey: "", baseUrl: "http://u:p4ss@x.example" },
        /without user name/,
      ],
    ] as const
  ) {
    await using gate = await gateFixture({ webSearch });
    const result = await gate.act("web_search", { query: "q" });
    assertEquals(result.status, "failed");
    assertMatch(result.output, said);
    assert(!result.output.includes("p4ss"));
  }
});

Deno.test("web_search keeps the key out of record, digest, approval, progress and result", async () => {
  let echo = "";
  await using site = serve(({ headers }) => {
    echo = JSON.stringify(Object.fromEntries(headers));
    return Response.json({ detail: { error: `bad ${echo}` } }, { status: 400 });
  });
  await using gate = await gateFixture({
    webSearch: settings("tavily", site.base),
    rules: [{ name: "ask", effect: "ask", capabilities: ["net.fetch"] }],
  });
  await gate.state.tokens.issue({ name: "someone", scopes: ["approve"] });
  const seen: unknown[] = [];
  const leave = new AbortController();
  const running = gate.act("web_search", { query: "q" }, {
    onProgress: (text) => seen.push(text),
    onApproval(event) {
      seen.push(event);
      if (event.type === "requested") leave.abort();
    },
    left: leave.signal,
  });
  const refused = await running;
  assertEquals(refused.status, "refused");
  seen.push(refused);
  assertStringIncludes(JSON.stringify(seen), `${site.base}/search`);
  await using open = await gateFixture({ webSearch: settings("tavily", site.base) });
  const failed = await open.act("web_search", { query: "q" }, {
    onProgress: (text) => seen.push(text),
  });
  assertEquals(failed.status, "failed");
  assertStringIncludes(echo, KEY);
  assertStringIncludes(failed.output, "[the key]");
  seen.push(failed, await open.records(), open.logged, await gate.records());
  assert(!JSON.stringify(seen).includes(KEY));
});
