import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Automation } from "../../contract/automation.ts";
import { checkAutomation } from "../../schedule/check_automation.ts";
import type { ToAuthority } from "../../authority/bridge.ts";
import { createAutomation } from "./create_automation.ts";
import { AutomationWorld } from "./testing/automation_world.ts";

type Created = Extract<ToAuthority, { type: "automation_created" }>;

const NEWS = { name: "news", message: "Tell what is new.", schedule: { every: 3_600 } };

async function created(
  automations: Parameters<typeof createAutomation>[1]["automations"],
  spec: Automation,
  automationId = "aut_1",
): Promise<Created["result"]> {
  const sent: ToAuthority[] = [];
  await createAutomation({ type: "create_automation", id: 7, automationId, spec }, {
    automations,
    send: (message) => void sent.push(message),
  });
  const [answer] = sent as [Created];
  assertEquals([sent.length, answer.type, answer.id], [1, "automation_created", 7]);
  return answer.result;
}

Deno.test("createAutomation() makes an approved automation once, switched on, however often it comes", async () => {
  await using world = new AutomationWorld();
  const spec = checkAutomation(NEWS, { now: world.now() });
  const both = await Promise.all([
    created(world.automations, spec),
    created(world.automations, spec),
  ]);
  assertEquals(both.map((each) => "repeated" in each && each.repeated).sort(), [false, true]);
  // What came of it by now is not undone by a repeat.
  await world.automations.setEnabled("aut_1", false);
  assertEquals(await created(world.automations, spec), { repeated: true });
  const list = await world.automations.list({ after: "", limit: 10 });
  assertEquals(list.map(({ id, spec }) => [id, spec.enabled]), [["aut_1", false]]);
});

Deno.test("createAutomation() answers with what is wrong, and without automations that there are none", async () => {
  await using world = new AutomationWorld();
  const past = { ...checkAutomation(NEWS, { now: 0 }), schedule: { at: "2001-01-01T00:00:00Z" } };
  const result = await created(world.automations, past);
  assertStringIncludes(JSON.stringify(result), "schedule.at");
  assertEquals(await world.automations.list({ after: "", limit: 10 }), []);
  const none = await created(undefined, past);
  assertEquals("error" in none && none.error.code, "not_enabled");
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
