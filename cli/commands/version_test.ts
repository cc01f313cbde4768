import { assertEquals, assertMatch } from "@std/assert";
import { memoryOutput } from "../testing/memory_output.ts";
import { VERSION } from "../version.ts";
import version from "./version.ts";

Deno.test("version.run() prints what this program runs on", async () => {
  const globals = { lastGood: false, json: false, verbose: false };
  const text = memoryOutput();
  assertEquals(await version.run({ args: [], options: {}, globals, out: text.out }), 0);
  assertMatch(text.stdout.text, new RegExp(`^service ${VERSION}\ndeno ${Deno.version.deno}, v8 `));
  const json = memoryOutput();
  await version.run({ args: [], options: {}, globals: { ...globals, json: true }, out: json.out });
  const facts = JSON.parse(json.stdout.text);
  assertEquals([facts.version, facts.deno], [VERSION, Deno.version.deno]);
});
