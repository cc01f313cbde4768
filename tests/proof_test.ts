import { assert, assertEquals } from "@std/assert";
import { SUITES } from "../proof/suites.ts";

const ROOT = new URL("../", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, ROOT));

Deno.test("each proof has tests that there are, and a row in docs/proofs.md", async () => {
  const page = await read("docs/proofs.md");
  for (const [name, { files }] of Object.entries(SUITES)) {
    assert(page.includes(`| \`${name}\``), name);
    for (const file of files) assert((await Deno.stat(new URL(file, ROOT))).isFile, file);
    assertEquals(new Set(files).size, files.length, name);
  }
});
