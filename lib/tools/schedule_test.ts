import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Automation } from "../contract/automation.ts";
import type { ActionContext } from "../contract/actions.ts";
import { answer, ask, withApprover } from "../authority/testing/ask_gate.ts";
import { gateFixture } from "../authority/testing/gate_fixture.ts";
import type { AutomationWriter } from "../contract/ports.ts";

const NEWS = { name: "news", message: "Tell what is new.", schedule: { every: 3_600 } };
const CHAT: { context: Partial<ActionContext> } = {
  context: { sessionKey: "websocket:chat-1", channel: "websocket" },
};

/** Automations that were made. */
function memoryWriter(): AutomationWriter & { made: { id: string; spec: Automation }[] } {
  const made: { id: string; spec: Automation }[] = [];
  return {
    made,
    create(spec, { automationId: id }) {
      const repeated = made.some((each) => each.id === id);
      if (!repeated) made.push({ id, spec });
      return Promise.resolve({ repeated });
    },
  };
}

Deno.test("schedule is made, switched on and for the chat it is in, once a person has approved all of it", async () => {
  const automations = memoryWriter();
  await using fixture = await gateFixture({ automations });
  const gate = await withApprover(fixture);
  const { result, next } = ask(gate, "schedule", NEWS, CHAT);
  const view = await next(1);
  assertEquals(automations.made, []);
  assertEquals(view.capability, "automation.write");
  assertEquals(view.target, "automation news: every 3600 s; answers: each to websocket:chat-1");
  for (
    const fact of ["Tell what is new.", "200000 tokens", "50 model calls", "missed slots: once"]
  ) {
    assertStringIncludes(view.details, fact);
  }
  await answer(gate, view);
  const { status, output } = await result;
  assertEquals(status, "ok", output);
  const [{ id, spec }] = automations.made as [{ id: string; spec: Automation }];
  assertStringIncludes(output, `${id} is switched on`);
  assertEquals([spec.name, spec.enabled, spec.delivery], ["news", true, {
    when: "always",
    channel: "websocket",
    chatId: "chat-1",
  }]);

  // The same call again, as after a crash, makes none; another call makes another.
  const again = ask(gate, "schedule", NEWS, CHAT);
  await answer(gate, await again.next(1));
  assertStringIncludes((await again.result).output, "not made again");
  const other = ask(gate, "schedule", NEWS, { context: { ...CHAT.context, callId: "call-2" } });
  await answer(gate, await other.next(1));
  await other.result;
  assertEquals(automations.made.length, 2);
  const starts = (await gate.records()).filter(({ kind }) => kind === "action.start");
  assertEquals(starts.length, 3);
  assert(!JSON.stringify(starts).includes("Tell what is new."));
});

Deno.test("schedule makes nothing when it is denied, and never in an unattended turn without a grant", async () => {
  const automations = memoryWriter();
  await using fixture = await gateFixture({ automations });
  const gate = await withApprover(fixture);
  const denied = ask(gate, "schedule", NEWS, CHAT);
  await answer(gate, await denied.next(1), "no");
  assertEquals((await denied.result).status, "refused");
  const automation = { id: "aut_a", digest: "d".repeat(64) };
  const context = { sessionKey: "automation:aut_a", channel: "automation", attended: false };
  const refused = await gate.act("schedule", NEWS, { context: { ...context, automation } });
  assertEquals(refused.status, "refused");
  assertStringIncludes(refused.output, "rule unattended");
  assertStringIncludes(refused.output, "service grants add automation:aut_a automation.write");
  assertEquals(automations.made, []);
});

Deno.test("schedule names what is wrong with its arguments, and asks nobody", async () => {
  const automations = memoryWriter();
  await using fixture = await gateFixture({ automations });
  const gate = await withApprover(fixture);
  const cases: [args: Record<string, unknown>, words: string][] = [
    [{ ...NEWS, name: "" }, "name: a name of 1 to 100 characters"],
    [{ ...NEWS, message: " " }, "message: a message"],
    [{ ...NEWS, schedule: {} }, "expected exactly one of at, every and cron"],
    [{ ...NEWS, schedule: { every: 59 } }, "schedule.every: an integer from 60"],
    [{ ...NEWS, schedule: { every: 60, cron: "* * * * *" } }, "every and cron"],
    [{ ...NEWS, schedule: { cron: "0 8 * * *" } }, "schedule.timeZone is missing"],
    [{ ...NEWS, schedule: { cron: "0 25 * * *", timeZone: "UTC" } }, "schedule.cron"],
    [{ ...NEWS, schedule: { at: "tomorrow" } }, "schedule.at: an instant"],
    [{ ...NEWS, schedule: { at: "2001-01-01T00:00:00Z" } }, "schedule.at"],
    [{ ...NEWS, channel: "telegram" }, "chat_id: expected channel and chat_id together"],
    [{ ...NEWS, deliver: "never", channel: "telegram", chat_id: "5" }, "no channel when nothing"],
    [{ ...NEWS, enabled: true }, "enabled"],
    [{ ...NEWS, token_budget: 1 }, "token_budget"],
    // A chat in the workspace of somebody else.
    [{ ...NEWS, channel: "websocket", chat_id: `${"ab".repeat(16)}.chat-1` }, "chat_id is none"],
  ];
  for (const [args, words] of cases) {
    const { status, output } = await gate.act("schedule", args, CHAT);
    assert(status !== "ok");
    assertStringIncludes(output, words);
  }
  assertEquals([automations.made, gate.approvals.list()], [[], []]);
});

Deno.test("schedule sends to the chat that is named, within the workspace of the turn, or nowhere", async () => {
  await using gate = await gateFixture();
  const { token } = await gate.state.tokens.issue({ name: "op", scopes: ["operate"] });
  assert(token);
  const owner = "ab".repeat(16);
  const whose = async (args: Record<string, unknown>, context: Partial<ActionContext>) => {
    const { next } = ask(gate, "schedule", { ...NEWS, ...args }, {
      context: { ...context, callId: crypto.randomUUID() },
    });
    return /answers: (.*)$/.exec((await next(1)).target)?.[1];
  };
  const own = { sessionKey: `websocket:${owner}.c`, channel: "websocket" };
  assertEquals(await whose({}, own), `each to websocket:${owner}.c`);
  assertEquals(
    await whose({ channel: "websocket", chat_id: "d" }, own),
    `each to websocket:${owner}.d`,
  );
  assertEquals(
    await whose({ channel: "telegram", chat_id: "5", deliver: "change" }, own),
    "those that differ to telegram:5",
  );
  assertEquals(await whose({ deliver: "never" }, own), undefined);
  assertEquals(await whose({}, { sessionKey: "cli:default", channel: "cli" }), undefined);
});
