import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { AutomationView, RunView } from "../../lib/automation/automation_view.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT, type Invocation } from "../command.ts";
import { FakeClient, type Script } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { runAutomations } from "./automations.ts";

const NEXT = Date.parse("2026-03-01T08:30:00Z");

function view(id: string, change: Partial<AutomationView> = {}): AutomationView {
  return {
    id,
    spec: {
      name: `About ${id}`,
      message: "What is new?",
      schedule: { every: 5_400 },
      missed: "once",
      tokenBudget: 200_000,
      maxSteps: 50,
      retries: 0,
      overlap: "skip",
      enabled: true,
    },
    digest: "d",
    revision: 1,
    createdAt: 0,
    nextAt: NEXT,
    missed: 1,
    overlapped: 2,
    warnings: [],
    ...change,
  };
}

function runOf(id: number, change: Partial<RunView> = {}): RunView {
  return {
    id,
    automationId: "aut_a",
    slotAt: NEXT,
    claimedAt: NEXT,
    state: "done",
    attempts: 1,
    endedAt: NEXT + 60_000,
    answer: "Rain.\nAnd wind.",
    ...change,
  };
}

function setUp(
  invocation: Partial<Pick<Invocation, "subcommand" | "args" | "options">>,
  { script = {}, json = false, files = {}, answer }: {
    script?: Script;
    json?: boolean;
    files?: Record<string, string>;
    answer?: string;
  } = {},
) {
  const { out, stdout, stderr } = memoryOutput();
  const client = new FakeClient({
    automations: ({ after }) => after === "" ? [view("aut_a"), view("aut_b")] : [],
    automation: ({ id }) => view(id, { warnings: ["No gateway is running"] }),
    automation_create: () => view("aut_new"),
    automation_update: ({ id }) => view(id),
    automation_enable: ({ id }) => view(id),
    automation_delete: ({ id }) => ({ id, deleted: true }),
    automation_run: () => runOf(3, { state: "waiting" }),
    automation_history: () => [
      runOf(2),
      runOf(1, { slotAt: undefined, state: "failed", answer: undefined, error: "no answer" }),
    ],
    ...script,
  });
  let opened = 0;
  const run = () =>
    runAutomations({
      args: [],
      options: {},
      globals: { lastGood: false, json, verbose: false },
      out,
      ...invocation,
    }, {
      timeZone: "Europe/Berlin",
      readText: (path) => Promise.resolve(files[path] ?? ""),
      confirm: (out) => ({ out, isTerminal: true, readLine: () => Promise.resolve(answer) }),
      withService: (_, use) => {
        opened++;
        return use(client);
      },
    });
  return { run, stdout, stderr, client, opened: () => opened };
}

Deno.test("runAutomations() lists with times of this machine's zone", async () => {
  const { run, stdout } = setUp({});
  assertEquals(await run(), EXIT.done);
  assertEquals(
    stdout.text,
    `ID     SCHEDULE   NEXT                  LAST RUN  NAME
aut_a  every 90m  2026-03-01 09:30 CET  none      About aut_a
aut_b  every 90m  2026-03-01 09:30 CET  none      About aut_b
`,
  );
  const lines = setUp({ subcommand: "list" }, { json: true });
  await lines.run();
  assertEquals(lines.stdout.text.trimEnd().split("\n").map((line) => JSON.parse(line).id), [
    "aut_a",
    "aut_b",
  ]);
});

Deno.test("runAutomations() reads every page of a list", async () => {
  const ids = Array.from({ length: 450 }, (_, n) => `aut_${String(n).padStart(3, "0")}`);
  const { run, stdout, client } = setUp({}, {
    json: true,
    script: {
      automations: ({ after = "", limit }) =>
        ids.filter((id) => id > after).slice(0, limit).map((id) => view(id)),
    },
  });
  await run();
  assertEquals(stdout.text.trimEnd().split("\n").length, 450);
  assertEquals(client.seen.length, 3);
});

