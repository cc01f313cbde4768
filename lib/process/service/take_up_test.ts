import { assertEquals } from "@std/assert";
import { calls, hangs, says, scriptedModel } from "../../agent/testing/scripted_model.ts";
import type { TurnRequest } from "../../contract/turns.ts";
import { Readers } from "../../http/api/readers.ts";
import { crashCopy, withFolder } from "../../journal/testing/steps.ts";
import { ChatPresence } from "./chat_presence.ts";
import { takeUp, type TakeUpDeps } from "./take_up.ts";
import { AutomationWorld, eventually } from "./testing/automation_world.ts";

const NEWS = {
  name: "News",
  message: "go",
  schedule: { every: 3_600 },
  delivery: { channel: "telegram", chatId: "12" },
};

const FROM_IRC: Partial<TurnRequest> = {
  delivery: { runtimeName: "irc", chatId: "#a", metadata: {}, streaming: false },
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
  options: Partial<TakeUpDeps> = {},
): Promise<void> {
  const { resume } = await journal.recover();
  await takeUp(resume, {
    turns,
    store: journal.automations,
    deliveries: journal.deliveries,
    runsAutomations,
    runsChannels: runsAutomations,
    servesApi: runsAutomations,
    isEnabled: () => true,
    apiAttended: true,
    ...options,
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

/** A way in, and who counts as there when the tools of its turn run after a restart. */
const REQUESTERS: {
  name: string;
  turn: Partial<TurnRequest>;
  options?: Partial<TakeUpDeps>;
  /** What happens after the start. */
  meanwhile?: (world: AutomationWorld) => void;
  attended: boolean;
}[] = [
  { name: "over a channel that is on", turn: FROM_IRC, attended: true },
  {
    name: "over a channel that is off now",
    turn: FROM_IRC,
    options: { isEnabled: () => false },
    attended: false,
  },
  {
    name: "in a chat, and somebody comes back",
    turn: { sessionKey: "websocket:a", channel: "websocket" },
    meanwhile: ({ agent: { turns, clock } }) =>
      void new ChatPresence({ turns, clock }).join("websocket:a"),
    attended: true,
  },
  {
    name: "in a chat, and somebody comes back to another",
    turn: { sessionKey: "websocket:a", channel: "websocket" },
    meanwhile({ agent: { turns, clock } }) {
      void new ChatPresence({ turns, clock }).join("websocket:b");
      clock.tick(60_000);
    },
    attended: false,
  },
  {
    name: "in a chat, and nobody comes back for 60 s",
    turn: { sessionKey: "websocket:a", channel: "websocket" },
    meanwhile: ({ agent: { clock } }) => clock.tick(60_000),
    attended: false,
  },
  {
    name: "in the background over the API, and its caller reads on",
    turn: { sessionKey: "api:a", channel: "api" },
    meanwhile({ journal, agent: { turns, clock } }) {
      const { id } = journal.session("api:a")!;
      const readers = new Readers({ turns, clock });
      for (const turn of journal.turns(id, 0, 2)) {
        readers.join(turns.find(turn.id)!, { graceMs: 0 });
      }
    },
    attended: true,
  },
  {
    name: "in the background over the API, where api.attended is off",
    turn: { sessionKey: "api:a", channel: "api" },
    options: { apiAttended: false },
    attended: false,
  },
];

for (const { name, turn, options, meanwhile, attended } of REQUESTERS) {
  Deno.test(`takeUp() ${attended ? "attends" : "does not attend"} to a turn ${name}`, () =>
    withFolder(async (folder) => {
      const path = `${folder}/crashed.db`;
      {
        const model = scriptedModel([hangs()]);
        await using world = new AutomationWorld({ path: `${folder}/journal.db`, model });
        const input = [{ type: "text" as const, text: "write" }];
        const asked = { actor: "a:b", durable: true, attended: true, input } as const;
        const request = { sessionKey: "irc:#a", channel: "irc", ...asked, ...turn };
        // One runs and one waits when the process is killed.
        await world.agent.turns.submit(request);
        await world.agent.turns.submit(request);
        await eventually(() => model.requests.length === 1);
        crashCopy(`${folder}/journal.db`, path);
      }
      const script = [calls(["write", {}]), says("one"), calls(["write", {}]), says("two")];
      const model = scriptedModel(script);
      await using world = new AutomationWorld({ path, model });
      await takeUpIn(world, true, options);
      await eventually(() => model.requests.length > 0);
      meanwhile?.(world);
      await eventually(() => world.agent.acts.length === 2);
      assertEquals(world.agent.acts.map(({ context }) => context.attended), [attended, attended]);
    }));
}

Deno.test("takeUp() leaves chats and background responses to the service that serves them", () =>
  withFolder(async (folder) => {
    const path = `${folder}/crashed.db`;
    {
      const model = scriptedModel([hangs()]);
      await using world = new AutomationWorld({ path: `${folder}/journal.db`, model });
      const turn = { actor: "a:b", durable: true, attended: true } as const;
      const input = [{ type: "text" as const, text: "hi" }];
      for (const channel of ["api", "websocket"]) {
        await world.agent.turns.submit({ ...turn, channel, sessionKey: `${channel}:a`, input });
      }
      crashCopy(`${folder}/journal.db`, path);
    }
    const runs = async (options: Partial<TakeUpDeps>) => {
      await using world = new AutomationWorld({ path, model: scriptedModel([hangs(), hangs()]) });
      await takeUpIn(world, false, options);
      return ["api:a", "websocket:a"].filter((key) => world.agent.turns.isRunning(key));
    };
    assertEquals(await runs({}), []);
    assertEquals(await runs({ servesApi: true }), ["api:a"]);
    // What an orderly stop cut off goes on too.
    assertEquals(await runs({ runsChannels: true }), ["api:a", "websocket:a"]);
  }));
