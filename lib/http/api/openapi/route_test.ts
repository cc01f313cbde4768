import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { startTestApi } from "../../testing/test_api.ts";
import { openApiDocument } from "./document.ts";
import { createOpenApi } from "./route.ts";
import { lockedFlags } from "../../../packages/locked_packages.ts";

const url = "http://localhost/openapi.json";

Deno.test("GET /openapi.json answers with the document of this version", async () => {
  await using api = await startTestApi();
  const response = await fetch(`${api.url}/openapi.json`);
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertMatch(response.headers.get("etag")!, /^"[\w-]{43}"$/);
  assertEquals(
    await response.json(),
    JSON.parse(JSON.stringify(openApiDocument({
      version: "1.2.3",
    }))),
  );
});

Deno.test("GET /openapi.json needs the key where there is one", async () => {
  await using api = await startTestApi({ config: { apiKey: "secret-key" } });
  const without = await fetch(`${api.url}/openapi.json`);
  assertEquals([without.status, (await without.json()).error.code], [401, "invalid_api_key"]);
  const headers = { authorization: "Bearer secret-key" };
  const response = await fetch(`${api.url}/openapi.json`, { headers });
  assertEquals(response.status, 200);
  await response.body?.cancel();
});

Deno.test("createOpenApi() answers 304 to whoever has the document", async () => {
  const serve = createOpenApi({ version: "1.2.3" });
  const etag = (await serve(new Request(url))).headers.get("etag")!;
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const response = await serve(new Request(url, { headers: { "if-none-match": known } }));
    assertEquals([response.status, response.body], [304, null], known);
    assertEquals(response.headers.get("etag"), etag);
  }
  for (const known of ['"other"', etag.slice(1, -1), ""]) {
    const response = await serve(new Request(url, { headers: { "if-none-match": known } }));
    assertEquals(response.status, 200, known);
    await response.body?.cancel();
  }
});

Deno.test("createOpenApi() gives another ETag to another version", async () => {
  const [one, other] = await Promise.all(
    ["1.2.3", "1.2.4"].map((version) => createOpenApi({ version })(new Request(url))),
  );
  assertNotEquals(one!.headers.get("etag"), other!.headers.get("etag"));
  await Promise.all([one!.body?.cancel(), other!.body?.cancel()]);
});

/** Modules that a module brings with it, by `deno info`. */
async function graphOf(entry: URL, options: { dynamic: boolean }): Promise<Set<string>> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", ...lockedFlags(), entry.href],
    cwd: new URL("../../../../", import.meta.url),
  }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as {
    modules: {
      specifier: string;
      dependencies?: { isDynamic?: boolean; code?: { specifier: string } }[];
    }[];
  };
  const bySpecifier = new Map(modules.map((module) => [module.specifier, module]));
  const seen = new Set([entry.href]);
  for (const specifier of seen) {
    for (const { code, isDynamic } of bySpecifier.get(specifier)?.dependencies ?? []) {
      if (code !== undefined && (options.dynamic || !isDynamic)) seen.add(code.specifier);
    }
  }
  return seen;
}

Deno.test("W14 a service loads the document only when it is asked for", async () => {
  const app = new URL("../app.ts", import.meta.url);
  const document = new URL("document.ts", import.meta.url).href;
  assert((await graphOf(app, { dynamic: true })).has(document));
  const loaded = [...await graphOf(app, { dynamic: false })];
  assertEquals(loaded.filter((specifier) => specifier.includes("/openapi/")), [
    new URL("route.ts", import.meta.url).href,
  ]);
});
