import { assertEquals } from "@std/assert";
import { hangs, says, scriptedModel } from "../agent/testing/scripted_model.ts";
import { crashCopy, withFolder } from "../journal/testing/steps.ts";
import { takeUp } from "./take_up.ts";
import { AutomationWorld, eventually } from "./testing/automation_world.ts";

const NEWS = {
  name: "News",
  message: "go",
  schedule: { every: 3_600 },
  delivery: { channel: "telegram", chatId: "12" },
};

/** A journal whose process died while a run went on. */
async function crashedRun(folder: string): Promise<{ path: string; id: string }> {
  const path = `${folder}/crashed.db`;
  await using world = new AutomationWorld({
    path: `${folder}/journal.db`,
    model: scriptedModel([hangs()]),
  });
  world.automations.start();
  const { id } = await world.automations.create(NEWS);
  await world.automations.run(id, {});
  await eventually(() => world.turnsOf(id)[0] === "running");
  await eventually(async () => (await world.runs(id))[0]!.turnId !== undefined);
  crashCopy(`${folder}/journal.db`, path);
  return { path, id };
}

async function takeUpIn(
  { journal, agent: { turns } }: AutomationWorld,
  runsAutomations: boolean,
): Promise<void> {
  const { resume } = await journal.recover();
  await takeUp(resume, {
    turns,
    store: journal.automations,
    deliveries: journal.deliveries,
    runsAutomations,
    runsChannels: runsAutomations,
  });
}

Deno.test("takeUp() leaves a run to the service that runs automations, through any that does not", () =>
  withFolder(async (folder) => {
    const { path, id } = await crashedRun(folder);
    for (let command = 0; command < 3; command++) {
      await using world = new AutomationWorld({ path });
      await takeUpIn(world, false);
      assertEquals((await world.runs(id))[0]!.state, "running");
    }
    await using gateway = new AutomationWorld({ path, model: scriptedModel([says("b")]) });
    await takeUpIn(gateway, true);
    gateway.automations.start();
    await eventually(async () => (await gateway.runs(id))[0]!.state === "done");
    assertEquals([gateway.turnsOf(id), gateway.delivered], [["done"], ["telegram:12 b"]]);
  }));

Deno.test("takeUp() cancels the run of an automation that was deleted, and asks no model", () =>
  withFolder(async (folder) => {
    const { path, id } = await crashedRun(folder);
    {
      await using command = new AutomationWorld({ path });
      await takeUpIn(command, false);
      await command.automations.remove(id);
      assertEquals(command.turnsOf(id), ["queued"]);
    }
    const model = scriptedModel([says("b")]);
    await using world = new AutomationWorld({ path, model });
    await takeUpIn(world, true);
    await eventually(() => world.turnsOf(id)[0] === "cancelled");
    assertEquals([model.requests.length, world.delivered], [0, []]);
  }));

Deno.test("takeUp() leaves what came over a channel to the service that runs channels, through commands in between", () =>
  withFolder(async (folder) => {
    const path = `${folder}/crashed.db`;
    const delivery = { runtimeName: "irc", chatId: "#a", metadata: {}, streaming: false };
    const turn = { channel: "irc", actor: "irc:ann", durable: true, attended: true, delivery };
    {
      const model = scriptedModel([hangs()]);
      await using world = new AutomationWorld({ path: `${folder}/journal.db`, model });
      const { turns } = world.agent;
      const said = (text: string) => [{ type: "text" as const, text }];
      await turns.submit({ ...turn, sessionKey: "irc:#a", input: said("one") });
      await turns.submit({ ...turn, sessionKey: "irc:#a", input: said("two") });
      await eventually(() => model.requests.length === 1);
      crashCopy(`${folder}/journal.db`, path);
    }
    const ended = (world: AutomationWorld) =>
      world.journal.deliveries.turns(0, 10).map(({ turnId }) => world.journal.turn(turnId)!.status);
    for (let command = 0; command < 3; command++) {
      const model = scriptedModel([]);
      await using world = new AutomationWorld({ path, model });
      await takeUpIn(world, false);
      await world.agent.turns.drain({ graceMs: 0 });
      assertEquals([ended(world), model.requests.length], [["queued", "queued"], 0]);
    }
    await using gateway = new AutomationWorld({
      path,
      model: scriptedModel([says("a"), says("b")]),
    });
    await takeUpIn(gateway, true);
    await eventually(() => ended(gateway).every((status) => status === "done"));
  }));
