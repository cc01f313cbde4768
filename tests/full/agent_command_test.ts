import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";

function configFor(baseUrl: string) {
  return { agent: { model: "local/fake" }, providers: { local: { baseUrl } } };
}

const lastUser = (body: { messages: { role: string; content: unknown }[] }) =>
  JSON.stringify(body.messages.findLast(({ role }) => role === "user")!.content);

Deno.test("agent -m adds standard input to the message, and exits with 0", async () => {
  await using model = startModelServer({ script: { text: "It failed at line 3" } });
  await using home = await makeHome(configFor(model.baseUrl));
  const { code, stdout, stderr } = await home.run(["agent", "-m", "what failed?"], {
    stdin: "line 3: error\n",
  });
  assertEquals({ code, stdout }, { code: 0, stdout: "It failed at line 3\n" }, stderr);
  const text = lastUser((await model.request(0)).body);
  assertStringIncludes(text, "what failed?");
  assertStringIncludes(text, "line 3: error");
});

Deno.test("agent without a model answers offline, and runs a tool when asked to", async () => {
  await using home = await makeHome();
  const hello = await home.run(["agent", "-m", "hi"]);
  assertEquals(hello.code, 0, hello.stderr);
  assertStringIncludes(hello.stdout, "offline");
  const wrote = await home.run([
    "agent",
    "-m",
    '/tool write_file {"path":"notes.md","content":"from a tool"}',
  ]);
  assertEquals(wrote.code, 0, wrote.stderr);
  assertEquals(await Deno.readTextFile(`${home.dir}/home/workspace/notes.md`), "from a tool");
  const read = await home.run(["agent", "-m", '/tool read_file {"path":"notes.md"}']);
  assertStringIncludes(read.stdout, "from a tool");
});

Deno.test("agent exits with 2, 3, 4 for usage, configuration and provider", async () => {
  await using model = startModelServer({ script: { status: 400, error: "bad key" } });
  await using home = await makeHome(configFor(model.baseUrl));
  const usage = await home.run(["agent", "--nonsense"]);
  assertEquals(usage.code, 2, usage.stderr);
  const provider = await home.run(["agent", "-m", "hi"]);
  assertEquals([provider.code, provider.stdout], [4, ""], provider.stderr);
  assertStringIncludes(provider.stderr, "bad key");
  await home.configure({ agent: { maxSteps: "many" } });
  const config = await home.run(["agent", "-m", "hi"]);
  assertEquals(config.code, 3, config.stderr);
  assertStringIncludes(config.stderr, "agent.maxSteps");
});

Deno.test("agent exits with 130 when it is interrupted, and the model's connection is closed", async () => {
  await using model = startModelServer({ script: { text: "one two three", hang: 3 } });
  await using home = await makeHome(configFor(model.baseUrl));
  const child = home.spawn(["agent", "-m", "hi"]);
  const request = await model.request(0);
  await request.hanging;
  child.kill("SIGINT");
  const { code, stderr } = await child.output();
  assertEquals(code, 130, new TextDecoder().decode(stderr));
  await request.closed;
  assertEquals(request.aborted, true);
});

Deno.test("agent gives the same output as owner of the home and as guest of a running service", async () => {
  await using model = startModelServer({ script: { text: ["Same ", "words"], reasoning: "hm" } });
  await using home = await makeHome(configFor(model.baseUrl));
  const owner = await home.run(["agent", "-m", "hi", "--session", "a"]);
  const ownerJson = await home.run(["agent", "-m", "hi", "--session", "b", "--json-stream"]);
  await using service = await home.start();
  const guest = await home.run(["agent", "-m", "hi", "--session", "c"]);
  const guestJson = await home.run(["agent", "-m", "hi", "--session", "d", "--json-stream"]);
  assertEquals([guest.code, guest.stdout], [owner.code, owner.stdout], guest.stderr);
  assertEquals(guest.stdout, "Same words\n");
  const events = (text: string) =>
    text.trim().split("\n").map((line) => {
      const { seq, event } = JSON.parse(line);
      // How long it took is another time in each.
      return { seq, ...event, streamId: undefined, tookMs: typeof event.tookMs };
    });
  assertEquals(events(guestJson.stdout), events(ownerJson.stdout));
  assertEquals(events(guestJson.stdout).at(-1).type, "turn_end");
  assertEquals(await service.stop(), 0);
});

