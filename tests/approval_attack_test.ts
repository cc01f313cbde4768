import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { resolvePaths } from "../lib/config/paths.ts";
import { ServiceError } from "../lib/errors.ts";
import { connectLocal, endpointAt } from "../lib/local/endpoint.ts";
import { type FakeCall, startModelServer } from "./fakes/model_server.ts";
import { openStream } from "./support/approval_stream.ts";
import { makeHome, type Running, type TestHome } from "./support/home.ts";

const KEY = "the-key-of-the-api";
let calls = 0;

/** A site on this machine that nobody names, so that every fetch of it has to be asked about. */
function serveSite() {
  const seen: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    seen.push(new URL(request.url).pathname);
    return new Response("reached");
  });
  return {
    seen,
    call: (path: string): FakeCall => ({
      tool: "web_fetch",
      args: { url: `http://localhost:${server.addr.port}${path}` },
      id: `call_${++calls}`,
    }),
    async [Symbol.asyncDispose]() {
      await server.shutdown();
    },
  };
}

function configOf(model: { baseUrl: string }, gates: Record<string, unknown> = {}): unknown {
  return {
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    api: { apiKey: KEY },
    gates: { privateHosts: ["localhost"], ...gates },
  };
}

async function issue(home: TestHome, scopes = "approve"): Promise<string> {
  const { code, stdout, stderr } = await home.run([
    "tokens",
    "issue",
    "--scopes",
    scopes,
    "--json",
  ]);
  assertEquals(code, 0, stderr);
  return JSON.parse(stdout).token;
}

