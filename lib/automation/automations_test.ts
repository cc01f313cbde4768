import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fails, hangs, says, scriptedModel } from "../agent/testing/scripted_model.ts";
import { MAX_AUTOMATIONS } from "../schedule/automation_record.ts";
import { ServiceError } from "../base/errors.ts";
import { crashCopy, withFolder } from "../journal/testing/steps.ts";
import { AutomationWorld, eventually } from "../process/service/testing/automation_world.ts";
import { FULL_RUN } from "../../tests/support/rounds.ts";
import { needs } from "../../tests/support/needs.ts";

const MINUTE_MS = 60_000;
const HOURLY = { name: "News", message: "What is new?", schedule: { every: 3_600 } };
const telegram = { channel: "telegram", chatId: "12" };

async function refusalOf(run: () => Promise<unknown>): Promise<ServiceError> {
  return await assertRejects(run, ServiceError);
}

Deno.test("createAutomations() runs what is due as a turn of its own and delivers what came of it", async () => {
  const model = scriptedModel([says("Rain.")]);
  await using world = new AutomationWorld({ model });
  const { automations, journal } = world;
  automations.start();
  const { id, nextAt, warnings } = await automations.create({
    ...HOURLY,
    delivery: { ...telegram, when: "always" },
  });
  assertEquals([nextAt, warnings], [world.now() + 60 * MINUTE_MS, []]);
  await world.pass(60 * MINUTE_MS);
  await eventually(() => world.delivered.length === 1);
  assertEquals(world.delivered, ["telegram:12 Rain."]);
  const session = journal.session(`automation:${id}`)!;
  const [turn] = journal.turns(session.id, 0, 9);
  assertEquals([turn!.channel, turn!.actor, turn!.durable], [
    "automation",
    `automation:${id}`,
    true,
  ]);
  assertEquals(turn!.automation!.id, id);
  const view = await automations.get(id);
  assertEquals(turn!.automation!.digest, view.digest);
  assertEquals([view.lastRun!.state, view.lastRun!.turnId], ["done", turn!.id]);
  assertEquals((await automations.history(id, { limit: 9 })).map(({ answer }) => answer), [
    "Rain.",
  ]);
  await world.pass(60 * MINUTE_MS);
  await eventually(() => world.delivered.length === 2);
  // The second run is told what came of the first, and nothing else of it.
  const [told, asked] = model.requests[1]!.messages;
  assert(told!.role === "summary" && told!.text.endsWith("\n\nRain."), JSON.stringify(told));
  assertEquals(asked, { role: "user", parts: [{ type: "text", text: "What is new?" }] });
  assertEquals(world.errors, []);
});

Deno.test("createAutomations() delivers on change what differs from the result before", async () => {
  const model = scriptedModel([says("a"), says("a"), fails("provider_error"), says("b")]);
  await using world = new AutomationWorld({ model });
  world.automations.start();
  const { id } = await world.automations.create({
    ...HOURLY,
    delivery: { ...telegram, when: "change" },
  });
  for (let slot = 1; slot <= 4; slot++) {
    await world.pass(60 * MINUTE_MS);
    await eventually(async () =>
      (await world.runs(id)).filter((run) => run.endedAt).length === slot
    );
  }
  assertEquals(world.delivered, [
    "telegram:12 a",
    `telegram:12 The automation "News" failed: The model says provider_error`,
    "telegram:12 b",
  ]);
});

Deno.test("createAutomations() makes further attempts of what fails, and says so once", async () => {
  const model = scriptedModel(Array.from({ length: 9 }, () => fails("provider_error")));
  await using world = new AutomationWorld({ model });
  world.automations.start();
  const { id } = await world.automations.create({
    ...HOURLY,
    retries: 2,
    delivery: { channel: "websocket", chatId: "c1", when: "error" },
  });
  await world.pass(60 * MINUTE_MS);
  await world.pass(10 * MINUTE_MS);
  await eventually(async () => (await world.runs(id))[0]?.state === "failed");
  const [run] = await world.runs(id);
  assertEquals([run!.attempts, run!.error], [3, "The model says provider_error"]);
  assertEquals([model.requests.length, world.turnsOf(id)], [3, ["failed", "failed", "failed"]]);
  assertEquals(world.delivered, [
    `websocket:c1 The automation "News" failed: The model says provider_error`,
  ]);
  assertStringIncludes((await world.automations.get(id)).warnings.join(), '"websocket"');
});

