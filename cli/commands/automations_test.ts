import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { AutomationRow, RunRow } from "../automations/find_automation.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT, type Invocation } from "../command.ts";
import { FakeClient, operations } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { runAutomations } from "./automations.ts";

const NEXT = Date.parse("2026-03-01T08:30:00Z") / 1_000;

function view(id: string, change: Partial<AutomationRow> = {}): AutomationRow {
  return {
    id,
    automation: {
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
    created_at: 0,
    next_at: NEXT,
    missed: 1,
    overlapped: 2,
    warnings: [],
    ...change,
  };
}

function runOf(id: number, change: Partial<RunRow> = {}): RunRow {
  return {
    id,
    automation_id: "aut_a",
    slot_at: NEXT,
    claimed_at: NEXT,
    state: "done",
    attempts: 1,
    ended_at: NEXT + 60,
    answer: "Rain.\nAnd wind.",
    ...change,
  };
}

function setUp(
  invocation: Partial<Pick<Invocation, "subcommand" | "args" | "options">>,
  { script = {}, json = false, files = {}, answer }: {
    script?: Parameters<typeof operations>[0];
    json?: boolean;
    files?: Record<string, string>;
    answer?: string;
  } = {},
) {
  const { out, stdout, stderr } = memoryOutput();
  const one = ({ id }: { id: string }) => view(id);
  const client = new FakeClient(operations({
    "automations.list": () => ({ automations: [view("aut_a"), view("aut_b")] }),
    "automations.get": ({ id }: { id: string }) =>
      view(id, { warnings: ["No gateway is running"] }),
    "automations.create": () => view("aut_new"),
    "automations.update": one,
    "automations.enable": one,
    "automations.disable": one,
    "automations.delete": ({ id }: { id: string }) => ({ id, deleted: true }),
    "automations.run": () => runOf(3, { state: "waiting" }),
    "automations.history": () => ({
      runs: [
        runOf(2),
        runOf(1, { slot_at: undefined, state: "failed", answer: undefined, error: "no answer" }),
      ],
      before: 1,
    }),
    ...script,
  }));
  /** What was asked, in its order. */
  const asked = () => client.seen.map(({ params }) => (params as { request: unknown }).request);
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
  return { run, stdout, stderr, client, asked, opened: () => opened };
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
      "automations.list": ({ after = "", limit }: { after?: string; limit: number }) => {
        const left = ids.filter((id) => id > after);
        const page = left.slice(0, limit);
        return {
          automations: page.map((id) => view(id)),
          ...left.length > limit && { after: page.at(-1) },
        };
      },
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
    const { run, stdout, stderr, asked } = setUp({ subcommand: "create", options });
    assertEquals(await run(), EXIT.done);
    assertEquals(asked()[0], { op: "automations.create", ...automation });
    assertEquals(stdout.text, "aut_new\n");
    assertStringIncludes(stderr.text, "Next run: 2026-03-01 09:30 CET");
  }
});

Deno.test("runAutomations() takes a time without an offset as one of this machine", async () => {
  const { run, asked } = setUp({
    subcommand: "create",
    options: { message: "m", at: "2026-07-01 08:30" },
  });
  await run();
  const { schedule } = asked()[0] as { schedule: { at: string } };
  assertEquals(Date.parse(schedule.at), new Date("2026-07-01T08:30").getTime());
});

Deno.test("runAutomations() reads JSON, and what is typed goes over it", async () => {
  const files = { "-": `{"name":"n","message":"m","schedule":{"every":60},"delivery":null}` };
  const { run, asked } = setUp(
    { subcommand: "update", args: ["aut_a"], options: { from: "-", message: "typed" } },
    { files },
  );
  await run();
  assertEquals(asked()[0], {
    op: "automations.update",
    id: "aut_a",
    name: "n",
    message: "typed",
    schedule: { every: 60 },
    delivery: null,
  });
});

Deno.test("runAutomations() refuses what was typed wrongly before it opens anything", async () => {
  const cases: [Invocation["options"], string][] = [
    [{}, "or --from FILE"],
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
  const { run, asked } = setUp({ subcommand: "disable", args: ["About aut_b"] });
  await run();
  assertEquals(asked().at(-1), { op: "automations.disable", id: "aut_b" });
  const none = setUp({ subcommand: "enable", args: ["x"] });
  assertEquals((await assertRejects(none.run, ServiceError)).code, "not_found");
  const twins = [view("aut_a"), view("aut_b")].map((each) => ({
    ...each,
    automation: { ...each.automation, name: "twin" },
  }));
  const both = setUp({ subcommand: "run", args: ["twin"] }, {
    script: { "automations.list": () => ({ automations: twins }) },
  });
  assertStringIncludes((await assertRejects(both.run, ServiceError)).message, "aut_a, aut_b");
});

Deno.test("runAutomations() runs one now, and says when nothing runs it", async () => {
  const { run, stderr, asked } = setUp({
    subcommand: "run",
    args: ["aut_a"],
    options: { "request-id": "r1" },
  });
  await run();
  assertEquals(asked()[0], { op: "automations.run", id: "aut_a", request_id: "r1" });
  assertStringIncludes(stderr.text, "Run 3 is waiting");
  assertStringIncludes(stderr.text, "No gateway is running");
});

Deno.test("runAutomations() shows runs, the latest first, and how to go on", async () => {
  const { run, stdout, stderr, asked } = setUp({
    subcommand: "history",
    args: ["aut_a"],
    options: { limit: "2", before: "9" },
  });
  await run();
  assertEquals(asked()[0], { op: "automations.history", id: "aut_a", before: 9, limit: 2 });
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
  assertEquals(yes.asked(), [{ op: "automations.delete", id: "aut_a" }]);
});
