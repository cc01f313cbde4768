import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { resolvePaths } from "../../lib/config/paths.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { connectLocal, endpointAt } from "../../lib/local/endpoint.ts";
import { type FakeCall, type RecordedRequest, startModelServer } from "../fakes/model_server.ts";
import { openStream } from "../support/approval_stream.ts";
import { makeHome, type Running, type TestHome } from "../support/home.ts";
import { until } from "../support/process_facts.ts";

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
    await client.call(op as "operate", params as never);
    return "done";
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  } finally {
    client.close();
  }
}

function resultsIn({ body }: RecordedRequest): string[] {
  const messages: { role: string; content: string }[] = body.messages;
  return messages.filter(({ role }) => role === "tool").map(({ content }) => content);
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
      const [name, value] of [
        ["cookie", `token=${token}`],
        ["x-api-key", token],
        ["authorization", `Basic ${btoa(`x:${token}`)}`],
        ["x-forwarded-user", "operator"],
      ] as const
    ) {
      const headers = { [name]: value };
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
    for (const params of [{ request }, { request, credential }]) {
      assertEquals(await overSocket(home, "operate", params), "invalid_token");
    }
    for (const params of [{ token: null, request }, {}]) {
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
      if (!together) await until(async () => (await say(service, `/${id}`, { token }))[0] !== 200);
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

Deno.test("G7 no answer in time: refused as expired, nothing ran, and a late answer is told so", async () => {
  await using site = serveSite();
  await using model = startModelServer({
    script: [{ calls: [site.call("/late")] }, { text: "x" }],
  });
  await using home = await makeHome(configOf(model, { approvalTimeoutS: 1 }));
  const token = await issue(home);
  {
    await using service = await home.start();
    const stream = await openStream(service, { key: KEY, session: "s" });
    const { id, digest } = await stream.nextApproval();
    await stream.end();
    assertEquals(await say(service, `/${id}/approve`, { body: { digest }, token }), [
      409,
      "approval_expired",
    ]);
    const [result] = resultsIn(await model.request(1));
    assertStringIncludes(result!, "Refused: net.fetch of");
    assertStringIncludes(result!, "nobody approved it in time");
    assertEquals(await service.stop(), 0);
  }
  assertEquals(site.seen, []);
  // Nobody said no: the next one may be asked about again.
  assert((await recordsOf(home)).every(({ kind }) => kind !== "latch.set"));
});

Deno.test("many approvers at once: one answer counts, and the action runs once or never", async () => {
  for (const denies of [0, 5]) {
    await using site = serveSite();
    await using model = startModelServer({ script: [{ calls: [site.call("/x")] }, { text: "x" }] });
    await using home = await makeHome(configOf(model));
    const tokens = [await issue(home), await issue(home, "operate")];
    let approved: boolean;
    {
      await using service = await home.start();
      const stream = await openStream(service, { key: KEY, session: "s" });
      const { id, digest } = await stream.nextApproval();
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, at) => {
          const isDenial = at < denies;
          const body = isDenial ? { reason: "no" } : { digest };
          return say(service, `/${id}/${isDenial ? "deny" : "approve"}`, {
            body,
            token: tokens[at % 2],
          });
        }),
      );
      await stream.end();
      const done = answers.findIndex(([status]) => status === 200);
      approved = done >= denies;
      assertEquals(answers.filter(([status]) => status === 200).length, 1);
      for (const [at, answer] of answers.entries()) {
        if (at !== done) assertEquals(answer, [409, "approval_answered"]);
      }
      assertEquals(await service.stop(), 0);
    }
    assertEquals(site.seen, approved ? ["/x"] : []);
    const kinds = (await recordsOf(home)).map(({ kind }) => kind);
    assertEquals(kinds.filter((kind) => kind === "approval.answered").length, 1);
  }
});

