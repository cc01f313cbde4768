import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT, type Invocation } from "../command.ts";
import { FakeClient, operations } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { runCommission } from "./commission.ts";

type Finding = OperationResult<"automations.finding">["finding"];

const FINDING: Finding = {
  id: "com_1",
  automation_id: "aut_a",
  automation_digest: "d".repeat(64),
  digest: "12345678".repeat(8),
  outcome: "done",
  by: "token:tok_1",
  started_at: 0,
  finished_at: 1,
  actions: [
    {
      tool: "read_file",
      capability: "fs.read",
      target: "/w/a\u202e.txt",
      effect: "grant",
      rule: "unattended",
      reason: "alone",
      count: 2,
    },
  ],
  left: 0,
  grants: [{ capability: "fs.read", target: "/w/a\u202e.txt" }],
};

function setUp(
  { lines, isCurrent = true, outcome = "done" as Finding["outcome"], env = "sat_env" } = {} as {
    lines?: string[];
    isCurrent?: boolean;
    outcome?: Finding["outcome"];
    env?: string;
  },
) {
  const { out, stdout, stderr } = memoryOutput();
  const finding = { ...FINDING, outcome };
  const client = new FakeClient({
    ...operations({
      "automations.commission": () => ({
        finding,
        text: "Would do it.",
        turn_id: "t",
        usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
      }),
      "automations.finding": () => ({ finding, current: isCurrent }),
      "automations.grant": ({ digest }: { digest: string }) => ({
        finding_id: finding.id,
        digest,
        grants: FINDING.grants.map((each) => ({ ...each, id: "gr_1" })),
      }),
    }),
  });
  const run = (subcommand: string, options: Invocation["options"] = {}, json = false) =>
    runCommission({
      subcommand,
      args: ["aut_a"],
      options,
      globals: { lastGood: false, json, verbose: false },
      out,
    }, {
      token: () => ({
        env: () => env,
        isTerminal: false,
        readHidden: () => Promise.resolve(undefined),
      }),
      terminal: () => ({
        isTerminal: lines !== undefined,
        readLine: () => Promise.resolve(lines?.shift()),
      }),
      withService: (_, use) => use(client),
    });
  const granted = () =>
    client.seen.map(({ params }) => params as { token: string; request: { op: string } })
      .filter(({ request }) => request.op === "automations.grant");
  return { run, stdout, stderr, granted, client };
}

Deno.test("commission prints what the model said and what it would need, nothing hidden", async () => {
  const { run, stdout, stderr } = setUp();
  assertEquals(await run("commission"), EXIT.done);
  assertEquals(stdout.text.trim(), "Would do it.");
  assertStringIncludes(stderr.text, "needs a grant  fs.read of /w/a\\u{202e}.txt (2 times): alone");
  assertStringIncludes(stderr.text, "service automations grant aut_a");
  assertEquals(await setUp({ outcome: "failed" }).run("commission"), EXIT.failed);
});

Deno.test("grant takes the digest of what was seen, and grants nothing else", async () => {
  const typed = setUp({ lines: ["12345678"] });
  assertEquals(await typed.run("grant"), EXIT.done);
  assertEquals(typed.granted(), [{
    token: "sat_env",
    request: { op: "automations.grant", id: "aut_a", digest: FINDING.digest } as { op: string },
  }]);
  assertStringIncludes(typed.stderr.text, "digest: 12345678 ");
  const given = setUp();
  assertEquals(await given.run("grant", { digest: "12345678" }, true), EXIT.done);
  assertEquals(JSON.parse(given.stdout.text).grants[0].id, "gr_1");

  const refusals: [ReturnType<typeof setUp>, Invocation["options"], string][] = [
    [setUp({ lines: ["87654321"] }), {}, "conflict"],
    [setUp({ lines: ["1234567"] }), {}, "conflict"],
    [setUp(), { digest: "x" }, "conflict"],
    [setUp(), {}, "usage"],
    [setUp({ isCurrent: false }), { digest: FINDING.digest }, "conflict"],
    [setUp({ env: "" }), { digest: FINDING.digest }, "usage"],
  ];
  for (const [at, options, code] of refusals) {
    const error = await assertRejects(() => at.run("grant", options), ServiceError);
    assertEquals([error.code, at.granted()], [code, []]);
  }
  const left = setUp({ lines: [""] });
  assertEquals([await left.run("grant"), left.granted()], [EXIT.failed, []]);
});

Deno.test("finding says when the automation has changed since", async () => {
  const { run, stdout, stderr } = setUp({ isCurrent: false });
  assertEquals(await run("finding"), EXIT.done);
  assertStringIncludes(stdout.text, "com_1, done, by token:tok_1, 1970-01-01T00:00:01.000Z");
  assertStringIncludes(stderr.text, "has changed since the dry run");
});
