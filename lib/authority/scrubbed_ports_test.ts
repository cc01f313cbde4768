import { assert, assertEquals } from "@std/assert";
import { fingerprintsOf } from "../secrets/fingerprints_of.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { scrubbedApprovals, scrubbedAudit } from "./scrubbed_ports.ts";
import type { ApprovalRequest } from "../approvals/approval_request.ts";
import { gateFixture } from "./testing/gate_fixture.ts";

const KEY = "sk-live-0123456789abcdef";
const scrubber = createScrubber(fingerprintsOf({ name: "KEY", value: KEY }));

Deno.test("scrubbedAudit() writes no secret, and keeps what else a record holds", async () => {
  await using gate = await gateFixture();
  const audit = scrubbedAudit(gate.audit, scrubber);
  await audit.append("action.start", {
    target: { kind: "path", real: `/tmp/${KEY}` },
    argv: ["curl", `https://h/?k=${encodeURIComponent(KEY)}`],
    digest: "a".repeat(64),
    ms: 12,
  });
  assertEquals(audit.digest("x"), gate.audit.digest("x"));
  assertEquals((await gate.records()).at(-1)!.data, {
    target: { kind: "path", real: "/tmp/[secret KEY]" },
    argv: ["curl", "https://h/?k=[secret KEY]"],
    digest: "a".repeat(64),
    ms: 12,
  });
});

Deno.test("scrubbedApprovals() shows no secret, with the digest of the action as it is", async () => {
  let asked: ApprovalRequest | undefined;
  const approvals = scrubbedApprovals({
    request(request) {
      asked = request;
      return Promise.resolve({ outcome: "expired" });
    },
  }, scrubber);
  const signals = [new AbortController().signal];
  const onEvent = () => {};
  await approvals.request({
    action: {
      tool: "exec",
      capability: "exec",
      args: { command: ["echo", KEY] },
      target: { kind: "command", argv: ["echo", KEY], program: "/bin/echo", cwd: "/w" },
      digest: "b".repeat(64),
    },
    context: {
      sessionKey: "s:1",
      turnId: "t",
      callId: "c",
      channel: "cli",
      actor: "a",
      attended: true,
      personHosts: [],
      toolUrls: [],
    },
    signals,
    onEvent,
  });
  assert(!JSON.stringify(asked!.action).includes(KEY));
  assertEquals(asked!.action.args, { command: ["echo", "[secret KEY]"] });
  assertEquals(asked!.action.digest, "b".repeat(64));
  assert(asked!.signals === signals && asked!.onEvent === onEvent);
});
