import { assertEquals } from "@std/assert";
import { classifyChanges } from "../settings/changes.ts";
import { copyPaths } from "./copy_paths.ts";
import { configSchema } from "./schema.ts";

Deno.test("copyPaths() carries what classifyChanges() names, and nothing else", () => {
  const from = configSchema.parse({
    agent: { maxSteps: 3, temperature: 1 },
    providers: { a: { headers: { "x.y": "new", "gone": "no" } } },
  });
  const to = configSchema.parse({
    agent: { maxOutputTokens: 5, instructions: "old" },
    providers: { a: { headers: { "x.y": "old", z: "z" } } },
    log: { level: "debug" },
  });
  delete from.providers.a!.headers.gone;
  const before = classifyChanges(to, from).map(({ path }) => path);
  copyPaths(from, to, before.filter((path) => path !== "log.level"));
  assertEquals(classifyChanges(to, from).map(({ path }) => path), ["log.level"]);
  assertEquals(to.providers.a!.headers, { "x.y": "new" });
  assertEquals([to.agent.maxOutputTokens, to.agent.instructions, to.agent.maxSteps], [
    undefined,
    "",
    3,
  ]);
});
