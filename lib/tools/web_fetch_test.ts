import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ActionContext } from "../contract/actions.ts";
import { gateFixture } from "../authority/testing/gate_fixture.ts";
import { freePort } from "../../tests/support/free_port.ts";

interface Site extends AsyncDisposable {
  port: number;
  /** Request lines with the Host header. */
  seen: string[];
}

/** A server on loopback: private, so it is reached only where `gates.privateHosts` lists it. */
function serveSite(handler: (request: Request) => Response | Promise<Response>): Site {
  const seen: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    seen.push(`${new URL(request.url).pathname} ${request.headers.get("host")}`);
    return handler(request);
  });
  return {
    port: server.addr.port,
    seen,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
    },
  };
}

const saying = (...personHosts: string[]): { context: Partial<ActionContext> } => ({
  context: { personHosts },
});

function html(body: string): Response {
  return new Response(body, { headers: { "content-type": "text/html; charset=utf-8" } });
}

Deno.test("web_fetch returns readable text of a page", async () => {
  await using site = serveSite(() =>
    html("<title>T</title><h1>Hello &amp; welcome</h1><script>evil()</script><a href='/x'>more</a>")
  );
  await using gate = await gateFixture({ privateHosts: [`127.0.0.1:${site.port}`] });
  const progress: string[] = [];
  const result = await gate.act("web_fetch", { url: `http://127.0.0.1:${site.port}/a?b=c#d` }, {
    ...saying("127.0.0.1"),
    onProgress: (text) => progress.push(text),
  });
  assertEquals(result, {
    status: "ok",
    output: "HTTP 200 OK\ntext/html; charset=utf-8\n[the text of the whole page: it is short]\n\n" +
      `T\n\n# Hello & welcome\n\nmore (http://127.0.0.1:${site.port}/x)`,
  });
  assertEquals(progress, ["connecting to 127.0.0.1", "HTTP 200, text/html; charset=utf-8"]);
});

Deno.test("web_fetch looks a name up in a child and asks the address for that name", async () => {
  await using site = serveSite(() => new Response("plain"));
  await using gate = await gateFixture({ privateHosts: ["localhost"] });
  const url = `http://localhost:${site.port}/named`;
  const result = await gate.act("web_fetch", { url }, saying("localhost"));
  assertEquals(result.status, "ok", result.output);
  assertEquals(site.seen, [`/named localhost:${site.port}`]);
  const start = (await gate.records()).find(({ kind }) => kind === "action.start")!;
  const { addresses } = start.data.target as { addresses: string[] };
  assert(addresses.includes("127.0.0.1"));
});

Deno.test("web_fetch is refused for every spelling of an address of this machine", async () => {
  await using site = serveSite(() => new Response("reached"));
  await using gate = await gateFixture();
  const hosts = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "0",
    "0.0.0.0",
    "localhost",
    "LOCALHOST",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
    "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
    "\u{2460}27.0.0.1",
    "%31%32%37.0.0.1",
    "169.254.169.254",
    "100.100.100.200",
    "10.0.0.1",
    "192.168.1.1",
    "172.16.0.1",
    "224.0.0.1",
    "255.255.255.255",
  ];
  for (const host of hosts) {
    const url = `http://${host}:${site.port}/`;
    const said = new URL(url).hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
    const result = await gate.act("web_fetch", { url }, saying(said));
    assertEquals([host, result.status], [host, "refused"], result.output);
    assertStringIncludes(result.output, "rule fetch.private");
  }
  assertEquals(site.seen, []);
});

Deno.test("web_fetch is refused for what is no plain web address", async () => {
  await using gate = await gateFixture();
  for (
    const [url, reason] of [
      ["file:///etc/passwd", 'scheme is "file"'],
      ["ftp://example.com/", 'scheme is "ftp"'],
      ["data:text/plain,x", 'scheme is "data"'],
      ["javascript:1", 'scheme is "javascript"'],
      ["example.com", "no absolute URL"],
      ["http://", "no absolute URL"],
      ["http://example.com@127.0.0.1/", "user name or password"],
      ["http://:x@example.com/", "user name or password"],
      ["http://[fe80::1%25eth0]/", "no absolute URL"],
      ["http://exa mple.com/", "no absolute URL"],
      [`http://example.com/${"x".repeat(8_180)}`, "longer than"],
    ] as const
  ) {
    const result = await gate.act("web_fetch", { url }, saying("example.com", "127.0.0.1"));
    assertEquals(result.status === "ok", false);
    if (url.length <= 8_192) assertStringIncludes(result.output, reason);
  }
});

Deno.test("web_fetch does not even look up a host that nobody named", async () => {
  await using gate = await gateFixture();
  const url = "https://secrets-as-a-label.attacker.invalid/?q=1";
  const result = await gate.act("web_fetch", { url }, saying("example.com"));
  assertEquals(result.status, "refused");
  assertStringIncludes(result.output, "nobody named the host");
  assertStringIncludes(result.output, `a grant of net.fetch for exactly "${url}"`);
});

