import { assertEquals, assertStringIncludes } from "@std/assert";
import { gateFixture } from "../authority/testing/gate_fixture.ts";
import type { AuditLog } from "./log.ts";

Deno.test("audit.recordCommands alone lets a command stand in clear in the record", async () => {
  for (const recordCommands of [undefined, false, true]) {
    const targets: Record<string, unknown>[] = [];
    const audit: AuditLog = {
      path: "/nowhere",
      recordCommands,
      append(kind, data) {
        if (kind.startsWith("action.") && "target" in data) targets.push(data.target as never);
        return Promise.resolve({ v: 1, seq: 1, ts: 0, kind, prev: "", data, hash: "" });
      },
      digest: () => "a digest",
      close: () => Promise.resolve(),
    };
    await using gate = await gateFixture({ audit });
    await gate.act("exec", { command: "echo the words" });
    assertEquals(targets.length, 1);
    const { argv } = targets[0]!;
    if (recordCommands) assertStringIncludes(JSON.stringify(argv), "echo the words");
    else assertEquals(argv, "a digest");
  }
});
