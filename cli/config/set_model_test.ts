import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type TempHome, tempHome } from "../../lib/config/testing/temp_home.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { testRegistry } from "../../lib/registry/testing/test_registry.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { setModel } from "./set_model.ts";

const PROVIDERS = { a: { baseUrl: "http://127.0.0.1:1/v1", apiKey: "k" } };

async function use(home: TempHome, name: string): Promise<string> {
  const { out, stderr } = memoryOutput();
  await setModel({ name, json: false, out }, {
    paths: home.paths,
    env: home.env,
    lastGood: false,
    channels: () => Promise.resolve(testRegistry([])),
    stdin: { readable: new Blob([]).stream(), isTerminal: () => true },
  });
  return stderr.text;
}

async function agentOf(home: TempHome): Promise<unknown> {
  return JSON.parse(await home.read()).agent;
}

Deno.test("setModel() sets a model or a preset, and takes away a preset that would win", async () => {
  await using home = await tempHome();
  const presets = { fast: { model: "a/small" } };
  await home.write({ providers: PROVIDERS, agent: { presets, maxSteps: 7 } });
  assertStringIncludes(await use(home, "a/big"), "agent.model is set");
  assertEquals(await agentOf(home), { presets, maxSteps: 7, model: "a/big" });
  assertStringIncludes(await use(home, "fast"), "agent.preset is set");
  assertEquals(await agentOf(home), { presets, maxSteps: 7, model: "a/big", preset: "fast" });
  await use(home, "offline");
  assertEquals(await agentOf(home), { presets, maxSteps: 7, model: "offline" });
  assertStringIncludes(await use(home, "offline"), "nothing was written");
});

Deno.test("setModel() refuses what no provider has, and leaves the file alone", async () => {
  await using home = await tempHome();
  await home.write({ providers: PROVIDERS });
  const before = await home.read();
  for (const name of ["b/big", "big", "", "-", "a/"]) {
    const error = await assertRejects(() => use(home, name), ServiceError);
    assertEquals(error.code, "config_invalid", name);
  }
  assertEquals(await home.read(), before);
});