Deno.test("runAutomations() shows one with what was counted and its warnings", async () => {
  const { run, stdout, stderr } = setUp({ subcommand: "show", args: ["About aut_b"] });
  await run();
  for (const part of ["aut_b", "every 90m", "1 missed, 2 overlapped", "automation:aut_b"]) {
    assertStringIncludes(stdout.text, part);
  }
  assertEquals(stderr.text, "warning: No gateway is running\n");
});

Deno.test("runAutomations() creates from options", async () => {
  const cases: [Invocation["options"], Record<string, unknown>][] = [
    [{ message: "Plan\n my day", every: "1h" }, {
      name: "Plan my day",
      message: "Plan\n my day",
      schedule: { every: 3_600 },
    }],
    [{ message: "m", name: "n", cron: "0 8 * * *" }, {
      name: "n",
      message: "m",
      schedule: { cron: "0 8 * * *", timeZone: "Europe/Berlin" },
    }],
    [{ message: "m", cron: "0 8 * * *", "time-zone": "UTC", off: true }, {
      name: "m",
      message: "m",
      schedule: { cron: "0 8 * * *", timeZone: "UTC" },
      enabled: false,
    }],
    [{
      message: "m",
      at: "2026-03-01T08:30:00Z",
      deliver: "websocket:a:b",
      when: "change",
      "token-budget": "5000",
      "max-steps": "7",
      retries: "2",
      missed: "all",
      overlap: "queue",
    }, {
      name: "m",
      message: "m",
      schedule: { at: "2026-03-01T08:30:00Z" },
      missed: "all",
      overlap: "queue",
      tokenBudget: 5_000,
      maxSteps: 7,
      retries: 2,
      delivery: { channel: "websocket", chatId: "a:b", when: "change" },
    }],
  ];
  for (const [options, automation] of cases) {
    const { run, stdout, stderr, client } = setUp({ subcommand: "create", options });
    assertEquals(await run(), EXIT.done);
    assertEquals(client.seen[0]!.params, { automation });
    assertEquals(stdout.text, "aut_new\n");
    assertStringIncludes(stderr.text, "Next run: 2026-03-01 09:30 CET");
  }
});

Deno.test("runAutomations() takes a time without an offset as one of this machine", async () => {
  const { run, client } = setUp({
    subcommand: "create",
    options: { message: "m", at: "2026-07-01 08:30" },
  });
  await run();
  const { automation } = client.seen[0]!.params as { automation: { schedule: { at: string } } };
  assertEquals(Date.parse(automation.schedule.at), new Date("2026-07-01T08:30").getTime());
});

Deno.test("runAutomations() reads JSON, and what is typed goes over it", async () => {
  const files = { "-": `{"name":"n","message":"m","schedule":{"every":60},"delivery":null}` };
  const { run, client } = setUp(
    { subcommand: "update", args: ["aut_a"], options: { from: "-", message: "typed" } },
    { files },
  );
  await run();
  assertEquals(client.seen[0]!.params, {
    id: "aut_a",
    change: { name: "n", message: "typed", schedule: { every: 60 }, delivery: null },
  });
});

