/**
 * The first gateway is started with the permissions of the last start. What runs has those of the
 * configuration.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { resolvePaths } from "../lib/config/paths.ts";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome, type TestHome } from "./support/home.ts";
import { needs } from "./support/needs.ts";
import { runningCommands } from "./support/running_commands.ts";

const provider = (baseUrl: string) => ({
  api: { enabled: true, port: 0 },
  channels: { websocket: { enabled: false } },
  providers: { local: { baseUrl } },
  agent: { model: "local/fake" },
});

/** Where the permissions of the last start are kept. */
function lastPermissions(home: TestHome, of: "gateway" | "command"): string {
  const { keysDir } = resolvePaths({
    env: (name) => name === "SERVICE_HOME" ? `${home.dir}/home` : undefined,
    homeDir: home.dir,
  });
  return `${keysDir}/${of}-permissions.json`;
}

Deno.test("a command asks the model of a configuration that has changed, and of one that hasn't", async () => {
  await using home = await makeHome();
  const file = lastPermissions(home, "command");
  let kept = "";
  for (const word of ["first", "second"]) {
    await using model = startModelServer({ script: { text: word } });
    await home.configure(provider(model.baseUrl));
    for (let start = 0; start < 2; start++) {
      const answer = await home.run(["agent", "-m", "hi"]);
      assertStringIncludes(answer.stdout, word, answer.stderr);
    }
    const now = await Deno.readTextFile(file);
    assertStringIncludes(now, new URL(model.baseUrl).host);
    assert(now !== kept);
    kept = now;
  }
});

Deno.test("what stands there of the last start, and is none, is replaced", async () => {
  await using model = startModelServer({ script: { text: "well" } });
  await using home = await makeHome(provider(model.baseUrl));
  const file = lastPermissions(home, "command");
  await home.run(["agent", "-m", "hi"]);
  const right = await Deno.readTextFile(file);
  for (
    const wrong of ["", "{", "null", "[1]", '[{"kind":"net","value":7}]', "[]", "x".repeat(1e6)]
  ) {
    await Deno.writeTextFile(file, wrong);
    const answer = await home.run(["agent", "-m", "hi"]);
    assertStringIncludes(answer.stdout, "well", `${wrong.slice(0, 99)}: ${answer.stderr}`);
    assertEquals(await Deno.readTextFile(file), right);
  }
  // Nothing of the first one is heard, and no start depends on the file.
  await Deno.remove(file);
  await Deno.mkdir(file);
  const answer = await home.run(["agent", "-m", "hi"]);
  assertEquals([answer.code, answer.stderr], [0, ""]);
  assertStringIncludes(answer.stdout, "well");
});

Deno.test(
  needs("a gateway has the permissions of the configuration alone, and is the only one", "Linux"),
  async () => {
    await using home = await makeHome();
    const file = lastPermissions(home, "gateway");
    const hosts: string[] = [];
    for (const word of ["first", "second", "third"]) {
      await using model = startModelServer({ script: { text: word } });
      await home.configure(provider(model.baseUrl));
      hosts.push(new URL(model.baseUrl).host);
      // A file that lets somebody in who was never allowed.
      if (word === "third") {
        const table = JSON.parse(await Deno.readTextFile(file));
        table.push({ kind: "net", value: "example.org:443", askedBy: "nobody" });
        await Deno.writeTextFile(file, JSON.stringify(table));
        hosts.push("example.org:443");
      }
      for (let start = 0; start < 2; start++) {
        await using service = await home.start(["gateway", "--json"]);
        const response = await fetch(`${service.apiUrl}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ messages: [{ role: "user", content: "hi" }] }),
        });
        assertStringIncludes(await response.text(), word);
        const gateways = runningCommands().map(({ line }) => line).filter((line) =>
          line.includes("--allow-net=") && line.includes(`${home.dir}/home/run/service.sock`)
        );
        const allowed = gateways.map((line) => hosts.filter((host) => line.includes(host)));
        const own = new URL(model.baseUrl).host;
        assert(allowed.length > 0);
        for (const each of allowed) assertEquals(each, [own]);
        await service.stop();
      }
    }
  },
);
