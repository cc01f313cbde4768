import { assert, assertEquals } from "@std/assert";
import { examine } from "../settings/examine.ts";
import { isObject, parsePath } from "../base/key_path.ts";
import { migrate, type Migration, MIGRATIONS } from "./migrations.ts";
import { formatProblem } from "./problem.ts";
import { keysOf, nodeAt } from "./schema_tree.ts";
import { configSchema } from "./schema.ts";
import { tempHome } from "./testing/temp_home.ts";

// Renames as they may come one day.
const RENAMES: Migration[] = [
  { number: 1, from: "agent.stepLimit", to: "agent.maxSteps" },
  {
    number: 2,
    from: "providers.*.timeoutMs",
    to: "providers.*.limits.timeoutS",
    convert: (value) => typeof value === "number" ? value / 1_000 : value,
  },
  { number: 3, from: "gates.waitS", to: "gates.approvalTimeoutS" },
  { number: 4, from: "server", to: "api" },
];

Deno.test("W11 a key that was valid yesterday works today, with a warning", async () => {
  await using home = await tempHome();
  const text = JSON.stringify(
    { agent: { step_limit: 7 }, gates: { waitS: 9 }, server: { port: 1 } },
    null,
    1,
  );
  const { config, problems, warnings } = examine({ ...home, text, migrations: RENAMES });
  assertEquals(problems, []);
  assertEquals([config!.agent.maxSteps, config!.gates.approvalTimeoutS, config!.api.port], [
    7,
    9,
    1,
  ]);
  assertEquals(warnings.map(formatProblem), [
    "agent.step_limit (line 3): is an old name of agent.maxSteps; it still works",
    "gates.waitS (line 6): is an old name of gates.approvalTimeoutS; it still works",
    "server (line 8): is an old name of api; it still works",
  ]);
});

Deno.test("migrate() follows names of the user's own, and converts values", () => {
  const { value } = migrate(
    { providers: { a: { timeoutMs: 500, x: 1 }, b: { timeout_ms: "5" }, c: {} } },
    RENAMES,
  );
  assertEquals(value, {
    providers: { a: { x: 1, limits: { timeoutS: 0.5 } }, b: { limits: { timeoutS: "5" } }, c: {} },
  });
});

Deno.test("migrate() lets the new key count where both are set", () => {
  const { value, warnings } = migrate({ agent: { stepLimit: 1, max_steps: 2 } }, RENAMES);
  assertEquals(value, { agent: { max_steps: 2 } });
  assertEquals(warnings.map(({ message }) => message), [
    "is an old name of agent.maxSteps, which is set too and counts",
  ]);
});

Deno.test("migrate() changes nothing in what is no object, or has no old key", () => {
  for (const value of [1, [], {}, { agent: 5 }, { agent: { maxSteps: 1 } }]) {
    assertEquals(migrate(value, RENAMES), { value, warnings: [] });
  }
});

Deno.test("every migration is numbered and leads to a key that there is", () => {
  MIGRATIONS.forEach(({ number, from, to }, at) => {
    assertEquals(number, at + 1);
    assertEquals(from.split("*").length, to.split("*").length);
    const later = MIGRATIONS.slice(at + 1).some((each) => each.from === to);
    assert(later || nodeAt(configSchema, parsePath(to.replaceAll("*", "x"))!), to);
  });
});

const fixtures = new URL("./fixtures/", import.meta.url);

Deno.test("W11 the fixture of every version loads, and only renames are warned of", async () => {
  await using home = await tempHome({ KEY: "key" });
  for (let version = 1; version <= MIGRATIONS.length + 1; version++) {
    const text = await Deno.readTextFile(new URL(`version_${version}.json`, fixtures));
    const { problems, warnings } = examine({ ...home, text });
    assertEquals(problems, [], `version ${version}`);
    for (const { message } of warnings) assert(message.startsWith("is an old name of "), message);
  }
});

Deno.test("the newest fixture has every key", async () => {
  const text = await Deno.readTextFile(
    new URL(`version_${MIGRATIONS.length + 1}.json`, fixtures),
  );
  const visit = (value: unknown, path: string[]) => {
    const node = nodeAt(configSchema, path);
    if (node === undefined || !isObject(value)) return;
    const missing = (keysOf(node) ?? []).filter((key) => !Object.hasOwn(value, key));
    // Each provider and preset has some of the keys; together they have all.
    if (path[0] !== "providers") assertEquals(missing, [], path.join("."));
    for (const [key, inner] of Object.entries(value)) visit(inner, [...path, key]);
  };
  const value = JSON.parse(text);
  visit(value, []);
  const provider = keysOf(nodeAt(configSchema, ["providers", "x"])!)!;
  const used = new Set(
    Object.values(value.providers).flatMap((each) => Object.keys(each as object)),
  );
  assertEquals(new Set(provider), used);
});