Deno.test("service agent -m a | service agent -m b works on one home", async () => {
  await using model = startModelServer({
    script: ({ body }) =>
      lastUser(body).includes("second")
        ? { text: `got ${lastUser(body).includes("the first answer")}` }
        : { text: "the first answer" },
  });
  await using home = await makeHome(configFor(model.baseUrl));
  const first = home.spawn(["agent", "-m", "first"]);
  const second = home.run(["agent", "-m", "second", "--session", "other"], {
    stdin: await new Response(first.stdout).text(),
  });
  assertEquals((await second).stdout, "got true\n");
  assertEquals((await first.status).code, 0);
});

Deno.test("ten commands at once on one home all answer", async () => {
  await using model = startModelServer({ script: { text: "yes" } });
  await using home = await makeHome(configFor(model.baseUrl));
  const runs = await Promise.all(
    Array.from({ length: 10 }, (_, n) => home.run(["agent", "-m", "hi", "--session", `s${n}`])),
  );
  assertEquals(runs.map(({ code, stdout }) => [code, stdout]), runs.map(() => [0, "yes\n"]));
  const sessions = await home.run(["sessions", "list", "--json"]);
  assertEquals(sessions.stdout.trim().split("\n").length >= 1, true);
  for (let n = 0; n < 10; n++) assert(sessions.stdout.includes(`cli:s${n}`), sessions.stdout);
});

Deno.test("agent warns of an unknown key, and tells a failure in one place only", async () => {
  await using home = await makeHome({
    agnt: {},
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: "http://127.0.0.1:1/v1" } },
  });
  const { code, stderr } = await home.run(["agent", "-m", "hi"]);
  assertEquals(code, 4);
  assertStringIncludes(stderr, "warning: agnt");
  assertStringIncludes(stderr, "did you mean agent");
  assertEquals(/ {4}at |A turn failed/.test(stderr), false, stderr);
});

Deno.test("agent starts a conversation of its own, and -c continues the newest", async () => {
  await using model = startModelServer({ script: { text: "noted" } });
  await using home = await makeHome(configFor(model.baseUrl));
  const users = async (request: number) =>
    (await model.request(request)).body.messages
      .filter(({ role }: { role: string }) => role === "user").length;
  await home.run(["agent", "one"]);
  await home.run(["agent", "two"]);
  const continued = await home.run(["agent", "-c", "three", "--json"]);
  assertEquals([await users(0), await users(1), await users(2)], [1, 1, 2]);
  const { answer, status, session, usage, tools, error } = JSON.parse(continued.stdout);
  assertEquals([answer, status, tools, error], ["noted", "done", [], null]);
  assertEquals(typeof usage.inputTokens, "number");
  const named = await home.run(["agent", "-s", session, "four"]);
  assertEquals([named.code, await users(3)], [0, 3], named.stderr);
});

