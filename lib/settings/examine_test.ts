import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { examine } from "./examine.ts";
import { configSchema } from "../config/schema.ts";
import { keysOf, rootNode } from "../config/schema_tree.ts";
import { tempHome } from "../config/testing/temp_home.ts";
import { rounds } from "../../tests/support/rounds.ts";

Deno.test("examine() gives a configuration that fits the schema, or problems, for any JSON", async () => {
  await using home = await tempHome({ A: "a" });
  const sections = keysOf(rootNode(configSchema))!;
  const key = fc.constantFrom(
    ...sections,
    ...sections.flatMap((name) => Object.keys(configSchema.parse({})[name] ?? {})),
    "max_steps",
    "trusted_proxy_auth",
    "a",
    "constructor",
    "toString",
  );
  const leaf = fc.oneof(
    fc.constantFrom("", "${A}", "${B}", "${", "a/b", "offline", "~", 0, 1, -1, 0.5, null, true),
    fc.string(),
    fc.double(),
  );
  const any = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: "medium" },
      leaf,
      fc.array(tie("any"), { maxLength: 2 }),
      tie("object"),
    ),
    object: fc.dictionary(key, tie("any"), { maxKeys: 6, noNullPrototype: true }),
  })).object;
  fc.assert(
    fc.property(any, (value) => {
      const text = JSON.stringify(value);
      const { config, problems } = examine({ ...home, text });
      if (problems.length === 0) assert(configSchema.safeParse(config).success);
      if (config !== undefined) assertEquals(configSchema.safeParse(config).success, true);
      for (const { path, line } of problems) {
        assert(path.length === 0 || line === undefined || line === 1);
      }
    }),
    { numRuns: rounds(1_000) },
  );
});

Deno.test("examine() still checks what belongs together when another key is wrong", async () => {
  await using home = await tempHome();
  const text = '{"api":{"host":"0.0.0.0","port":"x"},"agent":{"model":"x/y","presets":{"p":{}}}}';
  assertEquals(examine({ ...home, text }).problems.map(({ path }) => path.join(".")), [
    "api.host",
    "api.port",
    "agent.model",
    "agent.presets.p.model",
  ]);
});
