import { assertEquals, assertThrows } from "@std/assert";
import { HTTP_ERRORS } from "../../../listen/error_table.ts";
import { errorTable, withErrorTable } from "./error_docs.ts";

Deno.test("docs/http-api.md has every error; deno task generate writes them anew", async () => {
  const page = await Deno.readTextFile(
    new URL("../../../../docs/http-api.md", import.meta.url),
  );
  assertEquals(page, withErrorTable(page));
});

Deno.test("errorTable() has a row for each code", () => {
  const rows = errorTable().trimEnd().split("\n").slice(2);
  assertEquals(
    rows.map((row) => row.split("|").slice(1, 5).map((cell) => cell.trim())),
    Object.values(HTTP_ERRORS).toSorted((a, b) => a.status - b.status).map((kind) => [
      String(kind.status),
      `\`${kind.slug}\``,
      kind.type,
      kind.meaning,
    ]),
  );
});

Deno.test("withErrorTable() changes nothing but the table, and refuses a page without marks", () => {
  const marks = ["<!-- errors: written by `deno task generate` -->\n", "\n<!-- end of errors -->"];
  const page = `before\n${marks[0]}old${marks[1]}\nafter\n`;
  assertEquals(withErrorTable(page), `before\n${marks[0]}\n${errorTable()}${marks[1]}\nafter\n`);
  assertThrows(() => withErrorTable("before"), Error, "cannot be written");
});
