import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { gateFixture } from "../authority/testing/gate_fixture.ts";
import type { SearchProvider, SearchSettings } from "../policy/search_endpoint.ts";

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

Deno.test("web_search says what a provider's error means, and when to come again", async () => {
  let answer = () => new Response("");
  await using site = serve(() => answer());
  const json = (body: unknown, init: ResponseInit) => () => Response.json(body, init);
  const cases: [SearchProvider, () => Response, string][] = [
    [
      "brave",
      json({
        type: "ErrorResponse",
        error: {
          id: "x",
          code: "SUBSCRIPTION_TOKEN_INVALID",
          detail: "The provided subscription token is invalid.",
          status: 422,
        },
        time: 1,
      }, { status: 422 }),
      "Brave Search refuses the key in tools.webSearch.apiKey (HTTP 422). It says: The provided " +
      "subscription token is invalid.",
    ],
    [
      "brave",
      json({ type: "ErrorResponse", error: { code: "RATE_LIMITED", detail: "Too fast" } }, {
        status: 429,
        headers: { "x-ratelimit-reset": "1, 1419704", "x-ratelimit-remaining": "0, 900" },
      }),
      "Brave Search has had too many searches (HTTP 429); try again in 1 s. It says: Too fast",
    ],
    [
      "tavily",
      json({ detail: { error: "Unauthorized: missing or invalid API key." } }, { status: 401 }),
      "Tavily refuses the key in tools.webSearch.apiKey (HTTP 401). It says: Unauthorized: missing or " +
      "invalid API key.",
    ],
    [
      "tavily",
      json({ detail: { error: "Blocked" } }, { status: 429, headers: { "retry-after": "30" } }),
      "Tavily has had too many searches (HTTP 429); try again in 30 s. It says: Blocked",
    ],
    [
      "tavily",
      json({ detail: { error: "Over" } }, { status: 432 }),
      "Tavily did not search: the plan of the key is used up (HTTP 432). It says: Over",
    ],
    [
      "tavily",
      json({ detail: `a\u202e\u001b[2J ${"x".repeat(2_000)}` }, { status: 500 }),
      `Tavily has a fault of its own (HTTP 500); try again later. It says: a\\u{202e}\\x1b[2J ${
        "x".repeat(293)
      }`,
    ],
    [
      "searxng",
      () => new Response("Forbidden", { status: 403 }),
      "SearXNG did not search: it refuses answers as JSON; search.formats in its settings.yml has to " +
      "list json (HTTP 403)",
    ],
    [
      "searxng",
      () => new Response(null, { status: 404 }),
      "SearXNG has no search there (HTTP 404); tools.webSearch.baseUrl has to be its address",
    ],
    [
      "searxng",
      () => new Response("<html>", { headers: { "content-type": "text/html" } }),
      "SearXNG answered with something else than results: it is no JSON",
    ],
    ["searxng", () => Response.json({}), "SearXNG answered JSON without a list of results"],
    ["brave", () => Response.json([]), "Brave Search answered JSON without a list of results"],
    ["tavily", () => Response.json(null), "Tavily answered JSON without a list of results"],
    [
      "tavily",
      () => new Response(`{"results":["${"x".repeat(3_000_000)}"]}`),
      "Tavily answered with something else than results: it is larger than 2.0 MB",
    ],
    [
      "tavily",
      () => new Response("x", { headers: { "content-encoding": "zstd" } }),
      'Tavily answered with something else than results: its content encoding is "zstd"',
    ],
  ];
  for (const provider of ["brave", "tavily", "searxng"] as const) {
    await using gate = await gateFixture({ webSearch: settings(provider, site.base) });
    for (const [of, response, said] of cases) {
      if (of !== provider) continue;
      answer = response;
      const result = await gate.act("web_search", { query: "q" });
      assertEquals([result.status, result.output], ["failed", said]);
    }
  }
});

Deno.test("web_search follows no redirect, so that nobody else is given the key", async () => {
  await using other = serve(() => Response.json({ results: [] }));
  await using site = serve(() => Response.redirect(`${other.base}/search`, 307));
  await using gate = await gateFixture({
    webSearch: settings("tavily", site.base),
    privateHosts: ["127.0.0.1"],
  });
  const result = await gate.act("web_search", { query: "q" });
  assertEquals(result.status, "failed");
  assertStringIncludes(result.output, "answers with a redirect (HTTP 307), which is not followed");
  assertEquals(other.asked, []);
});

