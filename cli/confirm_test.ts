import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../lib/base/errors.ts";
import { confirm } from "./confirm.ts";
import { memoryOutput } from "./testing/memory_output.ts";

Deno.test("confirm() is true for a yes alone, and asks on standard error", async () => {
  for (
    const [line, expected] of [
      ["y\n", true],
      ["YES\r\n", true],
      ["n\n", false],
      ["\n", false],
      ["yesterday\n", false],
      [undefined, false],
    ] as const
  ) {
    const { out, stdout, stderr } = memoryOutput();
    const readLine = () => Promise.resolve(line);
    assertEquals(await confirm("Sure?", { out, isTerminal: true, readLine }), expected);
    assertEquals([stdout.text, stderr.text.trim()], ["", "Sure? [y/N]"]);
  }
});

Deno.test("confirm() is a usage error where there is nobody to ask", async () => {
  const { out } = memoryOutput();
  const readLine = () => Promise.reject(new Error("was read"));
  const error = await assertRejects(
    () => confirm("Sure?", { out, isTerminal: false, readLine }),
    ServiceError,
    "--yes",
  );
  assertEquals(error.code, "usage");
});
