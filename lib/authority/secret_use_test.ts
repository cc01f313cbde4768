import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import type { ApprovalView } from "../contract/actions.ts";
import { ServiceError } from "../base/errors.ts";
import { AUDIT_FILE, openAudit } from "../audit/log.ts";
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

Deno.test("web_fetch sends a secret to a host of its scope, shows it nowhere, and has it on record", async () => {
  await using site = serveSite((request) =>
    Response.json({ echoed: request.headers.get("authorization") })
  );
  await using gate = await gateFixture({
    privateHosts: [`127.0.0.1:${site.port}`],
    rules: ANY_SECRET,
  });
  const hosts = [`127.0.0.1:${site.port}`];
  await gate.state.secrets.set({ name: "API_KEY", value: VALUE, hosts, commands: [] });
  const result = await gate.act("web_fetch", bearer(site.port), SAID);
  assertEquals(result.status, "ok", result.output);
  assertEquals(site.seen[0]!.headers.get("authorization"), `Bearer ${VALUE}`);
  assertStringIncludes(result.output, "[secret API_KEY]");
  const records = await actionRecords(gate);
  assertEquals(records.map(({ kind, capability }) => [kind, capability]), [
    ["action.start", "net.fetch"],
    ["action.start", "secret.use"],
    ["action.end", undefined],
    ["action.end", undefined],
  ]);
  assertEquals(records[1]!.target, {
    kind: "secret",
    name: "API_KEY",
    recipient: { kind: "host", host: "127.0.0.1", port: site.port, plain: true },
  });
  assertEquals(records[1]!.decision, { effect: "allow", rule: "secrets" });
  assertEquals((records[0]!.target as { headers: string[] }).headers, ["authorization"]);
  const everything = JSON.stringify([await gate.records(), gate.logged, result]);
  assertEquals(everything.includes(VALUE), false);
});

Deno.test("act() refuses a secret at a host that it is not for, naming secret, host and scope, on record", async () => {
  await using site = serveSite();
  await using gate = await gateFixture({
    privateHosts: ["127.0.0.1"],
    // Whatever rules say.
    rules: ANY_SECRET,
  });
  await gate.state.secrets.set({
    name: "API_KEY",
    value: VALUE,
    hosts: ["api.example.com", "*.example.org"],
    commands: ["npm publish"],
  });
  const views: ApprovalView[] = [];
  const result = await gate.act("web_fetch", bearer(site.port), {
    ...SAID,
    onApproval(event) {
      if (event.type === "requested") views.push(event.approval);
    },
  });
  assert(result.status === "refused");
  assertStringIncludes(result.output, `secret.use of "API_KEY@http://127.0.0.1:${site.port}"`);
  assertStringIncludes(
    result.output,
    `the secret API_KEY is not for http://127.0.0.1:${site.port}`,
  );
  assertStringIncludes(result.output, "its scope is hosts: api.example.com, *.example.org");
  assertStringIncludes(result.output, "rule secret.scope");
  assertEquals([site.seen, views], [[], []]);
  const records = await actionRecords(gate);
  assertEquals(records.map(({ kind, capability, decision }) => [kind, capability, decision]), [[
    "action.refused",
    "secret.use",
    { effect: "deny", rule: "secret.scope" },
  ]]);

  // The same for a command, for a secret without a scope, and for one that is not there.
  const command = await gate.act("exec", { command: "env", secrets: ["API_KEY"] });
  assertStringIncludes(command.output, "the secret API_KEY is not for this command");
  await gate.state.secrets.set({ name: "BARE", value: VALUE, hosts: [], commands: [] });
  const bare = await gate.act("exec", { command: "env", secrets: ["BARE"] });
  assertStringIncludes(bare.output, "it has no scope, and so is for the configuration alone");
  const none = await gate.act("exec", { command: "env", secrets: ["NONE"] });
  assertStringIncludes(none.output, "there is no secret NONE");
  assertEquals([command.status, bare.status, none.status], ["refused", "refused", "refused"]);
  assertEquals((await actionRecords(gate)).every(({ kind }) => kind === "action.refused"), true);
});

