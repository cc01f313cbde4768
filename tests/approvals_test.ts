import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type RecordedRequest, startModelServer } from "./fakes/model_server.ts";
import { openStream } from "./support/approval_stream.ts";
import { makeHome, type Running, type TestHome } from "./support/home.ts";
import { until } from "./support/process_facts.ts";

/** A model that writes outside the workspace, which is asked about, and then says what came of it. */
function script(path: string) {
  return ({ body }: RecordedRequest) => {
    const last = body.messages.at(-1)!;
    if (last.role === "tool") return { text: `tool said: ${last.content}` };
    const content = String(last.content).split(" ").at(-1)!;
    return { calls: [{ tool: "write_file", args: { path, content } }] };
  };
}

async function setUp(gates: Record<string, unknown> = {}) {
  const home = await makeHome();
  const target = `${home.dir}/outside.txt`;
  const model = startModelServer({ script: script(target) });
  await home.configure({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    gates,
  });
  const { code, stdout, stderr } = await home.run(["tokens", "issue", "--scopes", "approve"]);
  assertEquals(code, 0, stderr);
  const token = stdout.trim();
  return {
    home,
    target,
    token,
    env: { SERVICE_APPROVER_TOKEN: token },
    written: () => Deno.readTextFile(target).catch(() => undefined),
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

async function route(
  service: Running,
  token: string,
  path = "",
  body?: unknown,
  // deno-lint-ignore no-explicit-any -- tests look at whatever came
): Promise<{ status: number; body: any }> {
  const response = await fetch(`${service.apiUrl}/api/webui/approvals${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function kinds(home: TestHome): Promise<string[]> {
  const text = await Deno.readTextFile(`${home.dir}/home/audit/audit.jsonl`);
  return text.trim().split("\n").map((line) => JSON.parse(line).kind)
    .filter((kind: string) => /^(action|approval|latch)\./.test(kind));
}

Deno.test("an API turn waits and is approved over the route; the session's next one by the command", async () => {
  await using set = await setUp();
  const { home, token, env, target, written } = set;
  await using service = await home.start();
  const first = await openStream(service, { session: "s", content: "write one" });
  const told = await first.nextApproval();
  assertEquals([told.capability, told.target], ["fs.write", target]);
  assertEquals(await written(), undefined);

  const { status, body } = await route(service, token);
  assertEquals(status, 200);
  assertEquals(Object.keys(body.approvals[0]).sort(), [
    "capability",
    "created_at",
    "digest",
    "expires_at",
    "id",
    "session",
    "target",
  ]);
  assertEquals(body.approvals.map(({ id, session }: Record<string, string>) => [id, session]), [
    [told.id, "api:s"],
  ]);
  assertEquals(body.approvals[0].expires_at - body.approvals[0].created_at, 120);
  const one = await route(service, token, `/${told.id}`);
  assertStringIncludes(one.body.details, "content: one");
  assertEquals((await route(service, token, `/${told.id}/approve`, { digest: told.digest })).body, {
    id: told.id,
    outcome: "approved",
  });
  assertStringIncludes(await first.end(), "tool said:");
  assertEquals(await written(), "one");
  // Twice.
  const again = await route(service, token, `/${told.id}/approve`, { digest: told.digest });
  assertEquals([again.status, again.body.error.code], [409, "approval_answered"]);

  const second = await openStream(service, { session: "s", content: "write two" });
  const { id, digest } = await second.nextApproval();
  const listed = await home.run(["approvals", "list", "--json"], { env });
  assertEquals(JSON.parse(listed.stdout).id, id, listed.stderr);
  const shown = await home.run(["approvals", "show", id], { env });
  assertStringIncludes(shown.stdout, "  content: two\n");
  const wrong = await home.run(["approvals", "approve", id, "--digest", "00000000"], { env });
  assertEquals([wrong.code, await written()], [5, "one"]);
  const right = await home.run(["approvals", "approve", id, "--digest", digest.slice(0, 8)], {
    env,
  });
  assertEquals(right.code, 0, right.stderr);
  await second.end();
  assertEquals(await written(), "two");
  assertEquals(await kinds(home), [
    "approval.requested",
    "approval.answered",
    "action.start",
    "action.end",
    "approval.requested",
    "approval.answered",
    "action.start",
    "action.end",
  ]);
});

Deno.test("G9 G10 a denial's reason reaches the turn; the latch refuses unasked in that session alone, also after a restart", async () => {
  await using set = await setUp();
  const { home, env, token, written } = set;
  {
    await using service = await home.start();
    const stream = await openStream(service, { session: "s", content: "write one" });
    const { id } = await stream.nextApproval();
    const args = ["approvals", "deny", id, "--reason", "not in there"];
    assertEquals((await home.run(args, { env })).code, 0);
    assertStringIncludes(await stream.end(), "a person denied it and said: not in there");
    const next = await openStream(service, { session: "s", content: "write two" });
    assertStringIncludes(await next.end(), "rule latched");
    const other = await openStream(service, { session: "other", content: "write three" });
    const { id: otherId, digest } = await other.nextApproval();
    await route(service, token, `/${otherId}/approve`, { digest });
    await other.end();
    assertEquals(await written(), "three");
    await service.stop();
  }
  await using service = await home.start();
  const after = await openStream(service, { session: "s", content: "write four" });
  assertStringIncludes(await after.end(), "service blocks clear api:s fs.write");
  const cleared = await home.run(["latches", "clear", "api:s", "fs.write"]);
  assertEquals(cleared.code, 0, cleared.stderr);
  const asked = await openStream(service, { session: "s", content: "write five" });
  const { id, digest } = await asked.nextApproval();
  await route(service, token, `/${id}/approve`, { digest });
  await asked.end();
  assertEquals(await written(), "five");
  const all = await kinds(home);
  assertEquals(all.filter((kind) => kind.startsWith("latch.")), ["latch.set", "latch.cleared"]);
});

Deno.test("G7 no answer in time is a refusal, and a late answer is told so", async () => {
  await using set = await setUp({ approvalTimeoutS: 1 });
  const { home, token, written } = set;
  await using service = await home.start();
  const stream = await openStream(service, { session: "s", content: "write one" });
  const { id, digest } = await stream.nextApproval();
  assertStringIncludes(await stream.end(), "nobody approved it in time");
  const late = await route(service, token, `/${id}/approve`, { digest });
  assertEquals([late.status, late.body.error.code], [409, "approval_expired"]);
  assertEquals(await written(), undefined);
  // A time-out does not latch.
  const next = await openStream(service, { session: "s", content: "write two" });
  assert((await next.nextApproval()).id !== id);
  next.leave();
});

Deno.test("G8 the requester leaves: the approval is void and a later answer runs nothing", async () => {
  await using set = await setUp();
  const { home, token, written } = set;
  await using service = await home.start();
  const stream = await openStream(service, { session: "s", content: "write one" });
  const { id, digest } = await stream.nextApproval();
  stream.leave();
  await until(async () => (await route(service, token, `/${id}`)).status !== 200);
  const answer = await route(service, token, `/${id}/approve`, { digest });
  assertEquals([answer.status, answer.body.error.code], [409, "approval_void"]);
  assertEquals(await written(), undefined);
  assertEquals((await kinds(home)).slice(0, 2), ["approval.requested", "approval.void"]);
});

Deno.test("kill -9 while an action waits: the next start voids it, on record, and nothing has run", async () => {
  await using set = await setUp();
  const { home, token, written } = set;
  let id: string, digest: string;
  {
    await using service = await home.start();
    const stream = await openStream(service, { session: "s", content: "write one" });
    ({ id, digest } = await stream.nextApproval());
    await service.kill();
    await stream.end().catch(() => {});
  }
  await using service = await home.start();
  const late = await route(service, token, `/${id}/approve`, { digest });
  assertEquals([late.status, late.body.error.code], [409, "approval_stopped"]);
  assertEquals(await written(), undefined);
  assertEquals(await kinds(home), ["approval.requested", "approval.void"]);
  const exported = await home.run(["sessions", "export", "api:s"]);
  const events = exported.stdout.trim().split("\n").map((line) => JSON.parse(line).event?.event)
    .filter((event) => event !== undefined);
  const types = events.map(({ type }) => type);
  const at = types.indexOf("approval_requested");
  assertEquals(types.slice(at, at + 3), [
    "approval_requested",
    "approval_resolved",
    "tool_result",
  ]);
  assertEquals(events[at + 1].outcome, "void");
});

Deno.test("G12 /approve in a message is no turn, enters no history, and approves nothing over the API", async () => {
  await using set = await setUp();
  const { home, written } = set;
  await using service = await home.start();
  const stream = await openStream(service, { session: "s", content: "write one" });
  const { id, digest } = await stream.nextApproval();
  for (const words of [`/approve ${id} ${digest.slice(0, 8)}`, ` /Deny ${id} no`, "/approve"]) {
    const response = await fetch(`${service.apiUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        messages: [{ role: "user", content: words }],
        session_id: "t",
      }),
    });
    const { choices } = await response.json();
    const said = choices[0].message.content;
    assert(/^(Not done: .*service approvals|Expected: )/.test(said), said);
  }
  const chatted = await home.run(["agent", "-m", `/approve ${id} ${digest.slice(0, 8)}`]);
  assertStringIncludes(chatted.stdout, "Not done: ");
  assertEquals(await written(), undefined);
  assertEquals((await home.run(["sessions", "show", "api:t"])).code, 1);
  assertEquals((await home.run(["sessions", "show", "cli:default"])).code, 1);
  stream.leave();
});

Deno.test("with nobody who could answer, an action that asks is refused at once and names the grant", async () => {
  await using set = await setUp();
  const { home, target } = set;
  const listed = await home.run(["tokens", "list", "--json"]);
  assertEquals((await home.run(["tokens", "revoke", JSON.parse(listed.stdout).id])).code, 0);
  await using service = await home.start();
  const stream = await openStream(service, { session: "s", content: "write one" });
  assertStringIncludes(await stream.end(), `service grants add api:s fs.write ${target}`);
});
