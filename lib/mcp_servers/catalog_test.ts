import { assertEquals } from "@std/assert";
import { openCatalog } from "./catalog.ts";

const ENTRY = { about: "x 1", tools: [{ name: "t" }], resources: [], prompts: [] };

async function withCatalog(
  use: (catalog: ReturnType<typeof openCatalog>, dir: string, logged: string[]) => Promise<void>,
): Promise<void> {
  const root = await Deno.makeTempDir();
  const logged: string[] = [];
  const note = (message: string) => void logged.push(message);
  const log = { debug: note, info: note, warning: note, error: note };
  try {
    await use(openCatalog({ dir: `${root}/mcp`, log }), `${root}/mcp`, logged);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("a catalog gives back what was kept for the same configuration, to its owner alone", async () => {
  await withCatalog(async (catalog, dir, logged) => {
    assertEquals(catalog.read("one", "a"), undefined);
    await catalog.write("one", "a", ENTRY);
    const { about, tools } = catalog.read("one", "a")!;
    assertEquals([about, tools], [ENTRY.about, ENTRY.tools]);
    assertEquals(catalog.read("one", "b"), undefined);
    assertEquals(catalog.read("two", "a"), undefined);
    assertEquals((await Deno.stat(`${dir}/one.json`)).mode! & 0o777, 0o600);
    assertEquals((await Deno.stat(dir)).mode! & 0o777, 0o700);
    assertEquals(logged, []);
  });
});

Deno.test("a catalog takes a damaged file for none, and replaces it", async () => {
  await withCatalog(async (catalog, dir) => {
    await catalog.write("one", "a", ENTRY);
    const whole = await Deno.readTextFile(`${dir}/one.json`);
    for (
      const damage of [
        "",
        "{",
        "[]",
        "null",
        '{"v":1,"config":"a"}',
        whole.replace('"v":1', '"v":9'),
      ]
    ) {
      await Deno.writeTextFile(`${dir}/one.json`, damage);
      assertEquals(catalog.read("one", "a"), undefined, damage);
    }
    await catalog.write("one", "a", ENTRY);
    assertEquals(catalog.read("one", "a")?.tools, ENTRY.tools);
  });
});

Deno.test("a catalog that cannot be written says so and goes on", async () => {
  await withCatalog(async (catalog, dir, logged) => {
    await Deno.writeTextFile(dir, "a file stands there");
    await catalog.write("one", "a", ENTRY);
    assertEquals(logged.length, 1);
    const large = { ...ENTRY, tools: ["x".repeat(5 * 1024 * 1024)] };
    await catalog.write("one", "a", large);
    assertEquals(logged.length, 2);
  });
});