Deno.test("act() asks about a secret, shows who is given it, and runs once for a yes", async () => {
  await using site = serveSite();
  await using gate = await withApprover(await gateFixture({ privateHosts: ["127.0.0.1"] }));
  const hosts = [`127.0.0.1:${site.port}`];
  await gate.state.secrets.set({ name: "API_KEY", value: VALUE, hosts, commands: [] });
  const { result, next } = ask(gate, "web_fetch", bearer(site.port, "/refunds"), SAID);
  const view = await next(1);
  assertEquals([view.capability, view.tool], ["secret.use", "web_fetch"]);
  assertEquals(view.target, `secret API_KEY for http://127.0.0.1:${site.port}`);
  assertStringIncludes(view.details, `given to: http://127.0.0.1:${site.port}`);
  assertStringIncludes(view.details, "/refunds");
  assertEquals(JSON.stringify(view).includes(VALUE), false);
  await answer(gate, view);
  assertEquals((await result).status, "ok");
  assertEquals(site.seen.length, 1);

  const elsewhere = { context: { ...SAID.context, sessionKey: "cli:other" } };
  const denied = ask(gate, "web_fetch", bearer(site.port), elsewhere);
  await answer(gate, await denied.next(1), "not that one");
  const refused = await denied.result;
  assertStringIncludes(refused.output, "a person denied it and said: not that one");
  assertEquals([refused.status, site.seen.length], ["refused", 1]);
});

Deno.test("G1 act() gives a secret in an unattended turn by a grant for exactly that, beside one for the call", async () => {
  await using site = serveSite();
  await using gate = await gateFixture({ privateHosts: ["127.0.0.1"] });
  const hosts = [`127.0.0.1:${site.port}`];
  await gate.state.secrets.set({ name: "API_KEY", value: VALUE, hosts, commands: [] });
  const alone = { context: { ...SAID.context, attended: false } };
  const unattended = await gate.act("web_fetch", bearer(site.port), alone);
  assertStringIncludes(
    unattended.output,
    `service grants add cli:test secret.use API_KEY@http://127.0.0.1:${site.port}`,
  );
  const url = bearer(site.port).url;
  await gate.state.grants.add({
    subject: "cli:test",
    capability: "secret.use",
    target: `API_KEY@http://127.0.0.1:${site.port}`,
    note: "",
  });
  const stillOne = await gate.act("web_fetch", bearer(site.port), alone);
  // Its own action takes one too, with the headers in it.
  const target = `{"headers":{"authorization":"Bearer \${secret:API_KEY}"},"url":"${url}"}`;
  assertStringIncludes(stillOne.output, `service grants add cli:test net.fetch '${target}'`);
  await gate.state.grants.add({
    subject: "cli:test",
    capability: "net.fetch",
    target,
    note: "",
  });
  assertEquals((await gate.act("web_fetch", bearer(site.port), alone)).status, "ok");
});

Deno.test("act() gives no secret when it was removed or narrowed while a person was asked", async () => {
  await using site = serveSite();
  await using gate = await withApprover(await gateFixture({ privateHosts: ["127.0.0.1"] }));
  const hosts = [`127.0.0.1:${site.port}`];
  const set = (more: string[]) =>
    gate.state.secrets.set({ name: "API_KEY", value: VALUE, hosts: more, commands: [] });
  await set(hosts);
  const narrowed = ask(gate, "web_fetch", bearer(site.port), SAID);
  const first = await narrowed.next(1);
  await set(["api.example.com"]);
  await answer(gate, first);
  assertStringIncludes((await narrowed.result).output, "rule secret.scope");
  await set(hosts);
  const removed = ask(gate, "web_fetch", bearer(site.port), SAID);
  const second = await removed.next(1);
  await gate.state.secrets.remove("API_KEY");
  await answer(gate, second);
  assertStringIncludes((await removed.result).output, "there is no secret API_KEY");
  assertEquals(site.seen, []);
});

Deno.test("act() runs nothing when what it was allowed by ended while a person was asked about its secret", async () => {
  await using site = serveSite();
  await using gate = await withApprover(await gateFixture({ privateHosts: ["127.0.0.1"] }));
  const hosts = [`127.0.0.1:${site.port}`];
  await gate.state.secrets.set({ name: "API_KEY", value: VALUE, hosts, commands: [] });
  const { url, headers } = bearer(site.port);
  const { id } = await gate.state.grants.add({
    subject: "cli:test",
    capability: "net.fetch",
    target: `{"headers":{"authorization":"${headers.Authorization}"},"url":"${url}"}`,
    note: "",
  });
  const { result, next } = ask(gate, "web_fetch", { url, headers });
  const view = await next(1);
  assertEquals(view.capability, "secret.use");
  await gate.state.grants.remove(id);
  await answer(gate, view);
  const refused = await result;
  assertEquals([refused.status, site.seen.length], ["refused", 0]);
  assertStringIncludes(refused.output, "net.fetch");
});