Deno.test("web_fetch allows a URL of an earlier result, and no other of its host", async () => {
  await using site = serveSite(() => new Response("fine"));
  await using gate = await gateFixture({ privateHosts: ["127.0.0.1"] });
  const url = `http://127.0.0.1:${site.port}/page?x=1`;
  const context = { toolUrls: [url] };
  assertEquals((await gate.act("web_fetch", { url: `${url}#part` }, { context })).status, "ok");
  const other = await gate.act("web_fetch", { url: `${url}&leak=1` }, { context });
  assertEquals(other.status, "refused");
  assertEquals(site.seen.length, 1);
});

Deno.test("web_fetch judges each redirect anew and refuses one to a private address", async () => {
  await using inner = serveSite(() => new Response("metadata"));
  await using site = serveSite((request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/end") return new Response("the end");
    if (pathname === "/loop") return Response.redirect(`http://127.0.0.1:${site.port}/loop`);
    if (pathname === "/file") {
      return new Response(null, { status: 302, headers: { location: "file:///etc/passwd" } });
    }
    if (pathname === "/relative") {
      return new Response(null, { status: 301, headers: { location: "end" } });
    }
    return Response.redirect(`http://127.0.0.1:${inner.port}/`);
  });
  // Only this one port is listed, so the other server counts as private.
  await using gate = await gateFixture({ privateHosts: [`127.0.0.1:${site.port}`] });
  const get = (path: string) =>
    gate.act("web_fetch", { url: `http://127.0.0.1:${site.port}${path}` }, saying("127.0.0.1"));

  const refused = await get("/inner");
  assertEquals(refused.status, "refused");
  assertStringIncludes(refused.output, `http://127.0.0.1:${inner.port}/`);
  assertStringIncludes(refused.output, "rule fetch.private");
  assertEquals(inner.seen, []);

  assertStringIncludes((await get("/relative")).output, "the end");
  assertStringIncludes((await get("/file")).output, 'scheme is "file"');
  assertEquals((await get("/loop")).output, "Gave up after 5 redirects");
  assertEquals(site.seen.filter((line) => line.startsWith("/loop")).length, 6);
});

Deno.test("web_fetch refuses what is no text, naming the type, and cuts what is too long", async () => {
  await using site = serveSite(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/png") {
      return new Response(new Uint8Array([0x89, 0x50, 0, 0]), {
        headers: { "content-type": "image/png" },
      });
    }
    if (pathname === "/lie") {
      return new Response(new Uint8Array([0, 1, 2]), { headers: { "content-type": "text/html" } });
    }
    if (pathname === "/bomb") {
      const zeros = new Blob([new Uint8Array(40_000_000).fill(0x61)]).stream();
      const packed = zeros.pipeThrough(new CompressionStream("gzip"));
      return new Response(await new Response(packed).bytes(), {
        headers: { "content-type": "text/plain", "content-encoding": "gzip" },
      });
    }
    return new Response("gone", { status: 404 });
  });
  await using gate = await gateFixture({ privateHosts: ["127.0.0.1"] });
  const get = (path: string) =>
    gate.act("web_fetch", { url: `http://127.0.0.1:${site.port}${path}` }, saying("127.0.0.1"));
  const png = await get("/png");
  assertEquals(png.status, "failed");
  assertStringIncludes(png.output, "image/png");
  assertStringIncludes((await get("/lie")).output, "text/html (3 bytes), expected text");
  const bomb = await get("/bomb");
  assertEquals(bomb.status, "ok");
  assertStringIncludes(bomb.output, "[only the first 5.0 MB were read]");
  assertStringIncludes(bomb.output, "bytes cut");
  const missing = await get("/missing");
  assertEquals(missing.status, "failed");
  assertStringIncludes(missing.output, "HTTP 404");
});

Deno.test("web_fetch fails plainly when nobody answers", async () => {
  const port = freePort();
  await using gate = await gateFixture({ privateHosts: ["127.0.0.1"] });
  const result = await gate.act("web_fetch", { url: `http://127.0.0.1:${port}/` }, {
    context: { personHosts: ["127.0.0.1"] },
  });
  assertEquals(result.status, "failed");
  assertStringIncludes(result.output, "127.0.0.1 cannot be reached");
});

Deno.test("web_fetch names the host in the TLS handshake, and nothing when it is an address", async () => {
  for (const [host, named] of [["localhost", true], ["127.0.0.1", false]] as const) {
    const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
    const hello = (async () => {
      using conn = await listener.accept();
      const bytes = new Uint8Array(4_096);
      const count = await conn.read(bytes);
      return new TextDecoder("latin1").decode(bytes.subarray(0, count ?? 0));
    })();
    await using gate = await gateFixture({ privateHosts: [host] });
    const url = `https://${host}:${listener.addr.port}/`;
    const result = await gate.act("web_fetch", { url }, saying(host));
    assertEquals(result.status, "failed");
    assertEquals((await hello).includes("localhost"), named);
    listener.close();
  }
});
