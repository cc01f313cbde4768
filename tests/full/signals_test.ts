import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { processTree } from "../support/channel_processes.ts";
import { needs } from "../support/needs.ts";
import { makeHome, RUN_FLAGS, type TestHome } from "../support/home.ts";
import { until } from "../support/process_facts.ts";
import { openTerminal } from "../support/terminal.ts";

const ask = (apiUrl: string) =>
  fetch(`${apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], session_id: "s" }),
  });

for (
  const [signal, ofAll] of [["SIGTERM"], ["SIGINT"], ["SIGTERM", " of all processes"]] as const
) {
  // All at once is how systemd stops a service.
  const name = `${signal}${
    ofAll ?? ""
  } lets a running turn end, takes no new one, and exits with 0`;
  Deno.test({
    ...needs(name, ofAll !== undefined && "Linux"),
    fn: async () => {
      const hold = Promise.withResolvers<void>();
      await using model = startModelServer({
        script: async () => {
          await hold.promise;
          return { text: "just in time" };
        },
      });
      await using home = await makeHome({
        agent: { model: "local/fake" },
        providers: { local: { baseUrl: model.baseUrl } },
      });
      await using service = await home.start();
      const asking = ask(service.apiUrl);
      await model.request(0);
      const processes = ofAll === undefined ? [] : processTree(service.process.pid);
      for (const pid of processes) Deno.kill(pid, signal);
      service.process.kill(signal);
      await until(() => service.log().includes("Stopping"));
      const late = await ask(service.apiUrl).then((response) => response.status, () => "refused");
      assert(late === "refused" || late === 503, String(late));
      hold.resolve();
      const response = await asking;
      assertEquals((await response.json()).choices[0].message.content, "just in time");
      const { code } = await service.process.status;
      assertEquals(code, 0, service.log());
      assert(ofAll === undefined || processes.length > 1);
    },
  });
}

Deno.test("a second signal ends at once, while a model hangs", async () => {
  await using model = startModelServer({ script: { hang: "headers" } });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using service = await home.start();
  const asking = assertRejects(() => ask(service.apiUrl).then((response) => response.text()));
  await (await model.request(0)).hanging;
  service.process.kill("SIGTERM");
  await until(() => service.log().includes("Stopping"));
  service.process.kill("SIGTERM");
  assertEquals((await service.process.status).code, 130);
  await asking;
});

function startBusy(home: TestHome, ...args: string[]): Deno.ChildProcess {
  const program = new URL("../support/busy_service.ts", import.meta.url).pathname;
  return new Deno.Command(Deno.execPath(), {
    args: [...RUN_FLAGS, program, ...args],
    env: { SERVICE_HOME: `${home.dir}/home` },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

Deno.test("a second signal ends at once, while the service is busy", async () => {
  await using home = await makeHome();
  const child = startBusy(home);
  const reader = child.stdout.getReader();
  await reader.read(); // it is up
  child.kill("SIGTERM");
  const log = child.stderr.getReader();
  // Not before the first one was taken: two at once are one to the kernel.
  for (let said = ""; !said.includes("Stopping");) {
    const { value, done } = await log.read();
    assertEquals(done, false);
    said += new TextDecoder().decode(value);
  }
  child.kill("SIGTERM");
  assertEquals((await child.status).code, 130);
  await reader.cancel();
  await log.cancel();
});

Deno.test("a service that does not stop is ended after its deadline", async () => {
  await using home = await makeHome({ agent: { drainTimeoutS: 0 } });
  const child = startBusy(home, "100");
  const reader = child.stdout.getReader();
  await reader.read();
  child.kill("SIGTERM");
  const said = await new Response(child.stderr).text();
  assertStringIncludes(said, "did not stop within 0.1 s");
  assertEquals((await child.status).code, 1);
  await reader.cancel();
});

Deno.test("work in the background that runs after the drain goes on at the next start, however often", async () => {
  let isAnswering = false;
  await using model = startModelServer({
    script: () => isAnswering ? { text: "done after all" } : { hang: "headers" },
  });
  await using home = await makeHome({
    agent: { model: "local/fake", drainTimeoutS: 0 },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  let id = "";
  // More stops than a turn may have crashes.
  for (let stop = 0; stop < 3; stop++) {
    await using service = await home.start();
    if (stop === 0) {
      const response = await fetch(`${service.apiUrl}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ input: "hi", background: true }),
      });
      ({ id } = await response.json());
    }
    const ended = fetch(`${service.apiUrl}/v1/responses/${id}?stream=true`)
      .then((response) => response.text()).catch(String);
    const asked = model.request(stop).then(({ hanging }) => hanging);
    assertEquals(await Promise.race([asked, ended]), undefined);
    assertEquals(await service.stop(), 0, service.log());
    await ended;
  }
  isAnswering = true;
  await using service = await home.start();
  const stream = await fetch(`${service.apiUrl}/v1/responses/${id}?stream=true`);
  await stream.text();
  const response = await (await fetch(`${service.apiUrl}/v1/responses/${id}`)).json();
  assertEquals([response.status, response.output.at(-1)?.content[0].text], [
    "completed",
    "done after all",
  ]);
});

