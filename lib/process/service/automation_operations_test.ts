import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { connectClient } from "../../local/client.ts";
import type { Operation, Operations } from "../../local/protocol.ts";
import { type OperationHandlers, serveGuest } from "../../local/server.ts";
import { createAutomationOperations } from "./automation_operations.ts";
import { AutomationWorld, eventually } from "./testing/automation_world.ts";

const HOURLY = { name: "News", message: "What is new?", schedule: { every: 3_600 } };

/** A client of a service that has automations and nothing else. */
async function connect(world: AutomationWorld) {
  const handlers = createAutomationOperations(world) as OperationHandlers;
  const there = new TransformStream<Uint8Array, Uint8Array>();
  const back = new TransformStream<Uint8Array, Uint8Array>();
  const served = serveGuest({ readable: there.readable, writable: back.writable }, {
    handlers,
    version: "1",
  });
  const client = await connectClient({ readable: back.readable, writable: there.writable });
  const ask = <Op extends Operation>(op: Op, params: Operations[Op]["params"]) =>
    Array.fromAsync(client.request(op, params));
  return {
    ask,
    async [Symbol.asyncDispose]() {
      client.close();
      await served;
    },
  };
}

Deno.test("createAutomationOperations() answers each operation over the local protocol", async () => {
  await using world = new AutomationWorld();
  await using guest = await connect(world);
  const [made] = await guest.ask("automation_create", { automation: HOURLY });
  const { id } = made!;
  await guest.ask("automation_create", { automation: { ...HOURLY, name: "Other" } });
  const names = async (after: string) =>
    (await guest.ask("automations", { after, limit: 1 })).map(({ spec }) => spec.name);
  assertEquals([await names(""), await names(id)], [["News"], ["Other"]]);
  const [changed] = await guest.ask("automation_update", { id, change: { retries: 1 } });
  assertEquals([changed!.spec.retries, changed!.revision], [1, 2]);
  const [off] = await guest.ask("automation_enable", { id, enabled: false });
  assertEquals([off!.spec.enabled, off!.nextAt], [false, undefined]);
  const [run] = await guest.ask("automation_run", { id, requestId: "r1" });
  assertEquals([run!.state, run!.automationId], ["waiting", id]);
  world.automations.start();
  await eventually(async () => (await world.runs(id))[0]?.state === "done");
  const [first] = await guest.ask("automation_history", { id, limit: 5 });
  assertEquals([first!.id, first!.answer], [run!.id, "ok"]);
  assertEquals(await guest.ask("automation_history", { id, limit: 5, before: run!.id }), []);
  assertEquals((await guest.ask("automation", { id }))[0]!.lastRun!.state, "done");
  assertEquals(await guest.ask("automation_delete", { id }), [{ id, deleted: true }]);
});

Deno.test("createAutomationOperations() names what is wrong with parameters", async () => {
  await using world = new AutomationWorld();
  await using guest = await connect(world);
  const cases: [Operation, unknown, string][] = [
    ["automations", { limit: 0 }, "limit"],
    ["automation", {}, "id"],
    ["automation", { id: "" }, "id"],
    ["automation_create", {}, "automation"],
    ["automation_create", { automation: { ...HOURLY, name: "" } }, "name"],
    ["automation_update", { id: "a" }, "change"],
    ["automation_enable", { id: "a", enabled: 1 }, "enabled"],
    ["automation_run", { id: "a", requestId: "a\nb" }, "requestId"],
    ["automation_history", { id: "a", limit: 5, before: -1 }, "before"],
  ];
  for (const [op, params, param] of cases) {
    const error = await assertRejects(
      () => guest.ask(op, params as Operations[typeof op]["params"]),
      ServiceError,
    );
    assertEquals([error.code, error.details.param], ["invalid_request", param], op);
  }
  for (const op of ["automation", "automation_delete"] as const) {
    const error = await assertRejects(() => guest.ask(op, { id: "aut_x" }), ServiceError);
    assertEquals(error.code, "not_found");
  }
});