Deno.test("Automations.create() takes no chat of this service that there cannot be", async () => {
  await using world = new AutomationWorld();
  for (const chatId of ["a b", "x.b", "é", "a".repeat(65)]) {
    const automation = { ...HOURLY, delivery: { channel: "websocket", chatId } };
    const refusal = await refusalOf(() => world.automations.create(automation));
    assertEquals([refusal.code, refusal.details.param], ["invalid_request", "delivery.chatId"]);
  }
  const chatId = `${"ab".repeat(16)}.a`;
  const delivery = { channel: "websocket", chatId };
  assertEquals(
    (await world.automations.create({ ...HOURLY, delivery })).spec.delivery!.chatId,
    chatId,
  );
});

Deno.test("createAutomations() skips slots that come while an earlier run goes on", async () => {
  await using world = new AutomationWorld({ model: scriptedModel([hangs()]) });
  world.automations.start();
  const { id } = await world.automations.create({ ...HOURLY, schedule: { every: 60 } });
  await world.pass(MINUTE_MS);
  await eventually(async () => (await world.runs(id))[0]?.turnId !== undefined);
  await world.pass(2 * MINUTE_MS);
  await eventually(async () => (await world.automations.get(id)).overlapped === 2);
  assertEquals((await world.runs(id)).length, 1);
});

Deno.test("createAutomations() cancels what runs of an automation that is deleted, and delivers nothing", async () => {
  await using world = new AutomationWorld({ model: scriptedModel([hangs()]) });
  world.automations.start();
  const { id } = await world.automations.create({ ...HOURLY, delivery: telegram });
  await world.automations.run(id, {});
  await eventually(() => world.turnsOf(id)[0] === "running");
  await world.automations.remove(id);
  await eventually(() => world.turnsOf(id)[0] === "cancelled");
  assertEquals(await world.runs(id), []);
  assertEquals(world.delivered, []);
  assertEquals((await refusalOf(() => world.automations.get(id))).code, "not_found");
  assertEquals((await refusalOf(() => world.automations.remove(id))).code, "not_found");
});

Deno.test("Automations.remove() stops what runs before it waits for the grants to be taken back", async () => {
  const revoked = Promise.withResolvers<void>();
  await using world = new AutomationWorld({
    model: scriptedModel([hangs()]),
    onRemoved: () => revoked.promise,
  });
  world.automations.start();
  const { id } = await world.automations.create(HOURLY);
  await world.automations.run(id, {});
  await eventually(() => world.turnsOf(id)[0] === "running");
  const removed = world.automations.remove(id);
  await eventually(() => world.turnsOf(id)[0] === "cancelled");
  revoked.resolve();
  await removed;
});

Deno.test("createAutomations() opens one turn a slot, however many schedulers share the store (W4)", () =>
  withFolder(async (folder) => {
    await using world = new AutomationWorld({ path: `${folder}/journal.db` });
    await using other = new AutomationWorld({ beside: world });
    const { id } = await world.automations.create({ ...HOURLY, overlap: "queue" });
    world.automations.start();
    other.automations.start();
    await world.pass(5 * 60 * MINUTE_MS);
    await eventually(async () => (await world.runs(id)).filter((run) => run.endedAt).length === 5);
    assertEquals(world.turnsOf(id), Array(5).fill("done"));
    assertEquals([world.errors, other.errors], [[], []]);
  }));

Deno.test("createAutomations() runs no slot again when the clock is set back (W4)", async () => {
  await using world = new AutomationWorld();
  world.automations.start();
  const { id } = await world.automations.create({ ...HOURLY, overlap: "queue" });
  await world.pass(3 * 60 * MINUTE_MS);
  world.setAheadMs = -2.5 * 60 * MINUTE_MS;
  await world.pass(3 * 60 * MINUTE_MS);
  const slots = (await world.runs(id)).map(({ slotAt }) => slotAt);
  assertEquals(new Set(slots).size, slots.length);
  assertEquals(slots.length, 3);
  await world.pass(60 * MINUTE_MS);
  assertEquals((await world.runs(id)).length, 4);
});