Deno.test(
  needs(
    "exec gets a secret in its environment, prints it as a placeholder, and holds it in no record",
    "bubblewrap",
  ),
  async () => {
    await using gate = await gateFixture({ rules: ANY_SECRET });
    const command = 'printf %s "$API_KEY" | wc -c; echo "got $API_KEY"; env | grep -c API_KEY';
    await gate.state.secrets.set({ name: "API_KEY", value: VALUE, hosts: [], commands: [command] });
    const progress: string[] = [];
    const result = await gate.act("exec", { command, secrets: ["API_KEY"] }, {
      onProgress: (text) => progress.push(text),
    });
    assertEquals(result.status, "ok", result.output);
    assertStringIncludes(result.output, `${VALUE.length}\n`);
    assertStringIncludes(result.output, "got [secret API_KEY]\n1\n");
    const records = await actionRecords(gate);
    assertEquals(records.map(({ capability }) => capability), [
      "exec",
      "secret.use",
      undefined,
      undefined,
    ]);
    const everything = JSON.stringify([await gate.records(), gate.logged, result, progress]);
    assertEquals(everything.includes(VALUE), false);
    // Another command, and the same one without asking for it, get nothing.
    const other = await gate.act("exec", { command: `${command} `, secrets: ["API_KEY"] });
    assertEquals(other.status, "refused");
    const without = await gate.act("exec", { command });
    assertStringIncludes(without.output, "got \n0\n");
  },
);

Deno.test(
  needs(
    "G2 act() gives a command with hosts no secret by a grant for the command without them",
    "bubblewrap",
  ),
  async () => {
    const listed = ["a.example:443"];
    await using gate = await gateFixture({ commandHosts: listed });
    const command = "true";
    await gate.state.secrets.set({ name: "API_KEY", value: VALUE, hosts: [], commands: [command] });
    const alone = await gate.act("exec", { command, secrets: ["API_KEY"] });
    assert(alone.status === "refused");
    const [, target] = /secret\.use '(API_KEY@[^']+)'/.exec(alone.output)!;
    await gate.state.grants.add({
      subject: "cli:test",
      capability: "secret.use",
      target: target!,
      note: "",
    });
    assertEquals((await gate.act("exec", { command, secrets: ["API_KEY"] })).status, "ok");
    // Every host is listed, so the command itself needs no grant to reach it, and could send it there.
    const sending = await gate.act("exec", { command, secrets: ["API_KEY"], hosts: listed });
    assert(sending.status === "refused");
    assertStringIncludes(sending.output, "network: a.example:443");
    assertStringIncludes(sending.output, '"hosts":["a.example:443"]');
    const { target: shown } = (await actionRecords(gate)).at(-1)!;
    assertEquals((shown as { recipient: { hosts: string[] } }).recipient.hosts, listed);
  },
);

Deno.test("G15 act() gives no secret when its use cannot be recorded", async () => {
  await using site = serveSite();
  const dir = await Deno.makeTempDir();
  const log = { debug() {}, info() {}, warning() {}, error() {} };
  const audit = await openAudit({ dir, keysDir: `${dir}/keys`, log });
  {
    await using gate = await gateFixture({
      audit: {
        path: audit.path,
        recordCommands: false,
        digest: (text) => audit.digest(text),
        close: () => audit.close(),
        append: (kind, data) =>
          data.capability === "secret.use"
            ? Promise.reject(new ServiceError("audit_unavailable", "the disk is full"))
            : audit.append(kind, data),
      },
      privateHosts: ["127.0.0.1"],
      rules: ANY_SECRET,
    });
    const hosts = [`127.0.0.1:${site.port}`];
    await gate.state.secrets.set({ name: "API_KEY", value: VALUE, hosts, commands: [] });
    const result = await gate.act("web_fetch", bearer(site.port), SAID);
    assertEquals([result.status, site.seen.length], ["failed", 0]);
    assertStringIncludes(result.output, "did not run: the disk is full");
  }
  const kinds = (await Deno.readTextFile(`${dir}/${AUDIT_FILE}`)).trim().split("\n")
    .map((line) => JSON.parse(line)).filter(({ kind }) => kind.startsWith("action."));
  assertEquals(kinds.map(({ kind, data }) => [kind, data.status]), [
    ["action.start", undefined],
    ["action.end", "cut_off"],
  ]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("act() fails, and says nothing of it, when a secret's value fits no header", async () => {
  await using site = serveSite();
  await using gate = await gateFixture({ privateHosts: ["127.0.0.1"], rules: ANY_SECRET });
  const hosts = [`127.0.0.1:${site.port}`];
  const value = "first-line-of-it\r\nX-Admin: yes";
  await gate.state.secrets.set({ name: "API_KEY", value, hosts, commands: [] });
  const result = await gate.act("web_fetch", bearer(site.port), SAID);
  assertEquals([result.status, site.seen.length], ["failed", 0]);
  assertStringIncludes(result.output, "headers.authorization");
  assertEquals(result.output.includes("first-line-of-it"), false);
});
