import { assertEquals } from "@std/assert";
import { oldestFiles, usedBytes } from "./oldest_files.ts";

/** A folder in which the file `<n>` was last used at that time. */
function folder(times: readonly number[]) {
  return {
    async *names() {
      yield* times.map(String);
    },
    stat: (name: string) =>
      Promise.resolve(name === "99" ? undefined : { bytes: 10, at: Number(name) }),
  };
}

Deno.test("oldestFiles() gives every file once, the oldest first, whatever the order of the folder", async () => {
  const times = [7, 3, 9, 1, 4, 8, 2, 6, 5, 99];
  for (const pageFiles of [1, 2, 3, 8, 9, 100]) {
    const names: string[] = [];
    let after: string | undefined;
    do {
      const page = await oldestFiles(folder(times), after, (name) => name !== "4", pageFiles);
      assertEquals(page.items.length <= pageFiles, true);
      names.push(...page.items.map(({ name }) => name));
      after = page.after;
    } while (after !== undefined);
    assertEquals(names, ["1", "2", "3", "5", "6", "7", "8", "9"]);
  }
  assertEquals(await usedBytes(folder(times)), 90);
});
