import { assertEquals, assertRejects } from "@std/assert";
import { withFolderLock } from "./folder_lock.ts";

Deno.test("withFolderLock() lets one at a time in, leaves no file, and is free after a failure", async () => {
  const dir = await Deno.makeTempDir();
  let inside = 0;
  const most: number[] = [];
  const work = async () => {
    most.push(++inside);
    await new Promise((resolve) => setTimeout(resolve, 1));
    inside--;
  };
  await assertRejects(
    () => withFolderLock(dir, () => Promise.reject(new Error("no"))),
    Error,
    "no",
  );
  await Promise.all(Array.from({ length: 5 }, () => withFolderLock(dir, work)));
  assertEquals([most, [...Deno.readDirSync(dir)]], [[1, 1, 1, 1, 1], []]);
  await Deno.remove(dir);
});
