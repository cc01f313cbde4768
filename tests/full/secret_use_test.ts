import { assertEquals, assertStringIncludes } from "@std/assert";
import { type RecordedRequest, startModelServer } from "../fakes/model_server.ts";
import { openStream, type ToldApproval } from "../support/approval_stream.ts";
import { makeHome, type Running } from "../support/home.ts";
import { needs } from "../support/needs.ts";

const VALUE = "sk-live-0123456789abcdef";

/** Answers with the header that a request held. */
function startSite() {
  const seen: (string | null)[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    seen.push(request.headers.get("x-key"));
    return new Response(`got ${request.headers.get("x-key")}`);
  });
  return { host: `127.0.0.1:${server.addr.port}`, seen, [Symbol.asyncDispose]: server.shutdown };
}

/** A model that does what a person says, word for word, and repeats what came of it. */
function script({ body }: RecordedRequest) {
  const last = body.messages.at(-1)!;
  if (last.role === "tool") return { text: `tool said: ${last.content}` };
  const [, tool, args] = /^(\S+) (.*)$/s.exec(String(last.content))!;
  return { calls: [{ tool: tool!, args: JSON.parse(args!) }] };
}

async function approve(service: Running, token: string, { id, digest }: ToldApproval) {
  const response = await fetch(`${service.apiUrl}/api/webui/approvals/${id}/approve`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ digest }),
  });
  assertEquals([response.status, await response.json()], [200, { id, outcome: "approved" }]);
}

Deno.test(
  needs(
    "a secret goes to the host that it is for after a yes of its own, and to no other one at all",
    "bubblewrap",
  ),
  async () => {
    await using site = startSite();
    await using other = startSite();
    await using model = startModelServer({ script });
    await using home = await makeHome();
    await home.configure({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
      gates: { privateHosts: ["127.0.0.1"] },
    });
    const issued = await home.run(["tokens", "issue", "--scopes", "approve"]);
    assertEquals(issued.code, 0, issued.stderr);
    const token = issued.stdout.trim();
    const set = await home.run(["secrets", "set", "KEY", "--host", site.host], { stdin: VALUE });
    assertEquals(set.code, 0, set.stderr);
    await using service = await home.start();
    const fetchWith = (host: string) =>
      `web_fetch {"url":"http://${host}/","headers":{"X-Key":"\${secret:KEY}"}}`;

    const turn = await openStream(service, { session: "s", content: fetchWith(site.host) });
    const asked = await turn.nextApproval();
    assertEquals(asked.capability, "secret.use");
    assertStringIncludes(asked.target, `KEY for http://${site.host}`);
    assertEquals(site.seen, []);
    await approve(service, token, asked);
    assertStringIncludes(await turn.end(), "got [secret KEY]");
    assertEquals(site.seen, [VALUE]);

    const elsewhere = await openStream(service, { session: "s", content: fetchWith(other.host) });
    const refused = await elsewhere.end();
    assertStringIncludes(refused, `the secret KEY is not for http://${other.host}`);
    assertStringIncludes(refused, `its scope is hosts: ${site.host}`);
    assertEquals(other.seen, []);

    // A call that asks twice: for where it may send, and for what it is given.
    const command = 'test -n "$KEY" && echo given';
    await home.run(["secrets", "set", "KEY", "--command", command], { stdin: VALUE });
    const args = { command, secrets: ["KEY"], hosts: ["a.example"] };
    const both = await openStream(service, {
      session: "s",
      content: `exec ${JSON.stringify(args)}`,
    });
    const capabilities: string[] = [];
    for (let count = 0; count < 2; count++) {
      const next = await both.nextApproval();
      capabilities.push(next.capability);
      await approve(service, token, next);
    }
    assertEquals(capabilities, ["exec", "secret.use"]);
    assertStringIncludes(await both.end(), "given");

    assertEquals(await service.stop(), 0);
    const audit = await Deno.readTextFile(`${home.dir}/home/audit/audit.jsonl`);
    const uses = audit.trim().split("\n").map((line) => JSON.parse(line))
      .filter(({ data }) => data.capability === "secret.use" && data.target !== undefined)
      .map(({ kind, data }) => [kind, data.decision?.rule?.replace(/:.*/, "")])
      .filter(([kind]) => kind.startsWith("action."));
    assertEquals(uses, [
      ["action.start", "approval"],
      ["action.refused", "secret.scope"],
      ["action.start", "approval"],
    ]);
    const requests = JSON.stringify(model.requests.map(({ body }) => body));
    for (const text of [audit, requests, service.log()]) assertEquals(text.includes(VALUE), false);
  },
);
