import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome } from "./support/home.ts";

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
      return { seq, ...event, streamId: undefined };
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
  assertEquals(stderr.includes("    at "), false, stderr);
});
