import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  actionRecords,
  answer,
  ANY_SECRET,
  ask,
  bearer,
  SAID,
  serveSite,
  VALUE,
  withApprover,
} from "./testing/ask_gate.ts";
import { gateFixture } from "./testing/gate_fixture.ts";

Deno.test("a redirect takes no secret to a host that it is not for, and says so", async () => {
  await using other = serveSite((request) =>
    Response.json(Object.fromEntries(request.headers.entries()))
  );
  const away = `http://localhost:${other.port}/away`;
  await using site = serveSite((request) =>
    new URL(request.url).pathname === "/same"
      ? new Response(null, { status: 302, headers: { location: "/away" } })
      : new Response(null, { status: 302, headers: { location: away } })
  );
  await using gate = await gateFixture({
    privateHosts: ["127.0.0.1", "localhost"],
    rules: ANY_SECRET,
  });
  const here = `127.0.0.1:${site.port}`;
  const set = (hosts: string[]) =>
    gate.state.secrets.set({ name: "API_KEY", value: VALUE, hosts, commands: [] });
  await set([here]);
  const args = {
    url: `http://${here}/same`,
    headers: { "X-Key": "${secret:API_KEY}", "X-Note": "plain", Cookie: "id=1" },
  };
  const result = await gate.act("web_fetch", args, SAID);
  assertEquals(result.status, "ok", result.output);
  assertStringIncludes(
    result.output,
    `[Not sent on to localhost:${other.port}, where it redirects`,
  );
  assertStringIncludes(result.output, "x-key, cookie");
  // The same origin gets them again, another one only what is nobody's key.
  assertEquals(site.seen.map(({ headers }) => headers.get("x-key")), [VALUE, VALUE]);
  const [seen] = other.seen;
  assertEquals(
    ["x-key", "x-note", "cookie"].map((name) => seen!.headers.get(name)),
    [null, "plain", null],
  );
  const refused = (await actionRecords(gate)).filter(({ kind }) => kind === "action.refused");
  assertEquals(refused.map(({ capability, target }) => [capability, target]), [[
    "secret.use",
    {
      kind: "secret",
      name: "API_KEY",
      recipient: { kind: "host", host: "localhost", port: other.port, plain: true },
    },
  ]]);

  // Where the scope has that host too, it is a use of its own, with a decision of its own.
  await set([here, `localhost:${other.port}`]);
  const both = await gate.act("web_fetch", args, SAID);
  assertEquals(both.status, "ok", both.output);
  assertEquals(other.seen[1]!.headers.get("x-key"), VALUE);
  const uses = (await actionRecords(gate)).filter(({ kind, capability }) =>
    kind === "action.start" && capability === "secret.use"
  );
  assertEquals(uses.length, 5);
});

Deno.test("a redirect to another host of a secret's scope is asked about anew", async () => {
  await using other = serveSite();
  await using site = serveSite(() =>
    new Response(null, { status: 302, headers: { location: `http://localhost:${other.port}/` } })
  );
  await using gate = await withApprover(
    await gateFixture({ privateHosts: ["127.0.0.1", "localhost"] }),
  );
  const hosts = [`127.0.0.1:${site.port}`, `localhost:${other.port}`];
  await gate.state.secrets.set({ name: "API_KEY", value: VALUE, hosts, commands: [] });
  const { result, next } = ask(gate, "web_fetch", bearer(site.port), SAID);
  await answer(gate, await next(1));
  const second = await next(2);
  assertEquals(second.target, `secret API_KEY for http://localhost:${other.port}`);
  await answer(gate, second, "no");
  assertEquals((await result).status, "refused");
  assertEquals([site.seen.length, other.seen.length], [1, 0]);
});
