import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { gzipSync } from "node:zlib";
import { SignJWT } from "jose";
import type { JwksNetwork } from "./fetch_jwks.ts";
import { makeSigner, NOW_S, sign } from "./testing/issuer.ts";
import { answerKeys, JwksServer, PRIVATE_ADDRESS } from "./testing/jwks_server.ts";
import { jwtBlock, proxyWorld } from "./testing/proxy_world.ts";

const OLD = await makeSigner("ES256", "old");
const NEW = await makeSigner("ES256", "new");
const MINUTE_MS = 60_000;
/** Tokens that outlive the clock of a test. */
const LONG = { exp: NOW_S + 100_000 };

type Answer = JwksServer["answer"];
const serve = (answer: Answer = answerKeys([OLD.jwk])) => new JwksServer(answer).listen();

function worldOf(server: JwksServer, network: JwksNetwork = server.network) {
  const world = proxyWorld(jwtBlock({ jwksUrl: server.url }), network);
  return {
    ...world,
    /** Why the last fetch failed. */
    failure: () => world.logged.findLast(({ fields }) => "url" in fields)?.fields.reason,
  };
}

Deno.test("RemoteKeys fetches from judged addresses under the host's name, and keeps the keys 10 minutes", async () => {
  await using server = await serve();
  const { ask, clock, logged } = worldOf(server);
  const token = await sign(OLD, LONG);
  assertNotEquals(await ask(token), undefined);
  assertEquals(server.lookedUp, ["keys.example"]);
  assertEquals(server.asked.map(({ addresses }) => addresses), [[PRIVATE_ADDRESS]]);
  const [{ url, headers }] = server.requests as [typeof server.requests[0]];
  assertEquals(url, "/jwks?v=1");
  assertMatch(headers.host!, /^keys\.example:\d+$/);
  assertEquals(headers["accept-encoding"], "identity");
  assertEquals([headers.cookie, headers.authorization], [undefined, undefined]);

  clock.advance(10 * MINUTE_MS - 1);
  assertNotEquals(await ask(token), undefined);
  assertEquals(server.requests.length, 1);
  clock.advance(1);
  assertNotEquals(await ask(token), undefined);
  assertEquals(server.requests.length, 2);
  assertEquals(logged, []);
  assertEquals(clock.timers, 0);
});

Deno.test("RemoteKeys fetches nothing for a request that has no token of its kind", async () => {
  await using server = await serve();
  const { ask } = worldOf(server);
  assertEquals(await ask([]), undefined);
  assertEquals(await ask("x"), undefined);
  assertEquals(await ask(await sign(OLD), "11.0.0.1"), undefined);
  assertEquals(await ask(await sign(OLD, {}, { kid: undefined })), undefined);
  assertEquals(server.requests.length + server.lookedUp.length, 0);
});

Deno.test("RemoteKeys finds a new key by one refresh", async () => {
  await using server = await serve();
  const { ask, clock, reason } = worldOf(server);
  assertNotEquals(await ask(await sign(OLD, LONG)), undefined);
  server.answer = answerKeys([NEW.jwk]);
  clock.advance(MINUTE_MS);
  assertNotEquals(await ask(await sign(NEW, LONG)), undefined);
  assertEquals(server.requests.length, 2);
  assertEquals(await ask(await sign(OLD, LONG)), undefined);
  assertEquals(reason(), "no signing key has the kid of the assertion");
});

Deno.test("RemoteKeys fetches at most once a minute, whatever kids are named", async () => {
  await using server = await serve();
  const { ask, clock } = worldOf(server);
  const named = (kid: string) => sign(OLD, LONG, { kid });
  for (let at = 0; at < 20; at++) assertEquals(await ask(await named(`kid-${at}`)), undefined);
  assertEquals(server.requests.length, 1);
  clock.advance(MINUTE_MS - 1);
  assertEquals(await ask(await named("late")), undefined);
  assertEquals(server.requests.length, 1);
  clock.advance(1);
  for (let at = 0; at < 20; at++) assertEquals(await ask(await named(`kid-${at}`)), undefined);
  assertEquals(server.requests.length, 2);
  assertNotEquals(await ask(await sign(OLD, LONG)), undefined);
});

Deno.test("RemoteKeys fetches once for many tokens at once", async () => {
  await using server = await serve();
  const { ask } = worldOf(server);
  const tokens = await Promise.all(Array.from({ length: 50 }, () => sign(OLD, LONG)));
  const all = await Promise.all(tokens.map((token) => ask(token)));
  assertEquals(all.filter((each) => each?.identity === "ann@example.org").length, 50);
  assertEquals(server.requests.length, 1);
});

