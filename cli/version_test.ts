import { assertEquals } from "@std/assert";
import { VERSION } from "./version.ts";

Deno.test("VERSION is that of deno.json", async () => {
  const file = new URL("../deno.json", import.meta.url);
  assertEquals(VERSION, JSON.parse(await Deno.readTextFile(file)).version);
});
