import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { needs } from "../../../tests/support/needs.ts";
import { ServiceError } from "../../base/errors.ts";
import { MAX_JWKS_BYTES } from "../../trusted_proxy/jwks_limits.ts";
import { addressRange } from "../../base/addresses.ts";
import {
  type ChildJob,
  type ChildOutcome,
  createExecutor,
  type Executor,
} from "../../executor/executor.ts";
import { createSigningKeyFetch } from "./signing_key_fetch.ts";

/** An address of this machine that keys may be fetched from, such as a container has. */
const OWN = Deno.networkInterfaces().map(({ address }) => address)
  .find((address) => ["private", "uniqueLocal"].includes(addressRange(address)));
const privateAddress = { what: "a private address", isThere: OWN !== undefined };

/** An executor that only says what it was to run. */
function keptJobs(...outcomes: ChildOutcome[]) {
  const jobs: ChildJob[] = [];
  const executor: Pick<Executor, "run"> = {
    run(job) {
      jobs.push(job);
      return Promise.resolve(outcomes.shift()!);
    },
  };
  return { jobs, executor };
}

const ANSWER: ChildOutcome = {
  type: "result",
  output: JSON.stringify({
    status: 200,
    headers: { "content-type": "application/json" },
    body: "e30=",
  }),
};

/** Fetches for real from a server at this machine's own address. */
async function fromServer(answer: RequestListener, path = "/keys?v=1") {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, OWN, resolve));
  const { port } = server.address() as AddressInfo;
  const cacheDir = await Deno.makeTempDir();
  const silent = () => {};
  const log = { debug: silent, info: silent, warning: silent, error: silent };
  const executor = createExecutor({ cacheDir, log });
  try {
    const host = OWN!.includes(":") ? `[${OWN}]` : OWN;
    const keys = createSigningKeyFetch({ jwksUrl: `http://${host}:${port}${path}`, executor });
    assertEquals(await keys.resolve(), [OWN]);
    return await keys.ask();
  } finally {
    await executor.shutdown();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await Deno.remove(cacheDir, { recursive: true });
  }
}

Deno.test("ask() reaches nothing but what resolve() found and judged, by a child with that permission", async () => {
  const { jobs, executor } = keptJobs(
    { type: "addresses", addresses: ["10.0.0.9", "::ffff:192.168.1.2"] },
    ANSWER,
  );
  const keys = createSigningKeyFetch({ jwksUrl: "http://keys.example:8080/jwks", executor });
  assertEquals(await keys.resolve(), ["10.0.0.9", "192.168.1.2"]);
  const { status, body } = await keys.ask();
  assertEquals([status, new TextDecoder().decode(body)], [200, "{}"]);
  const [resolver, child] = jobs;
  assertEquals([resolver!.task.tool, resolver!.permissions.net], ["resolve_host", [
    "keys.example",
  ]]);
  assertEquals(child!.task.tool, "fetch_keys");
  assertEquals(child!.permissions.net, ["10.0.0.9:8080", "192.168.1.2:8080"]);
  assertEquals([child!.permissions.read, child!.permissions.write], [[], []]);
  for (const closed of ["127.0.0.0/8", "169.254.0.0/16", "[::1]"]) {
    assertEquals(child!.permissions.denyNet.includes(closed), true, closed);
  }
  await assertRejects(() => keys.ask(), ServiceError, "has no address");
  assertEquals(jobs.length, 2, "addresses are used once");
});

Deno.test("resolve() refuses a name of which one address is closed, and ask() asks nobody then", async () => {
  for (
    const bad of [
      "127.0.0.1",
      "::1",
      "169.254.169.254",
      "fe80::1",
      "::ffff:127.0.0.1",
      "0.0.0.0",
      "fd00:ec2::254",
      "8.8.8.8",
    ]
  ) {
    const { jobs, executor } = keptJobs({ type: "addresses", addresses: ["10.0.0.9", bad] });
    const keys = createSigningKeyFetch({ jwksUrl: "http://keys.example/jwks", executor });
    await assertRejects(() => keys.resolve(), ServiceError, "keys.example");
    await assertRejects(() => keys.ask(), ServiceError, "has no address");
    assertEquals(jobs.length, 1, bad);
  }
});

Deno.test("createSigningKeyFetch() refuses URLs at closed addresses", () => {
  const { executor } = keptJobs();
  for (
    const jwksUrl of [
      "http://127.0.0.1/jwks",
      "http://localhost/jwks",
      "http://169.254.169.254/latest",
      "http://[::1]/",
      "http://2130706433/",
      "file:///etc/passwd",
      "",
    ]
  ) {
    const error = assertThrows(() => createSigningKeyFetch({ jwksUrl, executor }), ServiceError);
    assertEquals(error.code, "config_invalid");
  }
});

Deno.test("both steps fail in words when a child does, and never run two children at once", async () => {
  const { executor } = keptJobs({ type: "failure", message: "its host cannot be looked up" });
  const keys = createSigningKeyFetch({ jwksUrl: "http://keys.example/jwks", executor });
  const [first, second] = await Promise.allSettled([keys.resolve(), keys.resolve()]);
  assertMatch(String((first as PromiseRejectedResult).reason), /looked up/);
  assertEquals((second as PromiseRejectedResult).reason.code, "overloaded");
  for (
    const outcome of [
      { type: "timeout", timeoutMs: 5_000 },
      { type: "redirect", url: "http://10.0.0.1/" },
      { type: "result", output: "no JSON" },
      {
        type: "result",
        output: JSON.stringify({ status: 200, headers: { cookie: "x" }, body: "" }),
      },
    ] as ChildOutcome[]
  ) {
    const { executor } = keptJobs(outcome);
    const literal = createSigningKeyFetch({ jwksUrl: "http://10.0.0.9/jwks", executor });
    const error = await assertRejects(() => literal.ask(), ServiceError);
    assertEquals(error.code, "executor_fault");
  }
});

Deno.test({
  ...needs("ask() brings what a real server says, through a real child", privateAddress),
  async fn() {
    const answer = await fromServer((request, response) => {
      response.writeHead(200, { "content-type": "application/json", "set-cookie": "a=b" });
      response.end(
        JSON.stringify({ url: request.url, accept: request.headers["accept-encoding"] }),
      );
    });
    assertEquals(answer.status, 200);
    assertEquals(answer.headers["content-type"], "application/json");
    assertEquals("set-cookie" in answer.headers, false);
    assertEquals(JSON.parse(new TextDecoder().decode(answer.body)), {
      url: "/keys?v=1",
      accept: "identity",
    });
  },
});

Deno.test({
  ...needs(
    "ask() follows no redirect, and keeps no more than a bound of what is huge",
    privateAddress,
  ),
  async fn() {
    const redirect = await fromServer((_request, response) => {
      response.writeHead(302, { location: "http://127.0.0.1/" });
      response.end("elsewhere");
    });
    assertEquals([redirect.status, redirect.body.length], [302, 0]);
    const huge = await fromServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = "x".repeat(65_536);
      const more = () => {
        while (response.write(chunk));
      };
      response.on("drain", more);
      more();
    });
    assertEquals(huge.body.length, MAX_JWKS_BYTES + 1);
  },
});

Deno.test({
  ...needs("ask() gives up on a server that hangs", privateAddress),
  async fn() {
    const error = await assertRejects(() => fromServer(() => {}), ServiceError);
    assertMatch(error.message, /no answer within 5 s/);
  },
});
