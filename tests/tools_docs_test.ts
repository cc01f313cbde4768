import { assertEquals } from "@std/assert";
import { createTools, describeTool } from "../lib/tools/mod.ts";
import { argumentRows } from "./support/tool_rows.ts";

const TOOLS = createTools({ webSearch: { provider: "none", apiKey: "" } });
const DOCS = await Deno.readTextFile(new URL("../docs/tools.md", import.meta.url));

/** Its sections by heading. */
const SECTIONS = new Map(
  DOCS.split(/^## /m).slice(1).map((section) => {
    const end = section.indexOf("\n");
    return [section.slice(0, end), section.slice(end)];
  }),
);

Deno.test("docs/tools.md has a section for each tool, in their order", () => {
  const names = TOOLS.map(({ name }) => name);
  assertEquals([...SECTIONS.keys()].slice(1), names);
});

Deno.test("docs/tools.md states the arguments of each tool as its schema has them", () => {
  for (const tool of TOOLS) {
    const rows = [...SECTIONS.get(tool.name)!.matchAll(/^\| (`\w+`) .*$/gm)]
      .map(([row]) => row.split("|").slice(1, -1).map((cell) => cell.trim()))
      // Arguments have a fourth cell, what they mean.
      .filter((cells) => cells.length === 4);
    assertEquals(
      rows.map((cells) => cells.slice(0, 3)),
      argumentRows(describeTool(tool)),
      tool.name,
    );
    assertEquals(rows.every((cells) => cells[3] !== ""), true, tool.name);
  }
});

Deno.test("docs/tools.md states the capability and the time of each tool", () => {
  for (const { name, capability, timeoutMs } of TOOLS) {
    const said = /^Capability `([\w.]+)`, at most (\d+) s\. Needs /m.exec(SECTIONS.get(name)!);
    assertEquals([name, said?.[1], said?.[2]], [name, capability, String(timeoutMs / 1000)]);
  }
});
