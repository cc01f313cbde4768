import { assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome, type Running } from "./support/home.ts";
import { needs } from "./support/needs.ts";
import { until } from "./support/process_facts.ts";

async function untilLogged(service: Running, text: string): Promise<void> {
  while (!service.log().includes(text)) await new Promise((resolve) => setTimeout(resolve, 10));
}

const ask = (apiUrl: string, session: string) =>
  fetch(`${apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], session_id: session }),
  });

Deno.test("gateway opens no port unless api.enabled is true, and serves commands over its socket", async () => {
  await using home = await makeHome({});
  await using gateway = await home.start(["gateway", "--json"]);
  assertEquals(gateway.apiUrl, undefined);
  const answer = await home.run(["agent", "-m", "hi"]);
  assertEquals(answer.code, 0, answer.stderr);
  assertStringIncludes(answer.stdout, "offline");
  const second = await home.run(["gateway"]);
  assertEquals(second.code, 1);
  assertStringIncludes(second.stderr, String(gateway.pid));
  assertEquals(await gateway.stop(), 0);
});

Deno.test("gateway serves the API with a key when it is enabled, and prints its pid", async () => {
  await using home = await makeHome({
    api: { enabled: true, port: 0, apiKey: "a-key-of-some-length" },
  });
  await using gateway = await home.start(["gateway", "--json"]);
  assertEquals(gateway.pid, gateway.process.pid);
  assertEquals((await fetch(`${gateway.apiUrl}/health`)).status, 200);
  const without = await ask(gateway.apiUrl, "s");
  assertEquals([without.status, (await without.json()).error.code], [401, "invalid_api_key"]);
  const models = await fetch(`${gateway.apiUrl}/v1/models`, {
    headers: { authorization: "bearer a-key-of-some-length" },
  });
  assertEquals((await models.json()).data[0].id, "offline");
  assertEquals(await gateway.stop(), 0);
  assertEquals(gateway.log().includes("a-key-of-some-length"), false);
});

Deno.test("each request has its line in the log at every log.level, on both ports", async () => {
  await using home = await makeHome({ api: { enabled: true, port: 0 }, log: { level: "error" } });
  await using gateway = await home.start(["gateway", "--json"]);
  const { host } = new URL(gateway.wsUrl);
  assertEquals((await fetch(`${gateway.apiUrl}/v1/nothing`)).status, 404);
  assertEquals((await fetch(`http://${host}/api/webui/sessions`)).status, 401);
  assertEquals(await gateway.stop(), 0);
  assertStringIncludes(gateway.log(), "GET /v1/nothing 404");
  assertStringIncludes(gateway.log(), "GET /api/webui/sessions 401");
  // And nothing else.
  assertEquals(gateway.log().trim().split("\n").length, 2, gateway.log());
});

Deno.test("an edit of the configuration is taken up live, and a broken one is reported and changes nothing", async () => {
  await using model = startModelServer({ script: { hang: "headers" } });
  const config = {
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    api: { enabled: true, port: 0 },
  };
  await using home = await makeHome(config);
  await using service = await home.start(["gateway", "--json"]);
  await home.configure({ ...config, agent: { ...config.agent, turnTimeoutS: 1 } });
  await untilLogged(service, "agent.turnTimeoutS");
  assertEquals((await ask(service.apiUrl, "a")).status, 504);
  await Deno.writeTextFile(`${home.dir}/home/config.json`, '{"agent": {"turnTimeoutS": ');
  await untilLogged(service, "cannot be used");
  assertEquals((await ask(service.apiUrl, "b")).status, 504);
  await home.configure({ ...config, api: { port: 9 } });
  await untilLogged(service, "restart_required");
  assertStringIncludes(service.log(), "api.port");
  assertEquals(await service.stop(), 0);
});

Deno.test("sessions lists, shows, exports and deletes what was said", async () => {
  await using home = await makeHome({});
  await home.run(["agent", "-m", "remember the milk", "--session", "a"]);
  await home.run(["agent", "-m", "something else", "--session", "b"]);
  const listed = await home.run(["sessions", "list", "--json"]);
  assertStringIncludes(listed.stdout, "remember the milk");
  const shown = await home.run(["sessions", "show", "cli:a"]);
  assertStringIncludes(shown.stdout, "remember the milk");
  const exported = await home.run(["sessions", "export", "cli:a"]);
  const kinds = exported.stdout.trim().split("\n").map((line) => JSON.parse(line).kind);
  assertEquals([...new Set(kinds)], ["session", "turn", "message", "event"]);
  assertEquals((await home.run(["sessions", "delete", "cli:a", "--yes"])).code, 0);
  assertEquals((await home.run(["sessions", "show", "cli:a"])).code, 1);
  assertStringIncludes((await home.run(["sessions", "list"])).stdout, "cli:b");
});

Deno.test("an edit says nothing of what the command line puts over the file", async () => {
  await using home = await makeHome({});
  await using service = await home.start(["serve", "--port", "0", "--json"]);
  await home.configure({ agent: { maxSteps: 7 }, executor: { maxOutputBytes: 5_000 } });
  await untilLogged(service, "executor.maxOutputBytes");
  assertStringIncludes(service.log(), "agent.maxSteps");
  assertEquals(service.log().includes("api.port"), false, service.log());
  assertEquals(await service.stop(), 0);
});

Deno.test({
  ...needs(
    "GET /ready says when the sandbox of commands was tried out, and the start does not wait for it",
    "bubblewrap",
  ),
  async fn() {
    await using home = await makeHome();
    await using service = await home.start();
    const said = async () =>
      (await (await fetch(`${service.apiUrl}/ready`)).json()).checks.commands.detail;
    assertEquals(await said(), "the sandbox of commands has not been tried out yet");
    await until(async () => await said() === "commands run in a sandbox that was tried out");
    assertEquals(await service.stop(), 0);
    assertEquals(service.log().includes("could not be tried"), false);
  },
});
