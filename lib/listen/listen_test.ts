import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { isLoopbackHost } from "../base/loopback_host.ts";
import { type Handler, listen, type Listener } from "./listen.ts";
import { rawRequest } from "../http/testing/test_api.ts";

const HOSTS = ["127.0.0.1", "0.0.0.0"];

function open(host: string, handler: Handler, limits = {}): Promise<Listener> {
  return listen({ host, port: 0, handler, setting: "api", limits });
}

const echo: Handler = async (request, peer) =>
  Response.json({ url: request.url, method: request.method, body: await request.text(), peer });

Deno.test("isLoopbackHost() knows loopback names and addresses", () => {
  for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "::1"]) assert(isLoopbackHost(host));
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "localhost.evil.example", "127.evil.example"]) {
    assert(!isLoopbackHost(host));
  }
});

for (const host of HOSTS) {
  Deno.test(`listen() on ${host} hands requests and the peer's address to the handler`, async () => {
    const listener = await open(host, echo);
    assertEquals(listener.url, `http://${host}:${listener.port}`);
    const response = await fetch(`http://127.0.0.1:${listener.port}/a?b=c`, {
      method: "POST",
      body: "hello",
    });
    assertEquals(await response.json(), {
      url: `http://127.0.0.1:${listener.port}/a?b=c`,
      method: "POST",
      body: "hello",
      peer: "127.0.0.1",
    });
    await listener.close();
  });

  Deno.test(`listen() on ${host} streams as it is written and tells when the client leaves`, async () => {
    const left = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const listener = await open(host, (request) => {
      request.signal.addEventListener("abort", () => aborted.resolve());
      let sent = false;
      return new Response(
        new ReadableStream({
          pull(controller) {
            if (sent) return new Promise(() => {});
            sent = true;
            controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
          },
          cancel: () => left.resolve(),
        }, { highWaterMark: 0 }),
      );
    });
    const controller = new AbortController();
    const response = await fetch(`http://127.0.0.1:${listener.port}/`, {
      signal: controller.signal,
    });
    const reader = response.body!.getReader();
    assertEquals(new TextDecoder().decode((await reader.read()).value), "data: 1\n\n");
    controller.abort();
    await reader.read().catch(() => {});
    await Promise.all([left.promise, aborted.promise]);
    await listener.close();
  });

  Deno.test(`listen() on ${host} tells when the client leaves before the answer`, async () => {
    const aborted = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const listener = await open(host, async (request) => {
      request.signal.addEventListener("abort", () => aborted.resolve());
      arrived.resolve();
      await aborted.promise;
      return new Response(null, { status: 499 });
    });
    const connection = await Deno.connect({ port: listener.port });
    await connection.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    await arrived.promise;
    connection.close();
    await aborted.promise;
    await listener.close();
  });

  Deno.test(`listen() on ${host} says nothing of a client that stayed until the end`, async () => {
    const signals: AbortSignal[] = [];
    const listener = await open(host, (request) => {
      signals.push(request.signal);
      return new Response("x");
    });
    for (let i = 0; i < 3; i++) await (await fetch(`http://127.0.0.1:${listener.port}/`)).text();
    await listener.close(60_000);
    assertEquals(signals.map((signal) => signal.aborted), [false, false, false]);
  });

  Deno.test(`listen() on ${host} names a port in use and what to do`, async () => {
    const first = await open(host, echo);
    const error = await assertRejects(
      () => listen({ host, port: first.port, handler: echo, setting: "api" }),
      ServiceError,
    );
    assertEquals(error.code, "config_invalid");
    assertEquals(error.details.param, "api.port");
    assertStringIncludes(error.message, `${host}:${first.port}`);
    assertStringIncludes(error.message, "api.port");
    await first.close();
  });

  Deno.test(`close() on ${host} lets a request end, takes no new one, and frees the port`, async () => {
    const arrived = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const listener = await open(host, async () => {
      arrived.resolve();
      await go.promise;
      return new Response("late");
    });
    const answer = fetch(`http://127.0.0.1:${listener.port}/`);
    await arrived.promise;
    const closed = listener.close(60_000);
    const refused = await fetch(`http://127.0.0.1:${listener.port}/`).then(
      (response) => response.text(),
      () => "no connection",
    );
    assert(refused === "no connection" || refused.includes('"code":"draining"'), refused);
    go.resolve();
    assertEquals(await (await answer).text(), "late");
    await closed;
    const again = await listen({ host, port: listener.port, handler: echo, setting: "api" });
    await again.close();
  });

  Deno.test(`close() on ${host} cuts what does not end within its grace`, async () => {
    const arrived = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    const listener = await open(host, () => {
      arrived.resolve();
      return new Response(
        new ReadableStream({ cancel: () => cancelled.resolve() }, { highWaterMark: 0 }),
      );
    });
    const controller = new AbortController();
    const answer = fetch(`http://127.0.0.1:${listener.port}/`, { signal: controller.signal })
      .then((response) => response.text()).catch(() => "cut");
    await arrived.promise;
    const slow = listener.close(60_000);
    await listener.close(1);
    await slow;
    await cancelled.promise;
    controller.abort();
    await answer;
  });

  Deno.test(`listen() on ${host} closes when its signal aborts`, async () => {
    const controller = new AbortController();
    const listener = await listen({
      host,
      port: 0,
      handler: echo,
      setting: "api",
      signal: controller.signal,
    });
    controller.abort();
    await listener.close();
    await assertRejects(() => Deno.connect({ port: listener.port }));
  });

  Deno.test(`listen() on ${host} answers pipelined and split requests in order`, async () => {
    const listener = await open(host, (request) => new Response(new URL(request.url).pathname));
    const answer = await rawRequest(
      listener.port,
      "GET /one HTTP/1.1\r\nHost: x\r\n\r\nGET /two HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    assert(answer.indexOf("/one") !== -1 && answer.indexOf("/one") < answer.indexOf("/two"));
    await listener.close();
  });
}

Deno.test("listen() brackets an IPv6 host in its URL", async () => {
  const listener = await open("::1", echo);
  assertEquals(listener.url, `http://[::1]:${listener.port}`);
  const { peer } = await (await fetch(listener.url)).json();
  assertEquals(peer, "::1");
  await listener.close();
});

Deno.test("listen() names a host that is not of this machine", async () => {
  for (const host of ["203.0.113.7", "127.0.0.1.invalid"]) {
    const error = await assertRejects(() => open(host, echo), ServiceError, host);
    assertEquals(error.details.param, "api.host");
  }
});

Deno.test("listen() beyond loopback ends a header section that never ends with 408", async () => {
  const listener = await open("0.0.0.0", echo, { headersTimeoutMs: 50 });
  const answer = await rawRequest(listener.port, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
  assertStringIncludes(answer, "408 Request Timeout");
  assertStringIncludes(answer, '"code":"request_timeout"');
  await listener.close();
});

Deno.test("listen() beyond loopback ends a body that never ends", async () => {
  const broken = Promise.withResolvers<void>();
  const listener = await open("0.0.0.0", async (request) => {
    await request.text().catch(() => broken.resolve());
    return new Response("x");
  }, { headersTimeoutMs: 50, requestTimeoutMs: 50 });
  await rawRequest(
    listener.port,
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
  );
  await broken.promise;
  await listener.close();
});

Deno.test("listen() beyond loopback refuses a header section that is too large", async () => {
  const listener = await open("0.0.0.0", echo);
  const answer = await rawRequest(
    listener.port,
    `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${"a".repeat(20_000)}\r\n\r\n`,
  );
  assertStringIncludes(answer, "431 ");
  assertStringIncludes(answer, '"code":"too_large"');
  await listener.close();
});

Deno.test("listen() beyond loopback answers what is no HTTP in the envelope", async () => {
  const listener = await open("0.0.0.0", echo);
  const garbage = await rawRequest(listener.port, "\x16\x03\x01 hello\r\n\r\n");
  assertStringIncludes(garbage, '"code":"invalid_request"');
  const badHost = await rawRequest(
    listener.port,
    "GET / HTTP/1.1\r\nHost: a b<>\r\nConnection: close\r\n\r\n",
  );
  assertStringIncludes(badHost, "400 ");
  assertStringIncludes(badHost, '"code":"invalid_request"');
  await listener.close();
});

Deno.test("listen() beyond loopback leaves the global Response to other listeners", async () => {
  const before = Response;
  const [far, near] = [await open("0.0.0.0", echo), await open("127.0.0.1", echo)];
  assertEquals(Response, before);
  assertEquals((await (await fetch(`${near.url}/x`)).json()).method, "GET");
  await far.close();
  await near.close();
});

Deno.test("listen() refuses connections over its limit, and takes new ones when there is room", async () => {
  const listener = await open("127.0.0.1", echo, { maxConnections: 2 });
  const connect = () => Deno.connect({ port: listener.port, hostname: "127.0.0.1" });
  const request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  const first = await connect();
  using second = await connect();
  // Where it comes before the second was accepted, the system takes it, and cuts it.
  const third = await connect().catch(() => undefined);
  assertEquals(await third?.read(new Uint8Array(1)).catch(() => null) ?? null, null);
  third?.close();
  first.close();
  let answer = "";
  while (answer === "") answer = await rawRequest(listener.port, request).catch(() => "");
  assertStringIncludes(answer, "200 OK");
  await second.write(new TextEncoder().encode(request));
  assert(await second.read(new Uint8Array(1)) !== null, "the second was never cut");
  await listener.close();
});

Deno.test("listen() answers 500 without the text when a handler throws", async () => {
  for (const host of HOSTS) {
    const listener = await open(host, () => {
      throw new Error("secret");
    });
    const response = await fetch(`http://127.0.0.1:${listener.port}/`);
    assertEquals(response.status, 500);
    const { error } = await response.json();
    assertEquals(error.code, "internal_error");
    assert(!error.message.includes("secret"));
    await listener.close();
  }
});