Deno.test("runAutomations() refuses what was typed wrongly before it opens anything", async () => {
  const cases: [Invocation["options"], string][] = [
    [{}, "Nothing says"],
    [{ every: "1h", cron: "* * * * *" }, "Only one of"],
    [{ every: "1x" }, "--every"],
    [{ every: "" }, "--every"],
    [{ "time-zone": "UTC" }, "--cron"],
    [{ at: "2026-13-01 08:30" }, "--at"],
    [{ at: "2027-02-29 08:30" }, "--at"],
    [{ at: "2026-06-31T08:30" }, "--at"],
    [{ deliver: "telegram" }, "<channel>:<chat>"],
    [{ deliver: ":1" }, "<channel>:<chat>"],
    [{ when: "always" }, "--deliver"],
    [{ deliver: "a:1", "no-deliver": true }, "Only one of"],
    [{ retries: "-1" }, "--retries"],
    [{ "token-budget": "1e5" }, "--token-budget"],
    [{ from: "bad.json" }, "is not JSON"],
    [{ from: "list.json" }, "no JSON object"],
  ];
  const files = { "bad.json": "{", "list.json": "[1]" };
  for (const [options, part] of cases) {
    for (const subcommand of ["create", "update"]) {
      const { run, opened } = setUp({ subcommand, args: ["aut_a"], options }, { files });
      const error = await assertRejects(run, ServiceError, part);
      assertEquals([error.code, opened()], ["usage", 0]);
    }
  }
});

Deno.test("runAutomations() names the options that a new automation needs", async () => {
  for (
    const [options, part] of [
      [{ name: "n", every: "1h" }, "--message"],
      [{ message: "m" }, "--every, --cron or --at"],
      [{ from: "half.json" }, "--every, --cron or --at"],
    ] as [Invocation["options"], string][]
  ) {
    const files = { "half.json": `{"message":"m"}` };
    const { run, opened } = setUp({ subcommand: "create", options }, { files });
    const error = await assertRejects(run, ServiceError, part);
    assertEquals([error.code, opened()], ["usage", 0]);
  }
});

Deno.test("runAutomations() finds one by its name, and says when it cannot", async () => {
  const { run, client } = setUp({ subcommand: "disable", args: ["About aut_b"] });
  await run();
  assertEquals(client.seen.at(-1)!.params, { id: "aut_b", enabled: false });
  const none = setUp({ subcommand: "enable", args: ["x"] });
  assertEquals((await assertRejects(none.run, ServiceError)).code, "not_found");
  const twins = [view("aut_a"), view("aut_b")].map((each) => ({
    ...each,
    spec: { ...each.spec, name: "twin" },
  }));
  const both = setUp({ subcommand: "run", args: ["twin"] }, {
    script: { automations: () => twins },
  });
  assertStringIncludes((await assertRejects(both.run, ServiceError)).message, "aut_a, aut_b");
});

Deno.test("runAutomations() runs one now, and says when nothing runs it", async () => {
  const { run, stderr, client } = setUp({
    subcommand: "run",
    args: ["aut_a"],
    options: { "request-id": "r1" },
  });
  await run();
  assertEquals(client.seen[0]!.params, { id: "aut_a", requestId: "r1" });
  assertStringIncludes(stderr.text, "Run 3 is waiting");
  assertStringIncludes(stderr.text, "No gateway is running");
});

Deno.test("runAutomations() shows runs, the latest first, and how to go on", async () => {
  const { run, stdout, stderr, client } = setUp({
    subcommand: "history",
    args: ["aut_a"],
    options: { limit: "2", before: "9" },
  });
  await run();
  assertEquals(client.seen[0]!.params, { id: "aut_a", before: 9, limit: 2 });
  assertEquals(
    stdout.text,
    `RUN  SLOT                  STATE   ATTEMPTS  ENDED                 RESULT
2    2026-03-01 09:30 CET  done    1         2026-03-01 09:31 CET  Rain. And wind.
1    asked for             failed  1         2026-03-01 09:31 CET  no answer
`,
  );
  assertStringIncludes(stderr.text, "--before 1");
});

Deno.test("runAutomations() deletes after it was confirmed", async () => {
  const no = setUp({ subcommand: "delete", args: ["aut_a"] }, { answer: "n" });
  assertEquals([await no.run(), no.opened()], [EXIT.failed, 0]);
  const yes = setUp({ subcommand: "delete", args: ["aut_a"], options: { yes: true } });
  assertEquals(await yes.run(), EXIT.done);
  assertEquals(yes.client.seen[0]!.op, "automation_delete");
});