Deno.test("RemoteKeys refuses by old keys, and uses fresh ones while refreshes fail", async () => {
  await using server = await serve();
  const { ask, clock, reason, failure } = worldOf(server);
  const token = await sign(OLD, LONG);
  assertNotEquals(await ask(token), undefined);
  const good = server.answer;
  server.answer = (_, response) => void response.writeHead(500).end();
  clock.advance(9 * MINUTE_MS + 30_000);
  assertEquals(await ask(await sign(NEW, LONG)), undefined);
  assertEquals(failure(), "the answer has the status 500, expected 200");
  assertNotEquals(await ask(token), undefined);
  clock.advance(30_000);
  assertEquals(await ask(token), undefined);
  assertEquals(reason(), "the signing keys are too old, and could not be fetched anew");
  assertEquals(server.requests.length, 2);
  server.answer = good;
  clock.advance(30_000);
  assertNotEquals(await ask(token), undefined);
});

Deno.test("RemoteKeys takes a set without keys as one: whose keys are withdrawn is not believed", async () => {
  await using server = await serve();
  const { ask, clock } = worldOf(server);
  assertNotEquals(await ask(await sign(OLD, LONG)), undefined);
  server.answer = answerKeys([]);
  clock.advance(MINUTE_MS);
  assertEquals(await ask(await sign(NEW, LONG)), undefined);
  assertEquals(await ask(await sign(OLD, LONG)), undefined);
});

Deno.test("RemoteKeys takes no secret out of a set, and leaves strange members aside", async () => {
  const secret = new TextEncoder().encode("0123456789abcdef0123456789abcdef");
  const k = secret.toBase64({ alphabet: "base64url", omitPadding: true });
  await using server = await serve(
    answerKeys([null, 5, "x", [], {}, { kty: "oct", kid: "old", k, alg: "HS256" }, OLD.jwk]),
  );
  const { ask, reason } = worldOf(server);
  assertNotEquals(await ask(await sign(OLD)), undefined);
  const forged = await new SignJWT({ email: "eve" })
    .setProtectedHeader({ alg: "HS256", kid: "old" }).sign(secret);
  assertEquals(await ask(forged), undefined);
  assertMatch(String(reason()), /algorithm/);
});

Deno.test("RemoteKeys refuses a kid that two keys have", async () => {
  await using server = await serve(answerKeys([OLD.jwk, { ...NEW.jwk, kid: "old" }]));
  const { ask, reason } = worldOf(server);
  assertEquals(await ask(await sign(OLD)), undefined);
  assertEquals(reason(), "several signing keys have the kid of the assertion");
});

const json = { "content-type": "application/json" };
const broken: [name: string, answer: Answer, failure: RegExp][] = [
  ["nothing there", (_, response) => void response.writeHead(404, json).end("{}"), /404/],
  ["no content", (_, response) => void response.writeHead(204).end(), /204/],
  [
    "a wrong type",
    (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("{}"),
    /no JSON by its Content-Type/,
  ],
  [
    "no type",
    (_, response) => void response.writeHead(200).end(JSON.stringify({ keys: [OLD.jwk] })),
    /no JSON by its Content-Type/,
  ],
  ["no JSON", (_, response) => void response.writeHead(200, json).end("{keys"), /is no JSON$/],
  [
    "bytes that are no text",
    (_, response) => void response.writeHead(200, json).end(new Uint8Array([0x22, 0xff, 0x22])),
    /is no JSON$/,
  ],
  ["nothing at all", (_, response) => void response.writeHead(200, json).end(), /is no JSON$/],
  ["a list", (_, response) => void response.writeHead(200, json).end("[]"), /no set of keys/],
  ["null", (_, response) => void response.writeHead(200, json).end("null"), /no set of keys/],
  [
    "JSON that is nested too deep for anything",
    (_, response) => void response.writeHead(200, json).end("[".repeat(200_000)),
    /is no JSON$/,
  ],
  [
    "a body that is longer than it may be, and says so",
    (_, response) =>
      void response.writeHead(200, { ...json, "content-length": "262145" })
        .end(" ".repeat(262_145)),
    /more than 262144 bytes/,
  ],
  [
    "a compressed bomb",
    (_, response) =>
      void response.writeHead(200, { ...json, "content-encoding": "gzip" })
        .end(gzipSync(new Uint8Array(50_000_000))),
    /compressed/,
  ],
  [
    "a connection that is cut",
    (_, response) => {
      response.writeHead(200, { ...json, "content-length": "100" });
      response.write("{");
      response.socket!.destroy();
    },
    /./,
  ],
];

for (const [name, answer, wanted] of broken) {
  Deno.test(`fetchJwks() refuses ${name}`, async () => {
    await using server = await serve(answer);
    const { ask, failure, reason, logged } = worldOf(server);
    const token = await sign(OLD);
    assertEquals(await ask(token), undefined);
    assertMatch(String(failure()), wanted);
    assertEquals(reason(), "the signing keys are not there: they could not be fetched");
    for (const part of token.split(".")) {
      assertEquals(JSON.stringify(logged).includes(part), false);
    }
  });
}

Deno.test("fetchJwks() takes 256 KiB to the byte", async () => {
  const text = JSON.stringify({ keys: [OLD.jwk] });
  await using server = await serve((_, response) => {
    response.writeHead(200, { "content-type": "application/jwk-set+json" });
    response.end(text.padEnd(262_144));
  });
  assertNotEquals(await worldOf(server).ask(await sign(OLD)), undefined);
});

Deno.test("fetchJwks() stops reading a body that never ends", async () => {
  const closed = Promise.withResolvers<void>();
  let sent = 0;
  await using server = await serve((_, response) => {
    response.writeHead(200, json);
    response.on("close", closed.resolve);
    const chunk = " ".repeat(16_384);
    const more = () => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
    };
    response.on("drain", more);
    more();
  });
  const { ask, failure } = worldOf(server);
  assertEquals(await ask(await sign(OLD)), undefined);
  assertEquals(failure(), "the answer has more than 262144 bytes");
  await closed.promise;
  assertEquals(sent < 20_000_000, true, `${sent} bytes were taken`);
});

