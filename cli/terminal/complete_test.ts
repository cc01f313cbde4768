import { assertEquals } from "@std/assert";
import { complete } from "./complete.ts";

const sources = {
  commands: ["/status", "/stop", "/help"],
  models: () => Promise.resolve(["fast", "smart"]),
  sessions: () => Promise.resolve(["work"]),
  files: (folder: string) =>
    folder === "docs/"
      ? Promise.resolve(["a b.md", "a c.md"])
      : folder === ""
      ? Promise.resolve(["docs/", "notes.md", ".hidden"])
      : Promise.reject(new Error("no such folder")),
};

async function offers(before: string) {
  const found = await complete(before, sources);
  return found && [found.start, ...found.offers];
}

Deno.test("complete() offers commands, models, sessions and files", async () => {
  assertEquals(await offers("/st"), ["/st", "/status", "/stop"]);
  assertEquals(await offers("/model s"), ["smart", "smart"]);
  assertEquals(await offers("/session "), ["work", "work"]);
  assertEquals(await offers("see @n"), ["@notes.md", "@notes.md"]);
  assertEquals(await offers("see @d"), ["@docs/", "@docs/"]);
  assertEquals(await offers("@docs/a"), ['@"docs/a ', '@"docs/a b.md"', '@"docs/a c.md"']);
  assertEquals(await offers('@"docs/a b'), ['@"docs/a b.md"', '@"docs/a b.md"']);
});

Deno.test("complete() offers nothing for words and folders that are not there", async () => {
  assertEquals(await offers("a word"), undefined);
  assertEquals(await offers("mail@example"), undefined);
  assertEquals(await offers("@nowhere/x"), ["@"]);
});
