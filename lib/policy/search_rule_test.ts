import { assertEquals } from "@std/assert";
import type { ResolvedAction, UrlTarget } from "../contract/actions.ts";
import { decide, decideBeforeLookup } from "./policy.ts";
import { action, CONTEXT, POLICY, rule } from "../authority/testing/policy_arbitraries.ts";

const SEARCH = "https://search.corp.example/search";

function search(target: Partial<UrlTarget> = {}, tool = "web_search"): ResolvedAction {
  const url: UrlTarget = {
    kind: "url",
    url: SEARCH,
    host: "search.corp.example",
    port: 443,
    addresses: ["93.184.216.34"],
    ...target,
  };
  return { ...action("net.fetch", url), tool };
}

function at(host: string, ...addresses: string[]): [ResolvedAction, string] {
  const url = `http://${host}:8080/search`;
  return [search({ url, host: host.replace(/^\[|\]$/g, ""), port: 8080, addresses }), url];
}

Deno.test("decide() allows web_search its configured URL, and no other tool or URL", () => {
  const policy = { ...POLICY, searchUrl: SEARCH };
  const said = (one: ResolvedAction) => rule(decide(one, CONTEXT, policy));
  assertEquals(said(search()), "allow search.configured");
  assertEquals(said(search({}, "web_fetch")), "ask fetch.other");
  assertEquals(said(search({ url: `${SEARCH}?q=1` })), "ask fetch.other");
  assertEquals(said(search({ headers: { a: "b" } })), "ask fetch.other");
  assertEquals(rule(decide(search(), CONTEXT, POLICY)), "ask fetch.other");
  assertEquals(
    rule(decideBeforeLookup(search({ addresses: [] }), CONTEXT, policy)),
    "allow search.configured",
  );
  assertEquals(rule(decide(search(), { ...CONTEXT, attended: false }, policy)), "deny unattended");
});

Deno.test("decide() lets web_search reach a private address only where the operator wrote it, or listed it", () => {
  const cases: [ReturnType<typeof at>, string][] = [
    [at("127.0.0.1", "127.0.0.1"), "allow search.configured"],
    [at("10.1.2.3", "10.1.2.3"), "allow search.configured"],
    [at("[::1]", "::1"), "allow search.configured"],
    [at("localhost", "127.0.0.1", "::1"), "allow search.configured"],
    [at("localhost", "127.0.0.1", "10.0.0.1"), "deny fetch.private"],
    [at("searx.lan", "192.168.1.5"), "deny fetch.private"],
    [at("127.0.0.1", "10.0.0.1"), "deny fetch.private"],
  ];
  for (const [[one, searchUrl], expected] of cases) {
    const policy = { ...POLICY, searchUrl };
    assertEquals([searchUrl, rule(decide(one, CONTEXT, policy))], [searchUrl, expected]);
    const fetched = decide({ ...one, tool: "web_fetch" }, CONTEXT, policy);
    assertEquals(rule(fetched), "deny fetch.private");
  }
  const [one, searchUrl] = at("searx.lan", "192.168.1.5");
  const listed = { ...POLICY, searchUrl, privateHosts: ["searx.lan:8080"] };
  assertEquals(rule(decide(one, CONTEXT, listed)), "allow search.configured");
});