Deno.test(
  needs("createAutomations() works off a thousand that are due at once", FULL_RUN),
  () =>
    withFolder(async (folder) => {
      await using world = new AutomationWorld({
        path: `${folder}/journal.db`,
        automations: { maxRunning: 16 },
      });
      const at = new Date(world.now() + MINUTE_MS).toISOString();
      const ids: string[] = [];
      for (let n = 0; n < MAX_AUTOMATIONS; n++) {
        const { id } = await world.automations.create({ ...HOURLY, schedule: { at } });
        ids.push(id);
      }
      const more = await refusalOf(() => world.automations.create(HOURLY));
      assertEquals(more.code, "overloaded");
      world.automations.start();
      await world.pass(MINUTE_MS);
      await eventually(
        async () => {
          const [last] = await world.journal.automations.ready(Infinity, 1);
          return last === undefined && (await world.journal.automations.running(0, 1)).length === 0;
        },
        200_000,
      );
      for (const id of ids) {
        assertEquals((await world.runs(id)).map(({ state }) => state), ["done"]);
        assertEquals(world.turnsOf(id), ["done"]);
      }
    }),
);

Deno.test("Automations.run() takes a repeated request once, also for one that is off", async () => {
  await using world = new AutomationWorld();
  const { automations } = world;
  const { id } = await automations.create({ ...HOURLY, enabled: false });
  const first = await automations.run(id, { requestId: "r1" });
  // Nothing runs before there is somebody who runs it.
  assertEquals((await automations.get(id)).warnings.length, 1);
  automations.start();
  await eventually(async () => (await world.runs(id))[0]?.state === "done");
  const again = await automations.run(id, { requestId: "r1" });
  assertEquals([again.id, again.state], [first.id, "done"]);
  await automations.run(id, {});
  await eventually(async () => (await world.runs(id))[1]?.state === "done");
  assertEquals(world.turnsOf(id), ["done", "done"]);
  for (const requestId of ["", "a b", "é", "x".repeat(129)]) {
    const refusal = await refusalOf(() => automations.run(id, { requestId }));
    assertEquals([refusal.code, refusal.details.param], ["invalid_request", "requestId"]);
  }
  assertEquals((await refusalOf(() => automations.run("aut_x", {}))).code, "not_found");
});

Deno.test("Automations.update() changes the fields that are given, and names wrong ones", async () => {
  await using world = new AutomationWorld();
  const { automations } = world;
  const { id, digest } = await automations.create({ ...HOURLY, delivery: telegram, retries: 3 });
  const renamed = await automations.update(id, { name: "Weather", retries: null });
  assertEquals([renamed.spec.name, renamed.spec.retries, renamed.revision], ["Weather", 0, 2]);
  assert(renamed.digest !== digest);
  const { spec } = await automations.update(id, { delivery: null, schedule: { every: 60 } });
  assertEquals([spec.delivery, spec.schedule], [undefined, { every: 60 }]);
  const off = await automations.setEnabled(id, false);
  assertEquals([off.nextAt, off.revision], [undefined, 4]);
  assertEquals((await automations.setEnabled(id, false)).revision, 4);
  assertEquals((await automations.setEnabled(id, true)).nextAt, world.now() + MINUTE_MS);
  const wrong = [
    [{ nmae: "x" }, "nmae"],
    [{ schedule: { every: 1 } }, "schedule.every"],
    [{ message: null }, "message"],
    [{ delivery: { channel: "1T", chatId: "1" } }, "delivery.channel"],
    [JSON.parse(`{"__proto__": 1}`), "__proto__"],
    ["x", "automation"],
    [null, "automation"],
  ] as const;
  for (const [change, param] of wrong) {
    const refusal = await refusalOf(() => automations.update(id, change));
    assertEquals([refusal.code, refusal.details.param], ["invalid_request", param]);
  }
  assertEquals((await automations.get(id)).spec.name, "Weather");
});

Deno.test("Automations.update() meets claims and other changes and loses none", async () => {
  await using world = new AutomationWorld();
  const { automations } = world;
  automations.start();
  const { id } = await automations.create({ ...HOURLY, schedule: { every: 60 } });
  const passing = world.pass(3 * MINUTE_MS);
  const changes = Array.from({ length: 10 }, (_, n) => automations.update(id, { retries: n }));
  await Promise.all([passing, ...changes]);
  assertEquals((await automations.get(id)).revision, 11);
});