Deno.test("fetchJwks() waits for no byte of a body that is announced too long", async () => {
  const closed = Promise.withResolvers<void>();
  await using server = await serve((_, response) => {
    response.writeHead(200, { ...json, "content-length": "1000000000" });
    response.on("close", closed.resolve);
    response.flushHeaders();
  });
  const { ask, failure } = worldOf(server);
  assertEquals(await ask(await sign(OLD)), undefined);
  assertEquals(failure(), "the answer has more than 262144 bytes");
  await closed.promise;
});

Deno.test("fetchJwks() lets go of a refused answer, also where no signal is heard", async () => {
  await using server = await serve();
  const letGo = Promise.withResolvers<void>();
  const { ask } = worldOf(server, {
    ...server.network,
    fetchAt: () =>
      Promise.resolve(
        new Response(new ReadableStream({ cancel: () => letGo.resolve() }), { status: 500 }),
      ),
  });
  assertEquals(await ask(await sign(OLD)), undefined);
  await letGo.promise;
});

for (const status of [301, 302, 303, 307, 308]) {
  Deno.test(`fetchJwks() follows no redirect (${status})`, async () => {
    await using goal = await serve();
    await using server = await serve((_, response) => {
      const location = goal.url.replace("keys.example", "127.0.0.1");
      response.writeHead(status, { ...json, location }).end();
    });
    const { ask, failure } = worldOf(server);
    assertEquals(await ask(await sign(OLD)), undefined);
    assertMatch(String(failure()), /redirect/);
    assertEquals([server.requests.length, goal.requests.length], [1, 0]);
  });
}

Deno.test("fetchJwks() refuses what a network followed in spite of it all", async () => {
  await using server = await serve();
  const followed = Object.defineProperty(
    Response.json({ keys: [OLD.jwk] }),
    "redirected",
    { value: true },
  );
  const { ask, failure } = worldOf(server, {
    ...server.network,
    fetchAt: () => Promise.resolve(followed),
  });
  assertEquals(await ask(await sign(OLD)), undefined);
  assertEquals(failure(), "the answer is a redirect, and redirects are not followed");
});

const hangs: [name: string, answer: Answer][] = [
  ["never answers", () => {}],
  ["never ends its body", (_, response) => {
    response.writeHead(200, json);
    response.write('{"keys":[');
  }],
];

for (const [name, answer] of hangs) {
  Deno.test(`fetchJwks() gives up after 5 s when a server ${name}`, async () => {
    const arrived = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    await using server = await serve((request, response) => {
      response.on("close", closed.resolve);
      answer(request, response);
    });
    server.onRequest = arrived.resolve;
    const { ask, clock, failure } = worldOf(server);
    const asking = ask(await sign(OLD));
    await arrived.promise;
    clock.advance(4_999);
    assertEquals(failure(), undefined);
    clock.advance(1);
    assertEquals(await asking, undefined);
    assertEquals(failure(), "they did not come within 5 s");
    await closed.promise;
    assertEquals(clock.timers, 0);
  });
}

