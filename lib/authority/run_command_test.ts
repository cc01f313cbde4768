import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { findConfinement } from "./executor/sandbox.ts";
import { type GateFixture, gateFixture } from "./testing/gate_fixture.ts";

const { bwrap } = await findConfinement();
if (bwrap === undefined) {
  new TextEncoder().encode("no bubblewrap here: commands in the sandbox are not tested\n");
}

/** A test of commands in the sandbox, through the gate. */
function testSandboxed(
  name: string,
  test: (gate: GateFixture) => Promise<void>,
  options: Parameters<typeof gateFixture>[0] = {},
): void {
  Deno.test({
    name,
    ignore: bwrap === undefined,
    async fn() {
      await using gate = await gateFixture(options);
      await test(gate);
    },
  });
}

testSandboxed("exec runs a text in the shell and a list as it stands", async (gate) => {
  const shell = await gate.act("exec", { command: "echo $((6 * 7)); echo err >&2; exit 3" });
  assertEquals(shell, { status: "ok", output: "42\nerr\n[exit code 3]" });
  const list = await gate.act("exec", { command: ["printf", "%s", "$HOME; echo x"] });
  assertEquals(list, { status: "ok", output: "$HOME; echo x\n[exit code 0]" });
  const silent = await gate.act("exec", { command: ["true"] });
  assertEquals(silent, { status: "ok", output: "[exit code 0]" });
});
