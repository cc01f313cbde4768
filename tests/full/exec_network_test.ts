import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type RecordedRequest, startModelServer } from "../fakes/model_server.ts";
import { freePort } from "../support/free_port.ts";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";

interface Said {
  output: string;
  audit: Record<string, unknown>[];
}

/** Runs commands with hosts as a model asks for them, in a service whose operator has listed everything. */
async function execWithHosts(
  makeCommands: (ports: { api: number; other: number }, dir: string) => {
    command: string;
    hosts: string[];
  }[],
): Promise<{ said: Said[]; reached: string[] }> {
  const api = freePort();
  const reached: string[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    reached.push(request.url);
    return new Response("from the listed host");
  });
  const other = server.addr.port;
  const asked: { tool: string; args: unknown }[] = [];
  await using model = startModelServer({
    script: (request) => {
      const last = request.body.messages.at(-1);
      const next = last.role === "tool" ? undefined : asked.at(-1);
      return next === undefined ? { text: "ok" } : { calls: [next] };
    },
  });
  const listed = ["127.0.0.1", "localhost", "[::1]", "inner.invalid"];
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl, apiKey: "" } },
    gates: { privateHosts: listed },
    executor: {
      hosts: [
        "*.com",
        "*.invalid",
        ...listed.flatMap((host) => [`${host}:${api}`, `${host}:${other}`]),
      ],
    },
  });
  await using service = await home.start(["serve", "--port", String(api), "--json"]);
  const auditFile = `${home.dir}/home/audit/audit.jsonl`;
  const readAudit = async () =>
    (await Deno.readTextFile(auditFile)).split("\n").filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  const said: Said[] = [];
  for (const args of makeCommands({ api, other }, home.dir)) {
    asked.push({ tool: "exec", args });
    const from = (await readAudit()).length;
    const response = await fetch(`${service.apiUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        messages: [{ role: "user", content: "go on" }],
        session_id: `s${asked.length}`,
      }),
    });
    assertEquals(response.status, 200, await response.clone().text());
    await response.body?.cancel();
    const request: RecordedRequest = model.requests.at(-1)!;
    const messages: { role: string; content: string }[] = request.body.messages;
    const output = messages.findLast(({ role }) => role === "tool")!.content;
    const records: { kind: string; data: Record<string, unknown> }[] = (await readAudit()).slice(
      from,
    );
    const audit = records.filter(({ kind }) => kind === "network.host").map(({ data }) => data);
    said.push({ output, audit });
  }
  const left = [...Deno.readDirSync(`${home.dir}/home/run`)].map(({ name }) => name)
    .filter((name) => /^n-/.test(name));
  assertEquals(left, []);
  assertEquals(await service.stop(), 0);
  return { said, reached };
}

Deno.test({
  ...needs(
    "exec with every host listed reaches the listed server, and neither the API nor the local socket",
    "bubblewrap",
  ),
  async fn() {
    const curl = "unset no_proxy NO_PROXY; curl -sS -m 5 -p";
    const { said, reached } = await execWithHosts(({ api, other }, dir) => {
      const hosts = [`127.0.0.1:${api}`, `localhost:${api}`, `[::1]:${api}`, `127.0.0.1:${other}`];
      const urls = ["127.0.0.1", "localhost", "[::1]", "127.1", "0x7f.1", "[::ffff:127.0.0.1]"]
        .flatMap((host) => [`http://${host}:${api}/health`, `http://${host}:${api}/v1/models`]);
      return [
        { hosts, command: `${curl} http://127.0.0.1:${other}/` },
        { hosts, command: urls.map((url) => `${curl} ${url} 2>&1; echo`).join("\n") },
        {
          hosts,
          command: `for socket in ${dir}/home/run/service.sock $(find / -type s 2> /dev/null); do
            echo "$socket"; curl -sS -m 5 --noproxy '*' --unix-socket $socket http://x/health 2>&1
          done; ls ${dir}/home 2>&1`,
        },
      ];
    });
    assertStringIncludes(said[0]!.output, "from the listed host");
    assertEquals(reached.length, 1);
    assertEquals(said[0]!.audit.length, 1);
    const { session, effect, user } = said[0]!.audit[0]!;
    assertEquals([user, effect, session], ["exec", "allow", "api:s1"]);

    assertEquals(said[1]!.output.match(/HTTP|"status"|"object"|401/g), null, said[1]!.output);
    assertEquals(said[1]!.output.match(/response 403/g)?.length, 12, said[1]!.output);
    assert(said[1]!.audit.every(({ effect }) => effect === "deny"));
    assert(said[1]!.audit.some(({ rule }) => rule === "network.own"));

    assertEquals(said[2]!.output.match(/"status"/g), null, said[2]!.output);
    assertMatch(said[2]!.output, /service\.sock\ncurl: /);
    // Of the home nothing but the workspace is there.
    assertMatch(said[2]!.output, /\nworkspace\n\[exit code 0\]$/);
  },
});

Deno.test({
  ...needs(
    "exec without hosts has no proxy, and one with hosts that are not listed does not run unasked",
    "bubblewrap",
  ),
  async fn() {
    const { said, reached } = await execWithHosts(({ other }) => [
      { hosts: [], command: "env | grep -i proxy; ls -A /run; echo over" },
      { hosts: [`127.0.0.2:${other}`], command: "echo ran" },
    ]);
    assertMatch(said[0]!.output, /^ls: cannot access '\/run'.*\nover\n/);
    assert(!said[1]!.output.includes("ran\n"), said[1]!.output);
    assertStringIncludes(said[1]!.output, "Refused");
    assertEquals(reached, []);
  },
});
