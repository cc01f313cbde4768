import { assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, type TestHome } from "../support/home.ts";

/** The one run of an automation, once it is in this state. */
async function runIn(home: TestHome, id: string, state: string) {
  for (let tries = 0; tries < 50; tries++) {
    const { stdout, stderr } = await home.run(["automations", "history", id, "--json"]);
    const runs = stdout.trim().split("\n").filter((line) => line !== "");
    assertEquals(runs.length, 1, stderr);
    const run = JSON.parse(runs[0]!);
    if (run.state === state) return run;
  }
  throw new Error(`The run is not ${state}`);
}

Deno.test("kill -9 during the run of an automation: commands leave it alone, and the next gateway ends it", async () => {
  await using model = startModelServer({
    script: [{ text: ["so ", "far ", "so good"], hang: 3 }, { text: "all is well" }],
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  let id: string;
  {
    await using gateway = await home.start(["gateway", "--json"]);
    const created = await home.run(["automations", "create", "-m", "go", "--every", "1d"]);
    id = created.stdout.trim();
    await home.run(["automations", "run", id]);
    await (await model.request(0)).hanging;
    await runIn(home, id, "running");
    await gateway.kill();
  }
  for (const command of [["automations", "show", id], ["sessions", "list"]]) {
    const { code, stderr } = await home.run(command);
    assertEquals(code, 0, stderr);
  }
  await runIn(home, id, "running");
  assertEquals(model.requests.length, 1, "a command went on with it");
  await using _gateway = await home.start(["gateway", "--json"]);
  const run = await runIn(home, id, "done");
  assertEquals([run.attempts, run.answer], [1, "all is well"]);
});

Deno.test("SIGTERM during the run of an automation: it is ended, and said in its chat, before the gateway is", async () => {
  await using model = startModelServer({
    script: [{ text: ["all ", "is ", "well"], delayMs: 200 }],
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  const gateway = await home.start(["gateway", "--json"]);
  const created = await home.run(
    ["automations", "create", "-m", "go", "--every", "1d", "--deliver", "websocket:c1"],
  );
  const id = created.stdout.trim();
  await home.run(["automations", "run", id]);
  await model.request(0);
  assertEquals(await gateway.stop(), 0, gateway.log());
  const run = await runIn(home, id, "done");
  assertEquals([run.attempts, run.answer], [1, "all is well"]);
  const { stdout } = await home.run(["sessions", "export", "websocket:c1"]);
  assertStringIncludes(stdout, "all is well");
});
