import { assertEquals } from "@std/assert";
import { basename, dirname } from "node:path";
import { splitPath } from "./split_path.ts";

Deno.test("splitPath() says of an absolute path what Node's module says", () => {
  const paths = Deno.build.os === "windows"
    ? ["C:\\a", "C:\\a\\b", "C:\\a b\\c.d", "C:\\a\\.b"]
    : ["/a", "/a/b", "/a b/c.d", "/a/.b", "/a\\b/c", "/ä/日本/c\n"];
  for (const path of paths) {
    assertEquals(splitPath(path), { folder: dirname(path), name: basename(path) });
  }
});