Deno.test("createAutomations() answers nothing but how to have them on while they are off", async () => {
  await using world = new AutomationWorld({ automations: { enabled: false } });
  const { automations } = world;
  automations.start();
  const calls = [
    () => automations.list({ after: "", limit: 1 }),
    () => automations.get("a"),
    () => automations.create(HOURLY),
    () => automations.update("a", {}),
    () => automations.setEnabled("a", true),
    () => automations.remove("a"),
    () => automations.run("a", {}),
    () => automations.history("a", { limit: 1 }),
  ];
  for (const call of calls) {
    const refusal = await refusalOf(call);
    assertEquals(refusal.code, "not_enabled");
    assertStringIncludes(refusal.message, "automations.enabled");
  }
  assertEquals(world.agent.clock.timers(), 0);
});

Deno.test("Automations.list() pages in the order of ids", async () => {
  await using world = new AutomationWorld();
  for (let n = 0; n < 3; n++) await world.automations.create({ ...HOURLY, name: `n${n}` });
  const names = async (after: string) =>
    (await world.automations.list({ after, limit: 2 })).map(({ spec }) => spec.name);
  assertEquals(await names(""), ["n0", "n1"]);
  assertEquals(await names("aut_2"), ["n2"]);
});

Deno.test("createAutomations() goes on after a crash with what ran, and delivers it once", () =>
  withFolder(async (folder) => {
    const [path, crashed] = [`${folder}/journal.db`, `${folder}/crashed.db`];
    let id: string;
    {
      await using world = new AutomationWorld({ path, model: scriptedModel([hangs()]) });
      world.automations.start();
      ({ id } = await world.automations.create({ ...HOURLY, delivery: telegram }));
      await world.automations.run(id, {});
      await eventually(() => world.turnsOf(id)[0] === "running");
      await eventually(async () => (await world.runs(id))[0]!.turnId !== undefined);
      crashCopy(path, crashed);
    }
    await using again = new AutomationWorld({ path: crashed, model: scriptedModel([says("b")]) });
    again.agent.turns.recovered((await again.journal.recover()).resume);
    again.automations.start();
    await eventually(async () => (await again.runs(id))[0]!.state === "done");
    assertEquals([again.turnsOf(id), again.delivered], [["done"], ["telegram:12 b"]]);
  }));

Deno.test("createAutomations() delivers at a stop what ends within its time, and begins nothing more", async () => {
  const answer = Promise.withResolvers<void>();
  const scripted = scriptedModel([says("b")]);
  const model = {
    ...scripted,
    async *stream(request: Parameters<typeof scripted.stream>[0]) {
      await answer.promise;
      yield* scripted.stream(request);
    },
  };
  await using world = new AutomationWorld({ model });
  world.automations.start();
  const [{ id }, other] = [
    await world.automations.create({ ...HOURLY, delivery: telegram }),
    await world.automations.create(HOURLY),
  ];
  await world.automations.run(id, {});
  await eventually(async () => (await world.runs(id))[0]?.turnId !== undefined);
  await world.automations.pause();
  await world.automations.run(other.id, {});
  const drained = world.agent.turns.drain({ graceMs: 30_000 });
  answer.resolve();
  await drained;
  await world.automations.stop({ graceMs: 2_000 });
  assertEquals((await world.runs(id)).map(({ state }) => state), ["done"]);
  assertEquals((await world.runs(other.id)).map(({ state }) => state), ["waiting"]);
  assertEquals([world.delivered, world.errors], [["telegram:12 b"], []]);
});

Deno.test("createAutomations() goes on with what a stop of the service cut off, at no attempt's cost", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    let id: string;
    {
      await using world = new AutomationWorld({ path, model: scriptedModel([hangs()]) });
      world.automations.start();
      ({ id } = await world.automations.create({ ...HOURLY, retries: 0, delivery: telegram }));
      await world.automations.run(id, {});
      await eventually(() => world.turnsOf(id)[0] === "running");
      await eventually(async () => (await world.runs(id))[0]!.turnId !== undefined);
    }
    await using again = new AutomationWorld({ path, model: scriptedModel([says("b")]) });
    again.agent.turns.recovered((await again.journal.recover()).resume);
    again.automations.start();
    await again.pass(MINUTE_MS);
    await eventually(async () => (await again.runs(id))[0]!.state === "done");
    assertEquals(again.turnsOf(id), ["done"]);
    assertEquals(again.delivered, ["telegram:12 b"]);
  }));
