import { assertEquals } from "@std/assert";
import { boundedProgress } from "./bounded_progress.ts";

Deno.test("boundedProgress() passes on so many texts and so many characters, and drops the rest", () => {
  const told: string[] = [];
  const tell = (maxChars: number, maxTexts: number) =>
    boundedProgress((text) => void told.push(text), { maxChars, maxTexts });
  const few = tell(100, 2);
  for (const text of ["a", "", "b", "c"]) few(text);
  const short = tell(5, 100);
  for (const text of ["four", "four", "four"]) short(text);
  assertEquals(told, ["a", "b", "four", "f"]);
});
