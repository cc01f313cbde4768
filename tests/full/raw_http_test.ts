import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { listen } from "../../lib/listen/listen.ts";
import { createTestApi } from "../../lib/http/testing/test_api.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import { untilIdle } from "../support/process_facts.ts";
import { jsonPost, type RawAnswer, RawSocket } from "../support/raw_socket.ts";
import { rounds } from "../support/rounds.ts";

const CHAT = "/v1/chat/completions";
const HI = { messages: [{ role: "user", content: "hi" }] };
const HI_TEXT = JSON.stringify(HI);
const CHUNKED = `${HI_TEXT.length.toString(16)}\r\n${HI_TEXT}\r\n0\r\n\r\n`;

function get(more: string, { target = "/v1/models", version = "HTTP/1.1" } = {}): string {
  return `GET ${target} ${version}\r\n${more}Connection: close\r\n\r\n`;
}

function post(headers: string, body: string): string {
  return `POST ${CHAT} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    `${headers}\r\n${body}`;
}

/** Status and slug, of an answer that must be an envelope. */
function refusalOf(answer: RawAnswer): [number, string] {
  assertEquals(answer.headers.get("content-type"), "application/json");
  const { error } = JSON.parse(answer.body);
  assertEquals(Object.keys(error), ["message", "type", "param", "code"]);
  return [answer.status, error.code];
}

const contentOf = ({ body }: RawAnswer): string => JSON.parse(body).choices[0].message.content;

/** Requests that two readers could understand differently, and others that are none. */
const UNREADABLE: Record<string, string> = {
  "two lengths": post(`Content-Length: 3\r\nContent-Length: ${HI_TEXT.length}\r\n`, HI_TEXT),
  "two equal lengths": post(`Content-Length: 46\r\nContent-Length: 46\r\n`, HI_TEXT),
  "a list of lengths": post(`Content-Length: 46, 46\r\n`, HI_TEXT),
  "a negative length": post(`Content-Length: -1\r\n`, HI_TEXT),
  "a length with a sign": post(`Content-Length: +46\r\n`, HI_TEXT),
  "a length in hex": post(`Content-Length: 0x2e\r\n`, HI_TEXT),
  "a length beyond all numbers": post(`Content-Length: 99999999999999999999999\r\n`, HI_TEXT),
  "an empty length": post(`Content-Length: \r\n`, HI_TEXT),
  "a length and chunks": post(
    `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n`,
    `0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
  ),
  "chunks and a length": post(
    `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n`,
    `2e\r\nGET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n0\r\n\r\n`,
  ),
  "an unknown coding": post(`Transfer-Encoding: xchunked\r\n`, CHUNKED),
  "chunks that are not the last coding": post(`Transfer-Encoding: chunked, identity\r\n`, CHUNKED),
  "a coding below the chunks": post(`Transfer-Encoding: gzip, chunked\r\n`, CHUNKED),
  "a second coding": post(`Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n`, CHUNKED),
  "a blank before a header's colon": post(`Transfer-Encoding : chunked\r\n`, CHUNKED),
  "a chunk size that is no number": post(`Transfer-Encoding: chunked\r\n`, `zz\r\n${HI_TEXT}`),
  "a negative chunk size": post(`Transfer-Encoding: chunked\r\n`, `-1\r\n${HI_TEXT}`),
  "a chunk size beyond all numbers": post(
    `Transfer-Encoding: chunked\r\n`,
    `FFFFFFFFFFFFFFFFFF\r\n${HI_TEXT}`,
  ),
  "a chunk longer than its size": post(`Transfer-Encoding: chunked\r\n`, `3\r\n${HI_TEXT}\r\n`),
  "chunks that end in a bare line feed": post(
    `Transfer-Encoding: chunked\r\n`,
    CHUNKED.replaceAll("\r\n", "\n"),
  ),
  "no Host": get(""),
  "two Hosts": get("Host: 127.0.0.1\r\nHost: evil.example\r\n"),
  "a target of another host": get("Host: 127.0.0.1\r\n", {
    target: "http://evil.example/v1/models",
  }),
  "a target that is no path": get("Host: 127.0.0.1\r\n", { target: "v1/models" }),
  "a method that nobody knows": get("Host: 127.0.0.1\r\n").replace("GET", "BREW"),
  "a method in small letters": get("Host: 127.0.0.1\r\n").replace("GET", "get"),
  "a tunnel": "CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: 127.0.0.1:443\r\n\r\n",
  "a NUL in a header": get("Host: 127.0.0.1\r\nX-A: a\0b\r\n"),
  "a NUL in the target": get("Host: 127.0.0.1\r\n", { target: "/v1/\0models" }),
  "a folded header": get("Host: 127.0.0.1\r\nX-A: a\r\n b\r\n"),
  "bare line feeds": get("Host: 127.0.0.1\r\n").replaceAll("\r\n", "\n"),
  "HTTP/0.9": "GET /v1/models\r\n\r\n",
  "HTTP/1.9": get("Host: 127.0.0.1\r\n", { version: "HTTP/1.9" }),
  "HTTP/2.0": get("Host: 127.0.0.1\r\n", { version: "HTTP/2.0" }),
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
  "TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
};

