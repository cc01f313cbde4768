import { assertEquals } from "@std/assert";
import { clientTypes } from "./client_types.ts";

Deno.test("webui/api/operations.ts is what the operations give; deno task generate writes it anew", async () => {
  const file = new URL("../../../../webui/api/operations.ts", import.meta.url);
  assertEquals(await Deno.readTextFile(file), clientTypes());
});
