import { assertEquals } from "@std/assert";
import { EXIT } from "./command.ts";
import { reportError } from "./report_error.ts";
import { memoryOutput } from "./testing/memory_output.ts";

Deno.test("reportError() tells nobody to add a flag of Deno", () => {
  const { out, stderr } = memoryOutput();
  const error = new Deno.errors.NotCapable(
    'Requires all access to "/dev/shm", run again with the --allow-all flag',
  );
  assertEquals(reportError(error, out, { json: false, verbose: false }), EXIT.usage);
  const [first] = stderr.text.split("\n");
  assertEquals(first, 'error: Cannot use "/dev/shm": it belongs to the kernel');
});