Deno.test("a message that could be understood in two ways is refused, and nothing in it is a request", async (t) => {
  await using home = await makeHome({});
  await using service = await home.start();
  using other = await RawSocket.open(service.apiUrl);
  for (const [name, bytes] of Object.entries(UNREADABLE)) {
    await t.step(name, async () => {
      using socket = await RawSocket.open(service.apiUrl);
      await socket.send(bytes);
      assertEquals(refusalOf(await socket.answer()), [400, "invalid_request"]);
      assertEquals(await socket.rest(), "", "the connection ends, and nothing else was answered");
      await other.send("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
      assertEquals((await other.answer()).status, 200);
    });
  }
  assertEquals((await home.run(["sessions", "list"])).stdout.includes("api:"), false);
  assertEquals(await service.stop(), 0);
  assertEquals(service.log().includes("smuggled"), false);
  const refused = service.log().match(/ - - 400 .*reason="invalid_request"/g)!;
  assertEquals(refused.length, Object.keys(UNREADABLE).length, "each leaves a line in the log");
});

Deno.test("requests that are odd and yet mean one thing are answered as what they are", async (t) => {
  await using home = await makeHome({});
  await using service = await home.start();
  const ask = async (bytes: string, options = {}) => {
    using socket = await RawSocket.open(service.apiUrl);
    await socket.send(bytes);
    return { ...await socket.answer(options), rest: await socket.rest() };
  };
  const host = "Host: 127.0.0.1\r\n";

  await t.step("HTTP/1.0 without a Host, its answer whole or streamed without chunks", async () => {
    assertEquals((await ask("GET /v1/models HTTP/1.0\r\n\r\n")).status, 200);
    const streamed = await ask(
      jsonPost(CHAT, { ...HI, stream: true }).replace("HTTP/1.1", "HTTP/1.0"),
    );
    assertEquals(streamed.headers.get("transfer-encoding"), null);
    assert(streamed.body.endsWith("data: [DONE]\n\n"));
  });
  await t.step("a target with its own host", async () => {
    assertEquals((await ask(get(host, { target: "http://127.0.0.1/v1/models" }))).status, 200);
  });
  await t.step("empty lines before a request", async () => {
    assertEquals((await ask(`\r\n\r\n${get(host)}`)).status, 200);
  });
  await t.step("a chunk extension", async () => {
    const chunks = CHUNKED.replace("\r\n", ';name="value"\r\n');
    const answer = await ask(post("Connection: close\r\nTransfer-Encoding: chunked\r\n", chunks));
    assertStringIncludes(contentOf(answer), "hi");
  });
  await t.step("GET with a body, HEAD, a body of no chunks", async () => {
    assertEquals((await ask(get(`${host}Content-Length: 5\r\n`) + "hello")).status, 200);
    assertEquals(
      (await ask(get(`${host}Transfer-Encoding: chunked\r\n`) + "0\r\n\r\n")).status,
      200,
    );
    const head = await ask(get(host).replace("GET", "HEAD"), { bodiless: true });
    assertEquals([head.status, head.rest], [200, ""]);
    assert(Number(head.headers.get("content-length")) > 0);
  });
  await t.step("TRACE, and methods of other protocols, are 405 with Allow", async () => {
    for (const method of ["TRACE", "PROPFIND", "DELETE"]) {
      const answer = await ask(get(`${host}X-Secret: s\r\n`).replace("GET", method));
      assertEquals(refusalOf(answer), [405, "method_not_allowed"]);
      assertEquals(answer.headers.get("allow"), "GET, HEAD, OPTIONS");
      assertEquals(answer.body.includes("X-Secret"), false);
    }
  });
  await t.step("an upgrade that nobody offers is not taken", async () => {
    for (const protocol of ["websocket", "h2c"]) {
      const upgrade = "Connection: Upgrade, close\r\n" +
        `Upgrade: ${protocol}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n`;
      const answer = await ask(`GET /v1/models HTTP/1.1\r\n${host}${upgrade}\r\n`);
      assertEquals([answer.status, answer.informed], [200, []]);
      assertEquals(JSON.parse(answer.body).object, "list");
    }
  });
  await t.step("an expectation that nobody knows", async () => {
    const answer = await ask(get(`${host}Expect: a-miracle\r\n`));
    assertEquals([answer.status, answer.informed], [200, []]);
  });
  await t.step("a Host after three thousand headers still counts", async () => {
    const answer = await ask(get(`${"A:b\r\n".repeat(3_000)}Host: evil.example\r\n`));
    assertEquals(refusalOf(answer), [403, "forbidden_host"]);
  });
  await t.step(
    "a header section over 16 KiB is 431, also when it is one line or the target",
    async () => {
      const long = "a".repeat(17_000);
      for (
        const bytes of [
          get(`${host}X-A: ${long}\r\n`),
          get(host, { target: `/${long}` }),
          get(`${host}${"Header:b\r\n".repeat(4_000)}`),
        ]
      ) {
        const answer = await ask(bytes);
        assertEquals(refusalOf(answer), [431, "too_large"]);
      }
    },
  );
  await t.step("paths that climb or are no UTF-8 lead nowhere", async () => {
    for (const target of ["//evil.example/v1/models", "/v1/models/%E0%A4%A", "/%2e%2e/%00"]) {
      assertEquals((await ask(get(host, { target }))).status, 404, target);
    }
  });
});

Deno.test("Expect: 100-continue is told to go on, and then answered", async () => {
  await using home = await makeHome({});
  await using service = await home.start();
  using socket = await RawSocket.open(service.apiUrl);
  await socket.send(post(`Expect: 100-continue\r\nContent-Length: ${HI_TEXT.length}\r\n`, ""));
  assertStringIncludes(await socket.readUntil("\r\n\r\n"), "100 Continue");
  await socket.send(HI_TEXT);
  assertEquals((await socket.answer()).status, 200);
});

Deno.test("a request is the same wherever it is cut, also between any two bytes", async () => {
  await using home = await makeHome({});
  await using service = await home.start();
  using socket = await RawSocket.open(service.apiUrl);
  const said = "größe 😀";
  const body = new TextEncoder().encode(
    JSON.stringify({ messages: [{ role: "user", content: said }], session_id: "cut" }),
  );
  const ascii = (text: string) => new TextEncoder().encode(text);
  const join = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
  const requests = [
    join(ascii(post(`Content-Length: ${body.length}\r\n`, "")), body),
    join(
      ascii(post("Transfer-Encoding: chunked\r\n", `5\r\n`)),
      body.subarray(0, 5),
      ascii(`\r\n${(body.length - 5).toString(16)}\r\n`),
      body.subarray(5),
      ascii("\r\n0\r\n\r\n"),
    ),
  ];
  const sendCut = async (request: Uint8Array, cuts: readonly number[]) => {
    let from = 0;
    for (const cut of [...cuts, request.length]) {
      await socket.send(request.subarray(from, cut));
      // A new turn of both event loops, so that the pieces arrive apart.
      await new Promise((resolve) => setTimeout(resolve));
      from = cut;
    }
    const answer = await socket.answer();
    assertEquals(answer.status, 200, answer.body);
    assertStringIncludes(contentOf(answer), `You said: ${said}`);
  };
  for (const request of requests) {
    await sendCut(request, Array.from({ length: request.length - 1 }, (_, index) => index + 1));
  }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...requests).chain((request) =>
        fc.tuple(
          fc.constant(request),
          fc.uniqueArray(fc.integer({ min: 1, max: request.length - 1 }), { maxLength: 6 }),
        )
      ),
      ([request, cuts]) => sendCut(request, cuts.toSorted((a, b) => a - b)),
    ),
    { numRuns: rounds(60) },
  );
});

