import { assertEquals, assertStringIncludes } from "@std/assert";
import { gunzipSync, gzipSync } from "node:zlib";
import { ServiceError } from "../../base/errors.ts";
import type { AppFile } from "../../browser_app/app_files.ts";
import { configSchema } from "../../config/schema.ts";
import { createBrowserAppRoutes } from "./browser_app_routes.ts";
import { createTestWebApp } from "./testing/test_web_app.ts";

const { websocket } = configSchema.parse({}).channels;

function file(name: string, content: string): AppFile {
  return { name, gzip: new Uint8Array(gzipSync(content)) };
}

function setUp(appFiles: () => Promise<AppFile[]>, config = websocket) {
  const { ask } = createTestWebApp(createBrowserAppRoutes({ config, appFiles }));
  return (path: string, encoding?: string) =>
    ask(path, encoding === undefined ? {} : { headers: { "accept-encoding": encoding } });
}

const FILES = [file("index.html", "<p>the page</p>"), file("main-0a1b.js", "run()")];

Deno.test("the page runs scripts of its origin alone, with no eval, no inline code and no frame", async () => {
  const ask = setUp(() => Promise.resolve(FILES));
  const page = await ask("/");
  assertEquals([page.status, await page.text()], [200, "<p>the page</p>"]);
  assertEquals(page.headers.get("cache-control"), "no-cache");
  const policy = page.headers.get("content-security-policy")!;
  for (const word of ["unsafe", "data:", "*", "http:", "https:"]) {
    assertEquals(policy.includes(word), false, word);
  }
  for (
    const rule of [
      "default-src 'none'",
      "script-src 'self';",
      "style-src 'self';",
      "connect-src 'self' ws://127.0.0.1:8765;",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ]
  ) assertStringIncludes(policy, rule);
});

Deno.test("the page may open a socket at publicWsUrl, and nowhere else", async () => {
  const config = { ...websocket, publicWsUrl: "wss://agent.example/ws" };
  const page = await setUp(() => Promise.resolve(FILES), config)("/");
  const policy = page.headers.get("content-security-policy")!;
  assertStringIncludes(policy, "connect-src 'self' wss://agent.example;");
});

Deno.test("files of the app are kept for good, and compressed for who takes that", async () => {
  const ask = setUp(() => Promise.resolve(FILES));
  const script = await ask("/webui/assets/main-0a1b.js", "br, gzip");
  assertEquals(script.headers.get("content-encoding"), "gzip");
  assertEquals(script.headers.get("cache-control"), "public, max-age=31536000, immutable");
  assertEquals(script.headers.get("content-type"), "text/javascript; charset=utf-8");
  assertEquals(String(gunzipSync(new Uint8Array(await script.arrayBuffer()))), "run()");
  for (const encoding of ["", "identity", "gzip;q=0, br"]) {
    const plain = await ask("/webui/assets/main-0a1b.js", encoding);
    assertEquals([plain.headers.get("content-encoding"), await plain.text()], [null, "run()"]);
  }
  for (const name of ["index.html", "main-ffff.js", "..%2Fdeno.json"]) {
    assertEquals((await ask(`/webui/assets/${name}`)).status, 404, name);
  }
});

Deno.test("where the app can't be built, one page says why, until it can", async () => {
  const reason = "The browser app can't be built: <b>no network</b>";
  let isBuilt = false;
  const ask = setUp(() =>
    isBuilt ? Promise.resolve(FILES) : Promise.reject(new ServiceError("not_enabled", reason))
  );
  const page = await ask("/");
  assertEquals(page.status, 503);
  const text = await page.text();
  assertStringIncludes(text, "can't be built: &#60;b&#62;no network");
  assertStringIncludes(text, "service chat");
  assertEquals((await ask("/webui/assets/main-0a1b.js")).status, 503);
  isBuilt = true;
  assertEquals((await ask("/")).status, 200);
});