Deno.test("agent ends at once where nobody can allow an action, and goes on once it is granted", async () => {
  const path = `${await Deno.realPath(await Deno.makeTempDir())}/out.txt`;
  await using model = startModelServer({
    script: ({ body }) =>
      body.messages.at(-1)!.role === "tool"
        ? { text: "a model that is asked after a refusal", hang: 1 }
        : { calls: [{ tool: "write_file", args: { path, content: "made" } }] },
  });
  await using home = await makeHome(configFor(model.baseUrl));
  const refused = await home.run(["agent", "write it", "--session", "a"]);
  assertEquals([refused.code, refused.stdout], [5, ""], refused.stderr);
  const command = `service grants add cli:a fs.write ${path}`;
  assertStringIncludes(refused.stderr, `\n  ${command}\n`);
  const json = await home.run(["agent", "write it", "--session", "a", "--json"]);
  const { status, tools, error } = JSON.parse(json.stdout);
  assertEquals([json.code, status, tools[0].allow, error.code], [5, "refused", command, "refused"]);
  const granted = await home.run(command.split(" ").slice(1));
  assertEquals(granted.code, 0, granted.stderr);
  const child = home.spawn(["agent", "write it", "--session", "a"]);
  while (!await Deno.stat(path).then(() => true, () => false)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assertEquals(await Deno.readTextFile(path), "made");
  child.kill("SIGINT");
  await child.output();
});

Deno.test("agent never ignores --config and -y, whoever owns the home", async () => {
  await using home = await makeHome({});
  await using service = await home.start();
  const other = `${home.dir}/other.json`;
  await Deno.writeTextFile(other, "{}");
  const config = await home.run(["agent", "hi", "--config", other]);
  assertEquals([config.code, config.stdout], [1, ""]);
  assertStringIncludes(config.stderr, "other.json, but the service that runs in");
  assertEquals(
    (await home.run(["agent", "hi", "--config", `${home.dir}/home/config.json`])).code,
    0,
  );
  const yes = await home.run(["agent", "hi", "-y"]);
  assertEquals([yes.code, yes.stdout], [5, ""]);
  assertStringIncludes(yes.stderr, "SERVICE_APPROVER_TOKEN");
  assertEquals(await service.stop(), 0);
});

Deno.test("agent works in a project that was allowed, alike with and without a running service", async () => {
  await using model = startModelServer({
    script: ({ body }) =>
      body.messages.at(-1)!.role === "tool"
        ? { text: String(body.messages.at(-1)!.content) }
        : { calls: [{ tool: "read_file", args: { path: "a.txt" } }] },
  });
  await using home = await makeHome(configFor(model.baseUrl));
  const site = `${await Deno.realPath(home.dir)}/site`;
  await Deno.mkdir(site);
  await Deno.writeTextFile(`${site}/a.txt`, "of the project");
  await Deno.writeTextFile(`${site}/AGENTS.md`, "Use tabs here.");
  const ask = ["agent", "-C", site, "read it"];
  const before = await home.run(ask);
  assertEquals(before.code, 5, before.stderr);
  assertStringIncludes(before.stderr, `service projects allow ${site}`);
  const root = await home.run(["projects", "allow", "/"]);
  assertEquals([root.code, root.stderr.includes("config check")], [1, false]);
  assertEquals((await home.run(["projects", "allow", site])).code, 0);
  const { stdout: records } = await home.run(["audit", "list", "--kind", "project", "--json"]);
  const { kind, data } = JSON.parse(records);
  assertEquals(
    [kind, data.by, data.folder],
    ["project.allowed", "cli", await Deno.realPath(site)],
  );
  const owner = await home.run(ask);
  assertEquals([owner.code, owner.stdout], [0, "of the project\n"], owner.stderr);
  const system = JSON.stringify((await model.request(0)).body.messages[0]);
  assertStringIncludes(system, "Use tabs here.");
  assertStringIncludes(system, `is the folder \\"${site}\\"`);
  await using service = await home.start();
  const guest = await home.run(ask);
  assertEquals([guest.code, guest.stdout], [0, owner.stdout], guest.stderr);
  // A conversation stays where it began.
  const moved = await home.run(["agent", "-C", `${home.dir}/home/workspace`, "-c", "and now?"]);
  assertEquals(moved.code, 1);
  assertStringIncludes(moved.stderr, "No conversation to continue in the workspace");
  assertEquals((await home.run([...ask, "-c"])).code, 0);
  await home.run(["agent", "-s", "w", "hi"]);
  const elsewhere = await home.run([...ask, "-s", "w"]);
  assertEquals(elsewhere.code, 1);
  assertStringIncludes(elsewhere.stderr, 'The session "cli:w" works in the workspace, not in');
  // Taken back, it holds at once, also for the service that runs.
  const [{ key }] = (await home.run(["sessions", "list", "--json"])).stdout.trim().split("\n")
    .map((line) => JSON.parse(line)).filter(({ folder }) => folder === site);
  assertEquals((await home.run(["projects", "forget", site])).code, 0);
  const forgotten = await home.run(["agent", "-s", key.slice("cli:".length), "read it"]);
  assertStringIncludes(forgotten.stdout, `The agent may not work in "${site}"`);
  assertEquals(await service.stop(), 0);
});
