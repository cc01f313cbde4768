import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { FULL_RUN } from "../../tests/support/rounds.ts";
import { type GateFixture, gateFixture } from "../authority/testing/gate_fixture.ts";

/** Edits a file that holds `before`; gives what is said and what it holds then. */
async function edit(
  gate: GateFixture,
  before: string | Uint8Array,
  oldText: string,
  newText: string,
  more: Record<string, unknown> = {},
): Promise<{ status: string; output: string; after: string }> {
  const path = `${gate.workspace}/f.txt`;
  if (typeof before === "string") await Deno.writeTextFile(path, before);
  else await Deno.writeFile(path, before);
  const args = { path: "f.txt", old_text: oldText, new_text: newText, ...more };
  const { status, output } = await gate.act("edit_file", args);
  const bytes = await Deno.readFile(path);
  return { status, output, after: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
}

Deno.test("edit_file keeps the line ends of a file, whichever a model sends", async () => {
  await using gate = await gateFixture();
  const cases: [before: string, oldText: string, newText: string, after: string][] = [
    ["a\r\nb\r\nc\r\n", "a\nb", "1\n2", "1\r\n2\r\nc\r\n"],
    ["a\r\nb\r\n", "b", "1\n2", "a\r\n1\r\n2\r\n"],
    ["a\r\nb\r\n", "a\r\nb", "1\r\n2", "1\r\n2\r\n"],
    ["a\nb\n", "a\r\nb", "1\r\n2", "1\n2\n"],
    ["a\r\nb\nc\n", "b", "1\n2", "a\r\n1\n2\nc\n"],
    ["a\r\nb\nc\n", "a\nb", "x", "x\nc\n"],
    ["a\n", "a\n", "a", "a"],
    ["\ufeffa\nb", "a", "x", "\ufeffx\nb"],
  ];
  for (const [before, oldText, newText, after] of cases) {
    const done = await edit(gate, before, oldText, newText);
    assertEquals([before, done.status, done.after], [before, "ok", after], done.output);
  }
});

Deno.test("edit_file takes no place that overlaps another for the only one", async () => {
  await using gate = await gateFixture();
  const twice = await edit(gate, "xaaay", "aa", "b");
  assertStringIncludes(twice.output, "stands in f.txt 2 times, at lines 1, 1");
  assertEquals(twice.after, "xaaay");
  assertEquals((await edit(gate, "a\n\n\nb", "\n\n", "\n")).status, "failed");
  const all = await edit(gate, "xaaaay", "aa", "b", { replace_all: true });
  assertEquals(all.after, "xbby");
  assertEquals((await edit(gate, "aaa", "a", "aa", { replace_all: true })).after, "aaaaaa");
});

Deno.test("edit_file says what differs where nothing that a reader sees does", async () => {
  await using gate = await gateFixture();
  const cases: [before: string, oldText: string, said: string][] = [
    ["\tif (a) {\n\t\tb();\n", "  if (a) {\n    b();", "tabs, which the file has"],
    ["  if (a) {\n", "\tif (a) {", "tabs, which the file has not"],
    ["caf\u0065\u0301 x\n", "caf\u00e9 x", "Unicode normal forms"],
    ["caf\u00e9 x\n", "caf\u0065\u0301 x", "Unicode normal forms"],
    ["say \u201chi\u201d \u2013 now\n", 'say "hi" - now', "quotation marks, dashes or blanks"],
    ["a\u00a0b\n", "a b", "quotation marks, dashes or blanks"],
    ["one\n\n\ntwo\n", "one\ntwo", "Only blanks or line breaks differ, at line 1"],
    ["x\n  one\n", "one  \n", "Only blanks or line breaks differ, at line 2"],
    ["say \u201chi\u201d\n", 'say "ho"', "The nearest place, at line 1"],
  ];
  for (const [before, oldText, said] of cases) {
    const { status, output, after } = await edit(gate, before, oldText, "new");
    assertEquals([before, status, after], [before, "failed", before]);
    assertStringIncludes(output, said);
  }
});

Deno.test("edit_file knows line numbers that were copied with the lines", async () => {
  await using gate = await gateFixture();
  const before = "first\nconst a = 1;\n\nconst b = 2;\n";
  for (
    const oldText of [
      "2: const a = 1;\n3: \n4: const b = 2;",
      "2\tconst a = 1;\n3\t\n4\tconst b = 2;",
      "   2|const a = 1;",
      "2:const a = 1;",
    ]
  ) {
    const { output } = await edit(gate, before, oldText, "new");
    assertStringIncludes(
      output,
      "which are no part of the file: without them it stands at line 2.",
    );
  }
  // Where the numbers are the file's own, they are text like any other.
  assertEquals((await edit(gate, "1: x\n", "1: x", "2: x")).after, "2: x\n");
});

Deno.test(
  needs(
    "edit_file finds the nearest place at the end of a file of 16 MiB, and changes it",
    FULL_RUN,
  ),
  async () => {
    await using gate = await gateFixture();
    const line = "0123456789 0123456789 0123456789\n";
    const filler = line.repeat(Math.floor((16 * 1024 * 1024 - 100) / line.length));
    const before = `${filler}\tfunction last() {\n\t\treturn 1;\n`;
    const near = await edit(gate, before, "  function last() {\n    return 1;", "x");
    assertEquals(near.status, "failed");
    assertStringIncludes(near.output, "tabs, which the file has");
    assertStringIncludes(near.output, "function last() {\n");
    assert(near.output.length < 3_000, `${near.output.length}`);
    const done = await edit(gate, before, "return 1;", "return 2;");
    assertEquals(done.status, "ok", done.output);
    assert(done.after.endsWith("return 2;\n"));
    const large = await edit(gate, before, "return 1;", "x".repeat(1_000));
    assertStringIncludes(large.output, "would become larger than the limit");
    const many = await edit(gate, "a".repeat(16 * 1024 * 1024), "a", "b", { replace_all: true });
    assertStringIncludes(many.output, "more than 1000000 times");
    const short = await edit(gate, "\n".repeat(16 * 1024 * 1024 - 2) + "zz", "yy\nxx", "b");
    assertStringIncludes(short.output, "No line of its first 20000 lines");
    const beyond = await edit(gate, before + "x".repeat(1_000), "last", "x");
    assertStringIncludes(beyond.output, "the limit for an edit");
  },
);

Deno.test("edit_file replaces 100,000 places at once, and none when that would be too much", async () => {
  await using gate = await gateFixture();
  const before = "a-b\n".repeat(100_000);
  const done = await edit(gate, before, "-", "=+=", { replace_all: true });
  assertEquals(
    done.output,
    "Changed f.txt 100000 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …",
  );
  assertEquals(done.after, "a=+=b\n".repeat(100_000));
  const huge = await edit(gate, before, "-", "x".repeat(3_000_000), { replace_all: true });
  assertStringIncludes(huge.output, "would become larger than the limit");
  assertEquals(huge.after, before);
});

Deno.test("edit_file refuses what is no UTF-8 text, naming what it is", async () => {
  await using gate = await gateFixture();
  const utf16 = new Uint8Array([0xff, 0xfe, 0x68, 0, 0x69, 0]);
  assertEquals(
    (await edit(gate, utf16, "hi", "x")).output,
    "f.txt is UTF-16LE text, expected UTF-8 text",
  );
  const binary = await edit(gate, new Uint8Array([1, 0, 2]), "hi", "x");
  assertEquals(binary.output, "f.txt is a binary file, expected UTF-8 text");
  const latin = await edit(gate, new Uint8Array([0x68, 0xe9]), "h", "x");
  assertEquals(latin.output, "f.txt is no UTF-8 text");
});