Deno.test({
  ...needs(
    "SIGHUP of a terminal lets a running turn end, as often as it comes, and exits with 0",
    "tmux",
    "Linux",
  ),
  async fn() {
    const hold = Promise.withResolvers<void>();
    await using model = startModelServer({
      script: async () => {
        await hold.promise;
        return { text: "just in time" };
      },
    });
    await using home = await makeHome({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    await using terminal = await openTerminal(home, ["serve", "--port", "0", "--json"], {
      columns: 300,
    });
    const up = await terminal.shows(/"pid":\d+.*"apiUrl":"[^"]+"|"apiUrl":"[^"]+".*"pid":\d+/);
    const pid = Number(/"pid":(\d+)/.exec(up)![1]);
    const asking = ask(/"apiUrl":"([^"]+)"/.exec(up)![1]!);
    await model.request(0);
    // A shell that is closed sends one, and the kernel another.
    Deno.kill(pid, "SIGHUP");
    await terminal.shows("Stopping");
    Deno.kill(pid, "SIGHUP");
    hold.resolve();
    const answer = await (await asking).json();
    assertEquals(answer.choices[0].message.content, "just in time");
    assertEquals(await terminal.exit(), 0);
  },
});

Deno.test({
  ...needs(
    "SIGHUP without a terminal, and service reload, have the configuration read again, with one record each",
    "Linux",
  ),
  async fn() {
    await using home = await makeHome({});
    const { code, stdout, stderr } = await home.run(["start", "--json"]);
    assertEquals(code, 0, stderr);
    const { pid } = JSON.parse(stdout);
    try {
      const records = async () => {
        const listed = await home.run(["audit", "list", "--kind", "settings.reloaded", "--json"]);
        return listed.stdout.split("\n").filter((line) => line !== "")
          .map((line) => JSON.parse(line).data);
      };
      const hangUp = async () => {
        const { length } = await records();
        Deno.kill(pid, "SIGHUP");
        await until(async () => (await records()).length > length);
        return (await records()).slice(length);
      };
      await home.configure({ agent: { maxSteps: 7 }, log: { level: "debug" } });
      assertEquals(await hangUp(), [
        { by: "signal", live: ["agent.maxSteps"], waiting: ["log.level"] },
      ]);
      await home.configure({ agent: { maxSteps: "x" } });
      const [broken, ...more] = await hangUp();
      assertStringIncludes(broken.problem, "agent.maxSteps");
      assertEquals([broken.live, more], [[], []]);
      const refused = await home.run(["reload"]);
      assertEquals(refused.code, 3);
      assertStringIncludes(refused.stderr, "agent.maxSteps");
      await home.configure({ agent: { maxSteps: 8 } });
      const reloaded = await home.run(["reload", "--json"]);
      assertEquals(JSON.parse(reloaded.stdout), { live: ["agent.maxSteps"], waiting: [] });
      assertEquals((await records()).map(({ by }) => by), ["signal", "signal", "cli", "cli"]);
      const status = await home.run(["status", "--json"]);
      assertEquals(JSON.parse(status.stdout).pid, pid);
    } finally {
      await home.run(["stop", "--force"]);
    }
    const none = await home.run(["reload"]);
    assertEquals(none.code, 1);
    assertStringIncludes(none.stderr, "No service runs in");
  },
});