Deno.test("pipelined requests are answered in their order, none begun before the one in front of it is answered", async () => {
  const release = Promise.withResolvers<void>();
  await using model = startModelServer({
    script: async ({ index }) => {
      if (index === 0) await release.promise;
      return { text: `answer ${index}` };
    },
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using service = await home.start();
  using socket = await RawSocket.open(service.apiUrl);
  const turn = (session_id: string) => jsonPost(CHAT, { ...HI, session_id });
  await socket.send(turn("a"));
  await model.request(0);
  const long = jsonPost(CHAT, {
    messages: [{ role: "user", content: "x".repeat(200_000) }],
    session_id: "c",
  });
  await socket.send(turn("b") + long + get("Host: 127.0.0.1\r\n"));
  using other = await RawSocket.open(service.apiUrl);
  await other.send(turn("other"));
  assertEquals(contentOf(await other.answer()), "answer 1", "others need not wait");
  release.resolve();
  assertEquals(contentOf(await socket.answer()), "answer 0");
  assertEquals(contentOf(await socket.answer()), "answer 2");
  assertEquals(contentOf(await socket.answer()), "answer 3");
  assertEquals(JSON.parse((await socket.answer()).body).object, "list");
  assertEquals(await socket.rest(), "");
});

Deno.test("a client that leaves takes its pipelined requests with it, and one with too many is cut off", async () => {
  await using model = startModelServer({ script: { hang: "headers" } });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using service = await home.start();
  {
    using socket = await RawSocket.open(service.apiUrl);
    const turns = ["a", "b", "c"].map((session_id) => jsonPost(CHAT, { ...HI, session_id }));
    await socket.send(turns.join(""));
    await (await model.request(0)).hanging;
  }
  await (await model.request(0)).closed;
  using flood = await RawSocket.open(service.apiUrl);
  await flood.send(jsonPost(CHAT, HI) + jsonPost(CHAT, HI).repeat(1_000));
  assertEquals(await flood.rest(), "");
  await untilIdle(home);
  assert(model.requests.length <= 2, `${model.requests.length} were asked of the model`);
});

Deno.test("garbage behind a request is refused after its answer, never in the place or the middle of it", async (t) => {
  const releases = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using model = startModelServer({
    script: async ({ index }) => {
      await releases[index]?.promise;
      return { text: "one two three" };
    },
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using service = await home.start();
  for (const [index, stream] of [false, true].entries()) {
    await t.step(stream ? "streamed" : "whole", async () => {
      using socket = await RawSocket.open(service.apiUrl);
      await socket.send(jsonPost(CHAT, { ...HI, stream }));
      await model.request(index);
      await socket.send("this is no request\r\n\r\n");
      // Sent later and answered: the garbage has been read before it.
      await (await fetch(`${service.apiUrl}/health`)).body?.cancel();
      releases[index]!.resolve();
      const answer = await socket.answer();
      assertEquals(answer.status, 200);
      if (stream) assert(answer.body.endsWith("data: [DONE]\n\n"));
      else assertEquals(contentOf(answer), "one two three");
      assertEquals(refusalOf(await socket.answer()), [400, "invalid_request"]);
      assertEquals(await socket.rest(), "");
      assertEquals((await model.request(index)).aborted, false);
    });
  }
  await t.step("a body longer than it said is cut at its length", async () => {
    using socket = await RawSocket.open(service.apiUrl);
    await socket.send(jsonPost(CHAT, HI) + '{"messages":[]}');
    assertEquals(contentOf(await socket.answer()), "one two three");
    assertEquals(refusalOf(await socket.answer()), [400, "invalid_request"]);
    assertEquals(await socket.rest(), "");
  });
  await t.step("a body that breaks off, and then the client goes", async () => {
    using socket = await RawSocket.open(service.apiUrl);
    await socket.send(post(`Content-Length: ${HI_TEXT.length + 1}\r\n`, HI_TEXT));
    await socket.endSending();
    const rest = await socket.rest();
    assert(rest === "" || rest.startsWith("HTTP/1.1 400 "), rest);
  });
  await t.step("a body that breaks off after its answer gets no second one", async () => {
    using socket = await RawSocket.open(service.apiUrl);
    await socket.send(
      "POST /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" +
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    );
    assertEquals(refusalOf(await socket.answer()), [404, "not_found"]);
    await socket.send("zz\r\n");
    assertEquals(await socket.rest(), "");
  });
  assertEquals(model.requests.length, 3, "nothing else reached the model");
});

Deno.test("what never ends is ended: silence, headers, bodies, chunks, trailers, while others are answered", async (t) => {
  const parts = createTestApi();
  await using listener = Object.assign(
    await listen({
      host: "127.0.0.1",
      port: 0,
      setting: "api",
      handler: (request, peer, { socket }) => parts.api.fetch(request, peer, socket),
      limits: { headersTimeoutMs: 1_000, requestTimeoutMs: 2_000 },
    }),
    { [Symbol.asyncDispose]: () => listener.close(0) },
  );
  const head = `POST ${CHAT} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`;
  const endless: Record<string, [first: string, then: string]> = {
    "nothing at all": ["", ""],
    "empty lines": ["", "\r\n"],
    "half of a request line": ["GET /hea", ""],
    "a header that stops": ["GET /health HTTP/1.1\r\nHost", ""],
    "headers one by one": ["GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n", "X-A: b\r\n"],
    "a body that stops": [`${head}Content-Length: 100\r\n\r\n{`, ""],
    "a body byte by byte": [`${head}Content-Length: 100000\r\n\r\n{`, " "],
    "chunks one by one": [`${head}Transfer-Encoding: chunked\r\n\r\n`, "1\r\n \r\n"],
    "a chunk that stops": [`${head}Transfer-Encoding: chunked\r\n\r\nff\r\n{`, ""],
    "trailers one by one": [`${head}Transfer-Encoding: chunked\r\n\r\n0\r\n`, "X-A: b\r\n"],
  };
  await Promise.all(
    Object.entries(endless).map(([name, [first, then]]) =>
      t.step({
        name,
        sanitizeOps: false,
        sanitizeResources: false,
        sanitizeExit: false,
        fn: async () => {
          using socket = await RawSocket.open(listener.port);
          await socket.send(first);
          let over = false;
          const dripping = (async () => {
            while (!over && then !== "" && await socket.send(then)) {
              await new Promise((resolve) => setTimeout(resolve, 10));
            }
          })();
          try {
            assertEquals(refusalOf(await socket.answer()), [408, "request_timeout"]);
            assertEquals(await socket.rest(), "");
          } finally {
            over = true;
            socket.close();
            await dripping;
          }
          const health = await fetch(`${listener.url}/health`);
          assertEquals(health.status, 200);
          await health.body?.cancel();
        },
      })
    ),
  );
  assertEquals(parts.turns.accepted.length, 0);
});
