import { assertEquals, assertLessOrEqual } from "@std/assert";
import { displayWidth } from "./display_width.ts";
import { printTable } from "./table.ts";
import { memoryOutput } from "./testing/memory_output.ts";

Deno.test("printTable() aligns columns, also with wide and combining characters", () => {
  const { out, stdout } = memoryOutput();
  printTable(out, ["KEY", "TITLE"], [["漢字", "a"], ["e\u0301x", "b\nc"], ["long key", ""]]);
  assertEquals(stdout.text, "KEY       TITLE\n漢字      a\ne\u0301x        b c\nlong key\n");
});

Deno.test("printTable() cuts the last column on a terminal only", () => {
  const rows = [["k", "x".repeat(40)]];
  const terminal = memoryOutput({ stdout: true, noColor: true, columns: 20 });
  printTable(terminal.out, ["K", "T"], rows);
  assertEquals(terminal.stdout.text, `K  T\nk  ${"x".repeat(16)}…\n`);
  const pipe = memoryOutput({ columns: 20 });
  printTable(pipe.out, ["K", "T"], rows);
  assertEquals(pipe.stdout.text, `K  T\nk  ${"x".repeat(40)}\n`);
});

Deno.test("printTable() shows the last column whole where it wraps, below its row where there is no room", () => {
  const rows = [["key", "one two three four five six seven"], ["k", ""]];
  const shown = (columns: number) => {
    const { out, stdout } = memoryOutput({ stdout: true, noColor: true, columns });
    printTable(out, ["KEY", "WHAT"], rows, { wraps: true });
    return stdout.text;
  };
  assertEquals(shown(80), "KEY  WHAT\nkey  one two three four five six seven\nk\n");
  assertEquals(shown(35), "KEY  WHAT\nkey  one two three four five six\n     seven\nk\n");
  assertEquals(shown(24), "KEY\n  WHAT\nkey\n  one two three four\n  five six seven\nk\n");
});

Deno.test("printTable() stacks rows where a line has no room for their columns", () => {
  const shown = (columns: number, options?: { wraps: boolean }) => {
    const { out, stdout } = memoryOutput({ stdout: true, noColor: true, columns });
    const rows = [["gr_abcdefgh", "cli:two", "net.fetch", ""], [
      "漢字漢字漢字漢字漢字漢字",
      "a",
      "b",
      "c d e f",
    ]];
    printTable(out, ["ID", "SUBJECT", "LAST USE", "NOTE"], rows, options);
    return stdout.text;
  };
  for (const options of [undefined, { wraps: true }]) {
    assertEquals(
      shown(40, options),
      "gr_abcdefgh\n  Subject: cli:two\n  Last use: net.fetch\n" +
        "漢字漢字漢字漢字漢字漢字\n  Subject: a\n  Last use: b\n  Note: c d e f\n",
    );
    for (const line of shown(20, options).split("\n")) assertLessOrEqual(displayWidth(line), 20);
  }
});

Deno.test("displayWidth() counts columns of a terminal", () => {
  assertEquals(displayWidth("abc"), 3);
  assertEquals(displayWidth("漢字"), 4);
  assertEquals(displayWidth("😀"), 2);
  assertEquals(displayWidth("e\u0301"), 1);
});