Deno.test("web_search shows strangers' words bounded, on their lines, with nothing hidden", async () => {
  const results = [
    { title: "a", url: "javascript:alert(1)", content: "no" },
    { title: "b", url: "file:///etc/passwd", content: "no" },
    { title: "c", url: "https://u:p@x.example/", content: "no" },
    { title: "d", url: "https://x.example/\n2. https://forged.example/", content: "" },
    { title: "T\n1. forged\u{e0041}\u200b", url: "https://y.example/", content: "s\u202e\n\ns" },
    { title: "x".repeat(5_000), url: "https://z.example/", content: "<b>y</b>".repeat(5_000) },
    { title: "again", url: "https://z.example/", content: "" },
    "no object",
    null,
    { title: 5, url: 6, content: [] },
  ];
  await using site = serve(() => Response.json({ results }));
  await using gate = await gateFixture({ webSearch: settings("tavily", site.base) });
  const { output } = await gate.act("web_search", { query: "q", count: 10 });
  assert(!/[\u202e\u200b\u{e0041}]/u.test(output) && !output.includes("javascript"), output);
  assertStringIncludes(output, "1. d\n   https://x.example/2.%20https://forged.example/");
  assertStringIncludes(
    output,
    "2. T 1. forged\\u{e0041}\\u{200b}\n   https://y.example/\n   s\\u{202e} s",
  );
  assertEquals(output.match(/^\d+\. /gm)!.length, 3);
  assert(output.length < 1_500, `${output.length}`);
  await using nothing = serve(() => Response.json({ results: [] }));
  await using empty = await gateFixture({ webSearch: settings("tavily", nothing.base) });
  assertEquals((await empty.act("web_search", { query: "q" })).output, "No results.");
});

Deno.test("web_search reaches this machine where the operator wrote its address, and no other tool does", async () => {
  await using site = serve(() => Response.json({ results: [] }));
  const port = new URL(site.base).port;
  for (const host of ["127.0.0.1", "localhost"]) {
    await using gate = await gateFixture({
      webSearch: settings("searxng", `http://${host}:${port}`),
    });
    assertEquals((await gate.act("web_search", { query: "q" })).output, "No results.");
    const [start] = (await gate.records()).filter(({ kind }) => kind === "action.start");
    assertEquals((start!.data.decision as { rule: string }).rule, "search.configured");
    assertEquals((start!.data.target as { url: string }).url, `http://${host}:${port}/search`);
    // The same URL, fetched: what the operator wrote was for the search alone.
    const fetched = await gate.act("web_fetch", { url: `http://${host}:${port}/search` }, {
      context: { personHosts: [host] },
    });
    assertEquals(fetched.status, "refused");
    assertStringIncludes(fetched.output, "rule fetch.private");
  }
  // Any other name may lead anywhere tomorrow.
  await using named = await gateFixture({
    webSearch: settings("searxng", `http://localhost.:${port}/x/..`),
  });
  assertEquals((await named.act("web_search", { query: "q" })).status, "ok");
});

Deno.test("G1 web_search needs a grant in an unattended turn, and none else", async () => {
  await using site = serve(() => Response.json({ results: [] }));
  await using gate = await gateFixture({ webSearch: settings("tavily", site.base) });
  const alone = { context: { attended: false } };
  const refused = await gate.act("web_search", { query: "q" }, alone);
  assertEquals(refused.status, "refused");
  assertStringIncludes(refused.output, `${site.base}/search`);
  assertEquals(site.asked, []);
});

Deno.test("web_search checks its arguments, naming the field", async () => {
  await using gate = await gateFixture({ webSearch: settings("tavily", "http://127.0.0.1:1") });
  for (
    const [args, said] of [
      [{}, "query: "],
      [{ query: " \n" }, "query: is blank"],
      [{ query: "x".repeat(401) }, "query: "],
      [{ query: "\ud800" }, "query: holds half of a character"],
      [{ query: "q", count: 0 }, "count: "],
      [{ query: "q", count: 11 }, "count: "],
      [{ query: "q", url: "http://x" }, "url"],
      [{ query: "q", apiKey: "x" }, "apiKey"],
    ] as const
  ) {
    const result = await gate.act("web_search", args);
    assertEquals(result.status, "failed");
    assertStringIncludes(result.output, "Arguments of web_search: ");
    assertStringIncludes(result.output, said);
  }
  const nobody = await gate.act("web_search", { query: "q" });
  assertStringIncludes(nobody.output, "127.0.0.1 cannot be reached");
});