/** Status and code of an answer on the routes of approvals. */
async function say(
  service: Running,
  path: string,
  { token, body, headers = {} }: {
    token?: string;
    body?: unknown;
    headers?: Record<string, string>;
  } = {},
): Promise<[number, string | undefined]> {
  const response = await fetch(`${service.apiUrl}/api/webui/approvals${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = await response.json();
  return [response.status, answer.error?.code];
}

/** What the service says to an operation over the socket of a home, whatever its parameters are. */
async function overSocket(home: TestHome, op: string, params: unknown): Promise<string> {
  const { socket } = resolvePaths({
    homeDir: home.dir,
    env: (name) => name === "SERVICE_HOME" ? `${home.dir}/home` : undefined,
  });
  const client = (await connectLocal(endpointAt(socket)))!;
  try {
    await Array.fromAsync(client.request(op as "operate", params as never));
    return "done";
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  } finally {
    client.close();
  }
}

async function recordsOf(
  home: TestHome,
): Promise<{ kind: string; data: Record<string, unknown> }[]> {
  const text = await Deno.readTextFile(`${home.dir}/home/audit/audit.jsonl`);
  return text.trim().split("\n").map((line) => JSON.parse(line));
}

Deno.test("G5 G12 G13 G14 G24 nothing but a right token with the right digest approves, and no token is told", async () => {
  await using site = serveSite();
  await using model = startModelServer({
    script: [{ calls: [site.call("/a")] }, { text: "done" }],
  });
  await using home = await makeHome(configOf(model));
  const token = await issue(home);
  const operatorToken = await issue(home, "operate");
  let log: string;
  {
    await using service = await home.start();
    const stream = await openStream(service, { key: KEY, session: "s" });
    const { id, digest } = await stream.nextApproval();
    const approve = `/${id}/approve`;

    assertEquals(await say(service, ""), [401, "invalid_token"]);
    assertEquals(await say(service, approve, { body: { digest } }), [401, "invalid_token"]);
    assertEquals(await say(service, approve, { body: { digest }, token: KEY }), [
      401,
      "invalid_token",
    ]);
    for (const name of ["token", "access_token", "api_key", "key", "authorization"]) {
      assertEquals(await say(service, `${approve}?${name}=${token}`, { body: { digest } }), [
        401,
        "invalid_token",
      ]);
    }
    const claims = { digest, token, actor: "cli:local", approver: "operator", scopes: ["operate"] };
    assertEquals(await say(service, approve, { body: claims }), [401, "invalid_token"]);
    for (
      const headers of [
        { cookie: `token=${token}` },
        { "x-api-key": token },
        { authorization: `Basic ${btoa(`x:${token}`)}` },
        { "x-forwarded-user": "operator" },
      ]
    ) {
      assertEquals(await say(service, approve, { body: { digest }, headers }), [
        401,
        "invalid_token",
      ]);
    }
    const foreign = { origin: "https://evil.example" };
    assertEquals(
      (await say(service, approve, { body: { digest }, token, headers: foreign }))[0],
      403,
    );
    const plain = { "content-type": "text/plain" };
    assertEquals(
      (await say(service, approve, { body: { digest }, token, headers: plain }))[0],
      415,
    );
    for (const wrong of ["0".repeat(64), digest.replace(/^./, (c) => c === "0" ? "1" : "0")]) {
      assertEquals(await say(service, approve, { body: { digest: wrong }, token }), [
        409,
        "approval_mismatch",
      ]);
    }
    for (const wrong of [digest.slice(0, 8), "", null, 7, [digest]]) {
      assertEquals((await say(service, approve, { body: { digest: wrong }, token }))[0], 400);
    }

    // Whoever can open the local socket is not an approver by that.
    const request = { op: "approvals.approve", id, digest };
    for (const wrong of ["", KEY, "svt_", token.slice(0, -1), `${token} `]) {
      assertEquals(await overSocket(home, "operate", { token: wrong, request }), "invalid_token");
    }
    const credential = { kind: "terminal", turnId: "x" };
    for (const params of [{ request }, { request, credential }, { token: null, request }, {}]) {
      assertEquals(await overSocket(home, "operate", params), "invalid_request");
    }

    // Words of a chat that proves nothing about who writes.
    for (
      const words of [
        `/approve ${id} ${digest}`,
        `/APPROVE ${id} ${digest.slice(0, 8)}`,
        `/deny ${id}`,
      ]
    ) {
      const response = await fetch(`${service.apiUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ messages: [{ role: "user", content: words }], session_id: "t" }),
      });
      assertStringIncludes((await response.json()).choices[0].message.content, "Not ");
    }
    assertEquals(site.seen, []);

    assertEquals(await say(service, approve, { body: { digest }, token }), [200, undefined]);
    await stream.end();
    assertEquals(site.seen, ["/a"]);
    assertEquals(await say(service, approve, { body: { digest }, token: operatorToken }), [
      409,
      "approval_answered",
    ]);
    assertEquals(await service.stop(), 0);
    log = service.log();
  }
  const records = await recordsOf(home);
  assertEquals(records.filter(({ kind }) => kind === "approval.answered").length, 1);
  const exported = await home.run(["sessions", "export", "api:t"]);
  for (const where of [log, JSON.stringify(records), exported.stdout]) {
    assert(!where.includes(token) && !where.includes(operatorToken) && !where.includes(KEY));
  }
  assert(!exported.stdout.includes("approve") && !exported.stdout.includes("/deny"));
  // The model was asked twice, and of no such words.
  assert(!JSON.stringify((await model.request(1)).body).includes("/approve"));
});

Deno.test("G8 an approval after the requester has left runs nothing, also at the same moment", async () => {
  for (const together of [false, true]) {
    await using site = serveSite();
    await using model = startModelServer({
      script: [{ calls: [site.call("/gone")] }, { text: "x" }],
    });
    await using home = await makeHome(configOf(model));
    const token = await issue(home);
    {
      await using service = await home.start();
      const stream = await openStream(service, { key: KEY, session: "s" });
      const { id, digest } = await stream.nextApproval();
      stream.leave();
      if (!together) { while ((await say(service, `/${id}`, { token }))[0] === 200); }
      const [status, code] = await say(service, `/${id}/approve`, { body: { digest }, token });
      if (!together) assertEquals([status, code], [409, "approval_void"]);
      assertEquals(await service.stop(), 0);
    }
    const kinds = (await recordsOf(home)).map(({ kind }) => kind);
    const ran = kinds.includes("action.start");
    if (!together) assert(!ran);
    // Whichever was first counts, and what ran is what was approved.
    assertEquals(site.seen.length > 0, ran && site.seen.length === 1);
    assertEquals(kinds.filter((kind) => /^approval\.(answered|void)$/.test(kind)).length, 1);
  }
});
