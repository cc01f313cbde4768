import { assertEquals, assertStringIncludes } from "@std/assert";
import { noSandbox } from "../../lib/executor/test_sandbox.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { needs } from "../../tests/support/needs.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { printSandbox } from "./print_sandbox.ts";
import { trySandbox } from "./try_sandbox.ts";

Deno.test("printSandbox() shows what was tried, and fails when something is open", () => {
  const report = {
    ok: false,
    reason: "it does not hold: network",
    trials: [
      { name: "workspace", tried: "write a file", held: true, detail: "written" },
      { name: "network", tried: "find a network", held: false, detail: "eth0" },
    ],
  };
  const table = memoryOutput();
  assertEquals(printSandbox(table.out, report, false), 1);
  assertStringIncludes(table.stdout.text, "held    workspace  write a file");
  assertStringIncludes(table.stdout.text, "OPEN    network    find a network  eth0");
  assertStringIncludes(table.stderr.text, "it does not hold: network");
  const json = memoryOutput();
  assertEquals(printSandbox(json.out, report, true), 1);
  assertEquals(JSON.parse(json.stdout.text), report);
  const none = memoryOutput();
  assertEquals(printSandbox(none.out, noSandbox("bwrap is missing"), false), 1);
  assertStringIncludes(none.stderr.text, "bwrap is missing");
});

Deno.test({
  ...needs("trySandbox() finds that everything is held, and leaves nothing", "bubblewrap"),
  async fn() {
    const workspace = await Deno.makeTempDir();
    try {
      const config = configSchema.parse({ agent: { workspace } });
      const report = await trySandbox(config);
      assertEquals(report.trials.filter(({ held }) => !held), []);
      assertEquals([report.ok, report.trials.length > 10], [true, true]);
      assertEquals([...Deno.readDirSync(workspace)], []);
      // A folder that holds the system cannot be given to a command.
      const whole = await trySandbox(configSchema.parse({ agent: { workspace: "/" } }));
      assertEquals(whole.ok, false);
      assertStringIncludes(whole.reason, "the workspace");
    } finally {
      await Deno.remove(workspace, { recursive: true });
    }
  },
});
