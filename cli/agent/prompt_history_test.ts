import { assertEquals, assertLess } from "@std/assert";
import { MAX_ENTRIES, MAX_ENTRY_CHARS, PromptHistory } from "./prompt_history.ts";

async function withFile(test: (file: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    await test(`${dir}/history`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("PromptHistory remembers what was said, in a file that others cannot read", () =>
  withFile(async (file) => {
    const history = await PromptHistory.load(file);
    await history.add("one");
    await history.add("two\nlines");
    assertEquals((await PromptHistory.load(file)).entries, ["one", "two\nlines"]);
    if (Deno.build.os !== "windows") assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
  }));

Deno.test("PromptHistory leaves out blank, repeated, private and huge entries", () =>
  withFile(async (file) => {
    const history = await PromptHistory.load(file);
    for (const entry of ["a", "a", " ", " private", "x".repeat(MAX_ENTRY_CHARS + 1), "b", "a"]) {
      await history.add(entry);
    }
    assertEquals(history.entries, ["a", "b", "a"]);
    assertEquals((await PromptHistory.load(file)).entries, ["a", "b", "a"]);
  }));

Deno.test("PromptHistory stays bounded, in memory and on the disk", () =>
  withFile(async (file) => {
    const history = await PromptHistory.load(file);
    for (let at = 0; at < 2 * MAX_ENTRIES; at++) await history.add(`${at} ${"x".repeat(1_000)}`);
    assertEquals(history.entries.length, MAX_ENTRIES);
    assertLess((await Deno.stat(file)).size, 600_000);
    const again = await PromptHistory.load(file);
    assertEquals(again.entries.at(-1), history.entries.at(-1));
    assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
  }));

Deno.test("PromptHistory goes on without damaged lines, and without its file", () =>
  withFile(async (file) => {
    await Deno.writeTextFile(file, `"a"\nno json\n42\n"b"\n"torn`);
    const history = await PromptHistory.load(file);
    assertEquals(history.entries, ["a", "b"]);
    const homeless = await PromptHistory.load("/nonexistent/folder/history");
    await homeless.add("kept in memory");
    assertEquals(homeless.entries, ["kept in memory"]);
  }));