for (const part of ["resolve", "fetchAt"] as const) {
  Deno.test(`fetchJwks() gives up after 5 s when ${part} hears no signal`, async () => {
    await using server = await serve();
    const begun = Promise.withResolvers<void>();
    const { ask, clock, failure } = worldOf(server, {
      ...server.network,
      [part]: () => {
        begun.resolve();
        return new Promise<never>(() => {});
      },
    });
    const asking = ask(await sign(OLD));
    await begun.promise;
    clock.advance(5_000);
    assertEquals(await asking, undefined);
    assertEquals(failure(), "they did not come within 5 s");
  });
}

Deno.test("fetchJwks() lets go of an answer that comes late", async () => {
  await using server = await serve();
  const begun = Promise.withResolvers<void>();
  const late = Promise.withResolvers<Response>();
  const letGo = Promise.withResolvers<void>();
  const { ask, clock } = worldOf(server, {
    ...server.network,
    fetchAt: () => {
      begun.resolve();
      return late.promise;
    },
  });
  const asking = ask(await sign(OLD));
  await begun.promise;
  clock.advance(5_000);
  assertEquals(await asking, undefined);
  late.resolve(new Response(new ReadableStream({ cancel: () => letGo.resolve() })));
  await letGo.promise;
});

for (
  const addresses of [
    ["127.0.0.1"],
    ["127.8.8.8"],
    ["0.0.0.0"],
    ["169.254.169.254"],
    ["169.254.0.1"],
    ["100.100.100.200"],
    ["168.63.129.16"],
    ["::1"],
    ["::"],
    ["fe80::1"],
    ["fd00:ec2::254"],
    ["FD00:0EC2:0::0254"],
    ["::ffff:127.0.0.1"],
    ["::ffff:a9fe:a9fe"],
    ["::ffff:0.0.0.0"],
    ["::127.0.0.1"],
    ["64:ff9b::a9fe:a9fe"],
    ["2002:7f00:1::"],
    ["224.0.0.1"],
    ["255.255.255.255"],
    ["0x7f.1"],
    ["2130706433"],
    ["keys.example"],
    [""],
    [],
    ["10.0.0.9", "127.0.0.1"],
    ["8.8.8.8"],
    Array.from({ length: 65 }, () => "10.0.0.9"),
  ]
) {
  Deno.test(`fetchJwks() connects to nothing when a name is ${JSON.stringify(addresses).slice(0, 40)}`, async () => {
    await using server = await serve();
    server.addresses = addresses;
    const { ask, failure } = worldOf(server);
    assertEquals(await ask(await sign(OLD)), undefined);
    assertMatch(String(failure()), /^"keys\.example" (?:leads to|leads over|has)/);
    assertEquals([server.asked.length, server.requests.length], [0, 0]);
  });
}

for (
  const [found, connected] of [
    ["10.1.2.3", "10.1.2.3"],
    ["172.16.0.1", "172.16.0.1"],
    ["192.168.1.1", "192.168.1.1"],
    ["::ffff:192.168.1.1", "192.168.1.1"],
    ["fd12:3456::1", "fd12:3456::1"],
  ] as const
) {
  Deno.test(`fetchJwks() connects to the private address ${found}`, async () => {
    await using server = await serve();
    server.addresses = [found];
    assertNotEquals(await worldOf(server).ask(await sign(OLD)), undefined);
    assertEquals(server.asked[0]!.addresses, [connected]);
  });
}

Deno.test("fetchJwks() judges what a name is now, and not what it was", async () => {
  await using server = await serve();
  const { ask, clock, failure } = worldOf(server);
  assertNotEquals(await ask(await sign(OLD, LONG)), undefined);
  server.addresses = ["127.0.0.1"];
  clock.advance(10 * MINUTE_MS);
  assertEquals(await ask(await sign(OLD, LONG)), undefined);
  assertMatch(String(failure()), /loopback/);
  assertEquals(server.requests.length, 1);
});

Deno.test("fetchJwks() looks no address up", async () => {
  await using server = await serve();
  const url = server.url.replace("keys.example", "10.0.0.9");
  const { ask } = proxyWorld(jwtBlock({ jwksUrl: url }), server.network);
  assertNotEquals(await ask(await sign(OLD)), undefined);
  assertEquals(server.lookedUp, []);
});

Deno.test("RemoteKeys says that a name cannot be looked up", async () => {
  await using server = await serve();
  const { ask, failure } = worldOf(server, {
    ...server.network,
    resolve: () => Promise.reject(new Error("no such host")),
  });
  assertEquals(await ask(await sign(OLD)), undefined);
  assertEquals(failure(), "no such host");
});
