import { assertEquals, assertStringIncludes } from "@std/assert";
import { siteOf, UnaskedFetches } from "../policy/unasked_fetches.ts";
import { gateFixture } from "./testing/gate_fixture.ts";

Deno.test("a page that lists many URLs learns little from which of them are fetched", async () => {
  const seen: string[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    seen.push(new URL(request.url).pathname);
    return new Response("fine");
  });
  await using gate = await gateFixture({
    privateHosts: ["127.0.0.1", "localhost"],
    unaskedFetches: { perTurn: 3, perSite: 2 },
  });
  const urlOf = (at: number, host = "127.0.0.1") => `http://${host}:${server.addr.port}/${at}`;
  const toolUrls = [
    ...Array.from({ length: 2_000 }, (_, at) => urlOf(at)),
    ...Array.from({ length: 10 }, (_, at) => urlOf(at, "localhost")),
  ];
  const fetchAll = async (urls: string[], context = {}) => {
    const results = await Promise.all(
      urls.map((url) => gate.act("web_fetch", { url }, { context: { toolUrls, ...context } })),
    );
    return results.map(({ status }) => status).toSorted();
  };
  // At once, as a model may ask: none slips through between a look at the count and the count.
  const many = [0, 1, 2, 3, 4].map((at) => urlOf(at));
  assertEquals(await fetchAll(many), ["ok", "ok", "refused", "refused", "refused"]);
  // Again the same, under another name, and until the turn has had its share.
  assertEquals(await fetchAll([urlOf(0)]), ["refused"]);
  assertEquals(await fetchAll([urlOf(1, "localhost")]), ["ok"]);
  assertEquals(await fetchAll([urlOf(2, "localhost")]), ["refused"]);
  assertEquals(seen.length, 3);
  const refused = await gate.act("web_fetch", { url: urlOf(7) }, { context: { toolUrls } });
  assertStringIncludes(refused.output, "gates.unaskedFetches");
  // The person's word is another ground, and another turn has a share of its own.
  assertEquals(await fetchAll([urlOf(8)], { personHosts: ["127.0.0.1"] }), ["ok"]);
  assertEquals(await fetchAll([urlOf(9)], { turnId: "turn-2" }), ["ok"]);
});

Deno.test("UnaskedFetches counts the names under one domain together", () => {
  for (
    const [host, site] of [
      ["a.b.example.com", "example.com"],
      ["example.com", "example.com"],
      ["b.example.com.", "example.com"],
      ["x.y.co.uk", "y.co.uk"],
      ["y.co.uk", "y.co.uk"],
      ["localhost", "localhost"],
      ["10.1.2.3", "10.1.2.3"],
      ["2606:2800::1", "2606:2800::1"],
    ]
  ) assertEquals(siteOf(host!), site);
  const fetches = new UnaskedFetches({ perTurn: 100, perSite: 2 });
  for (const at of [0, 1]) fetches.add("t", `bits${at}.evil.example`);
  assertEquals(fetches.isSpent("t", "bits2.evil.example"), true);
  assertEquals(fetches.isSpent("t", "other.example2"), false);
  assertEquals(fetches.isSpent("u", "evil.example"), false);
  assertEquals(new UnaskedFetches({ perTurn: 0, perSite: 9 }).isSpent("t", "a.example"), true);
});
