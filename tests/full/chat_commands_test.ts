/**
 * Commands of a chat and what people change of sessions, through the whole program: over the API, from
 * the command line, and after a kill.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, type Running, type TestHome } from "../support/home.ts";
import { until } from "../support/process_facts.ts";

async function ask({ apiUrl }: Running, content: string, session = "s"): Promise<string> {
  const response = await fetch(`${apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content }], session_id: session }),
  });
  const body = await response.json();
  assertEquals(response.status, 200, JSON.stringify(body));
  return body.choices[0].message.content;
}

async function lines(home: TestHome, ...args: string[]) {
  const { code, stdout, stderr } = await home.run([...args, "--json"]);
  assertEquals(code, 0, stderr);
  return stdout.trim().split("\n").map((line) => JSON.parse(line));
}

Deno.test("commands answer alike over the API and on the command line, and are on no record", async () => {
  await using home = await makeHome({});
  await using service = await home.start(["serve", "--port", "0", "--json"]);
  const help = await ask(service, "/help");
  for (const name of ["/new", "/stop", "/status", "/model", "/approve", "/deny", "/help"]) {
    assertStringIncludes(help, name);
  }
  assertEquals((await home.run(["agent", "-m", "/help"])).stdout.trim(), help);
  assertEquals(await ask(service, "/stop"), "Nothing is running here.");
  assertStringIncludes(await ask(service, "/model nothing"), "No presets are configured");
  assertEquals((await home.run(["sessions", "show", "api:s"])).code, 1);
  assertEquals((await home.run(["sessions", "show", "cli:default"])).code, 1);
  // Not in the table: a message like any other.
  assertStringIncludes(await ask(service, "/tool list_files {}"), "list_files");
  await ask(service, "remember the milk");
  assertStringIncludes(await ask(service, "/status"), "Session: api:s");
  assertStringIncludes(await ask(service, "/new"), "Started over");
  const shown = await lines(home, "sessions", "show", "api:s");
  assertEquals(JSON.stringify(shown).includes("/status"), false);
  const [session] = await lines(home, "sessions", "list");
  assertEquals([session.key, session.turns], ["api:s", 2]);
  const events = (await lines(home, "sessions", "export", "api:s")).filter(({ kind }) =>
    kind === "event"
  );
  assertEquals(events.at(-1).event.event, {
    type: "session_updated",
    scope: "context",
    title: session.title,
  });
  assertEquals(events.map(({ event }) => event.seq), events.map((_, at) => at + 1));
});

Deno.test("/stop over the API ends a turn that hangs", async () => {
  await using model = startModelServer({ script: { hang: "headers" } });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using service = await home.start(["serve", "--port", "0", "--json"]);
  const hanging = fetch(`${service.apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], session_id: "s" }),
  });
  await until(async () => (await ask(service, "/status")).includes("Turns: 1 running"));
  assertEquals(await ask(service, "/stop", "other"), "Nothing is running here.");
  assertEquals(await ask(service, "/stop"), "Stopped.");
  const response = await hanging;
  assert(response.status >= 400);
  await response.body?.cancel();
});

Deno.test("the model of a session survives kill -9, and falls back when its preset is gone", async () => {
  await using model = startModelServer({ script: { text: ["hello"] } });
  const config = (presets: Record<string, unknown>) => ({
    agent: { model: "local/fake", presets },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using home = await makeHome(config({ fast: { model: "local/quick" } }));
  const models = async (session: string) =>
    (await lines(home, "agent", "-m", "hi", "--json-stream", "--session", session))
      .map(({ event }) => event).filter(({ type }) => ["turn_start", "notice"].includes(type))
      .map((event) => event.model ?? event.text);
  {
    await using service = await home.start(["serve", "--port", "0", "--json"]);
    const chosen = await home.run(["agent", "-m", "/model fast", "--session", "a"]);
    assertEquals(chosen.stdout.trim(), "Model from the next turn on: local/quick (preset fast).");
    await service.kill();
  }
  assertEquals(await models("a"), ["local/quick"]);
  assertEquals(await models("b"), ["local/fake"]);
  await home.configure(config({}));
  const [start, notice] = await models("a");
  assertEquals(start, "local/fake");
  assertStringIncludes(notice, `"fast" was chosen for this conversation and is not`);
});

Deno.test("sessions renames and forks, and a fork goes on by itself", async () => {
  await using home = await makeHome({});
  for (const text of ["one", "two", "three"]) {
    await home.run(["agent", "-m", text, "--session", "a"]);
  }
  const renamed = await home.run(["sessions", "rename", "a", "On trains"]);
  assertEquals(renamed.code, 0, renamed.stderr);
  const hidden = await home.run(["sessions", "rename", "a", "On\u202etrains"]);
  assertEquals(hidden.code, 1);
  assertStringIncludes(hidden.stderr, "U+202E");
  assertEquals((await home.run(["sessions", "fork", "a"])).code, 2);
  assertEquals((await home.run(["sessions", "fork", "nobody", "--before", "0"])).code, 1);
  const far = await home.run(["sessions", "fork", "a", "--before", "4"]);
  assertStringIncludes(far.stderr, "from 0 to 3");
  const forked = await home.run(["sessions", "fork", "a", "--before", "2"]);
  assertEquals(forked.stdout, "cli:a-2\n", forked.stderr);
  assertEquals((await lines(home, "sessions", "delete", "a", "--yes"))[0].deleted, true);
  await home.run(["agent", "-m", "four", "--session", "a-2"]);
  const [session] = await lines(home, "sessions", "list");
  assertEquals([session.title, session.turns], ["On trains", 3]);
  const said = (await lines(home, "sessions", "show", "a-2", "-n", "4"))
    .filter(({ role }) => role === "user");
  assertEquals(said.map((row) => [row.user_index, row.text]), [[1, "two"], [2, "four"]]);
});
