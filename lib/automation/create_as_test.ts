import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { checkAutomation } from "../schedule/check_automation.ts";
import { AutomationWorld } from "../process/service/testing/automation_world.ts";

const NEWS = { name: "news", message: "Tell what is new.", schedule: { every: 3_600 } };

Deno.test("createAs() makes an approved automation once, switched on, however often it comes", async () => {
  await using world = new AutomationWorld();
  const spec = checkAutomation(NEWS, { now: world.now() });
  const both = await Promise.all([
    world.automations.createAs("aut_1", spec),
    world.automations.createAs("aut_1", spec),
  ]);
  assertEquals(both.map(({ repeated }) => repeated).sort(), [false, true]);
  // What came of it by now is not undone by a repeat.
  await world.automations.setEnabled("aut_1", false);
  assertEquals(await world.automations.createAs("aut_1", spec), { repeated: true });
  const list = await world.automations.list({ after: "", limit: 10 });
  assertEquals(list.map(({ id, spec }) => [id, spec.enabled]), [["aut_1", false]]);
});

Deno.test("createAs() rejects with what is wrong", async () => {
  await using world = new AutomationWorld();
  const past = { ...checkAutomation(NEWS, { now: 0 }), schedule: { at: "2001-01-01T00:00:00Z" } };
  const made = () => world.automations.createAs("aut_1", past);
  assertEquals((await assertRejects(made, ServiceError)).details.param, "schedule.at");
  assertEquals(await world.automations.list({ after: "", limit: 10 }), []);
});

Deno.test("remove() takes back what was granted to an automation that is gone", async () => {
  const removed: string[] = [];
  await using world = new AutomationWorld({
    onRemoved: (id) => {
      removed.push(id);
      return Promise.reject(new Error("the state is damaged"));
    },
  });
  const { id } = await world.automations.create(NEWS);
  await world.automations.remove(id);
  assertEquals(removed, [id]);
  assertEquals(await world.automations.list({ after: "", limit: 10 }), []);
});
