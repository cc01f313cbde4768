import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import type { Operation } from "../../local/protocol.ts";
import { openGuest } from "../../local/testing/open_guest.ts";
import { createAutomationOperations } from "./automation_operations.ts";
import { AutomationWorld, eventually } from "./testing/automation_world.ts";

const HOURLY = { name: "News", message: "What is new?", schedule: { every: 3_600 } };

Deno.test("createAutomationOperations() answers each operation over the local protocol", async () => {
  await using world = new AutomationWorld();
  await using guest = await openGuest(createAutomationOperations(world));
  const { client } = guest;
  const made = await client.call("automation_create", { automation: HOURLY });
  const { id } = made;
  await client.call("automation_create", { automation: { ...HOURLY, name: "Other" } });
  const names = async (after: string) =>
    (await Array.fromAsync(client.stream("automations", { after, limit: 1 }))).map(({ spec }) =>
      spec.name
    );
  assertEquals([await names(""), await names(id)], [["News"], ["Other"]]);
  const changed = await client.call("automation_update", { id, change: { retries: 1 } });
  assertEquals([changed.spec.retries, changed.revision], [1, 2]);
  const off = await client.call("automation_enable", { id, enabled: false });
  assertEquals([off.spec.enabled, off.nextAt], [false, undefined]);
  const run = await client.call("automation_run", { id, requestId: "r1" });
  assertEquals([run.state, run.automationId], ["waiting", id]);
  world.automations.start();
  await eventually(async () => (await world.runs(id))[0]?.state === "done");
  const history = (before?: number) =>
    Array.fromAsync(client.stream("automation_history", { id, limit: 5, before }));
  const [first] = await history();
  assertEquals([first!.id, first!.answer], [run.id, "ok"]);
  assertEquals(await history(run.id), []);
  assertEquals((await client.call("automation", { id })).lastRun!.state, "done");
  assertEquals(await client.call("automation_delete", { id }), { id, deleted: true });
});

Deno.test("createAutomationOperations() names what is wrong with parameters", async () => {
  await using world = new AutomationWorld();
  await using guest = await openGuest(createAutomationOperations(world));
  const { client } = guest;
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
      () => client.call(op, params as never),
      ServiceError,
    );
    assertEquals([error.code, error.details.param], ["invalid_request", param], op);
  }
  for (const op of ["automation", "automation_delete"] as const) {
    const error = await assertRejects(() => client.call(op, { id: "aut_x" }), ServiceError);
    assertEquals(error.code, "not_found");
  }
});