Deno.test("G9 G10 G11 a denial holds in its session, over a restart, and damage of it refuses until an operator acts", async () => {
  await using site = serveSite();
  const call = { calls: [site.call("/again")] };
  await using model = startModelServer({
    script: (request) =>
      JSON.stringify(request.body.messages.at(-1)).includes('"role":"tool"')
        ? { text: "ok" }
        : call,
  });
  await using home = await makeHome(configOf(model));
  const token = await issue(home, "operate");
  const lastResult = async () => {
    const requests = await model.request(model.requests.length - 1);
    return resultsIn(requests).at(-1)!;
  };
  {
    await using service = await home.start();
    const stream = await openStream(service, { key: KEY, session: "s" });
    const { id } = await stream.nextApproval();
    const reason = "not that one \u202e please";
    assertEquals(await say(service, `/${id}/deny`, { body: { reason }, token }), [200, undefined]);
    await stream.end();
    assertStringIncludes(await lastResult(), "not that one");
    // The same again: refused at once, nobody is asked.
    await (await openStream(service, { key: KEY, session: "s" })).end();
    assertStringIncludes(await lastResult(), "rule latched");
    // Another session is asked about.
    const other = await openStream(service, { key: KEY, session: "t" });
    await other.nextApproval();
    other.leave();
    await service.kill();
  }
  {
    await using service = await home.start();
    await (await openStream(service, { key: KEY, session: "s" })).end();
    assertStringIncludes(await lastResult(), "rule latched");
    assertEquals(await service.stop(), 0);
  }
  const latches = `${home.dir}/home/operator/latches.json`;
  const text = await Deno.readTextFile(latches);
  // The other session's name in place of this one's: as if somebody else had been denied.
  await Deno.writeTextFile(latches, text.replaceAll("api:s", "api:u"));
  {
    await using service = await home.start();
    for (const session of ["s", "t", "never"]) {
      await (await openStream(service, { key: KEY, session })).end();
      assertStringIncludes(await lastResult(), "rule state");
    }
    await Deno.writeTextFile(latches, text);
    assertEquals(await service.stop(), 0);
  }
  {
    await using service = await home.start();
    const run = (args: string[]) => home.run(args, { env: { SERVICE_APPROVER_TOKEN: token } });
    const cleared = await run(["latches", "clear", "api:s", "net.fetch"]);
    assertEquals(cleared.code, 0, cleared.stderr);
    const asked = await openStream(service, { key: KEY, session: "s" });
    await asked.nextApproval();
    asked.leave();
    assertEquals(await service.stop(), 0);
  }
  assertEquals(site.seen, []);
  const kinds = (await recordsOf(home)).map(({ kind }) => kind);
  assertEquals(kinds.filter((kind) => kind === "latch.set").length, 1);
  assertEquals(kinds.filter((kind) => kind === "latch.cleared").length, 1);
});

Deno.test("G8 whoever can come back with an Idempotency-Key has left all the same when he leaves", async () => {
  await using site = serveSite();
  await using model = startModelServer({
    script: [{ calls: [site.call("/gone")] }, { text: "x" }],
  });
  await using home = await makeHome(configOf(model));
  const token = await issue(home);
  {
    await using service = await home.start();
    const asked = { key: KEY, session: "s", idempotencyKey: "once" };
    const stream = await openStream(service, asked);
    const { id, digest } = await stream.nextApproval();
    stream.leave();
    // Who comes back within 30 s finds the turn still there.
    await until(async () => (await say(service, `/${id}`, { token }))[0] !== 200);
    // He comes back to the same turn; what he left unanswered stays void.
    const again = await openStream(service, asked);
    assertEquals(await say(service, `/${id}/approve`, { body: { digest }, token }), [
      409,
      "approval_void",
    ]);
    assertEquals(await again.end(), "x");
    assertEquals(await service.stop(), 0);
  }
  assertEquals(site.seen, []);
});

Deno.test("G1 a response in the background asks nobody: nobody waits for it", async () => {
  await using site = serveSite();
  await using model = startModelServer({ script: [{ calls: [site.call("/bg")] }, { text: "x" }] });
  await using home = await makeHome(configOf(model));
  const token = await issue(home);
  {
    await using service = await home.start();
    const response = await fetch(`${service.apiUrl}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ input: "go on", background: true }),
    });
    assertEquals(response.status, 200);
    await response.body?.cancel();
    const [result] = resultsIn(await model.request(1));
    assertStringIncludes(result!, "Refused: net.fetch");
    assertEquals(await say(service, "", { token }), [200, undefined]);
    assertEquals(await service.stop(), 0);
  }
  assertEquals(site.seen, []);
  const kinds = (await recordsOf(home)).map(({ kind }) => kind);
  assert(!kinds.includes("approval.answered") && kinds.includes("action.refused"));
});
