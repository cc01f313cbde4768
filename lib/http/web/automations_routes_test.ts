import { assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedModel } from "../../agent/testing/scripted_model.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import { AutomationWorld, eventually } from "../../process/service/testing/automation_world.ts";
import { AUTOMATIONS } from "../../operations/automations.ts";
import { someParts } from "../../operations/testing/gateway_parts.ts";
import { gatewayRoutes } from "./operation_routes.ts";
import { createTestWebApp, refusal } from "./testing/test_web_app.ts";

const PATH = "/api/webui/automations";
const HOURLY = { name: "News", message: "What is new?", schedule: { every: 3_600 } };

function open(
  options: ConstructorParameters<typeof AutomationWorld>[0] = {},
  scrubber: Pick<Scrubber, "value"> = { value: (value) => value },
) {
  const world = new AutomationWorld({ model: scriptedModel(), ...options });
  const { ask } = createTestWebApp(
    gatewayRoutes(AUTOMATIONS, { ...someParts({ automations: world.automations }), scrubber }),
  );
  const json = async (path: string, asked: Parameters<typeof ask>[1]) => {
    const response = await ask(`${PATH}${path}`, asked);
    assertEquals(response.status, 200, path);
    return await response.json();
  };
  return { world, ask, json, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

Deno.test("routes of automations: creates, shows, changes, runs and deletes", async () => {
  await using port = open();
  const { world, json, ask } = port;
  const token = "operate";
  const made = await json("", { method: "POST", token, body: HOURLY });
  assertEquals(made.automation.schedule, { every: 3_600 });
  assertEquals(made.next_at, Math.floor(world.now() / 1000) + 3_600);
  const one = `/${made.id}`;
  const changed = await json(one, { method: "PUT", token, body: { name: "Weather" } });
  assertEquals([changed.automation.name, changed.revision], ["Weather", 2]);
  assertEquals((await json(`${one}/disable`, { method: "POST", token })).next_at, undefined);
  assertEquals((await json(`${one}/enable`, { method: "POST", token })).automation.enabled, true);
  world.automations.start();
  const body = { request_id: "r1" };
  const run = await json(`${one}/run`, { method: "POST", token, body });
  await eventually(async () => (await world.runs(made.id))[0]?.state === "done");
  const again = await json(`${one}/run`, { method: "POST", token, body });
  assertEquals([again.id, again.state], [run.id, "done"]);
  await json(`${one}/run`, { method: "POST", token });
  await eventually(async () => (await world.runs(made.id))[1]?.state === "done");
  const first = await json(`${one}/history?limit=1`, { token: "read" });
  assertEquals([first.runs.length, first.runs[0].answer], [1, "ok"]);
  const rest = await json(`${one}/history?limit=1&before=${first.before}`, { token: "read" });
  assertEquals([rest.runs[0].id, rest.before], [run.id, undefined]);
  assertEquals((await json(one, { token: "read" })).last_run.state, "done");
  assertEquals(await json(one, { method: "DELETE", token }), { id: made.id, deleted: true });
  for (const [method, path] of [["GET", one], ["DELETE", one], ["POST", `${one}/run`]] as const) {
    assertEquals(await refusal(await ask(`${PATH}${path}`, { method, token })), [404, "not_found"]);
  }
});

Deno.test("routes of automations: lists in pages", async () => {
  await using port = open();
  for (let n = 0; n < 3; n++) await port.world.automations.create(HOURLY);
  const first = await port.json("?limit=2", { token: "read" });
  assertEquals([first.automations.length, first.after], [2, "aut_2"]);
  const rest = await port.json(`?limit=2&after=${first.after}`, { token: "read" });
  assertEquals([rest.automations.length, rest.after], [1, undefined]);
});

Deno.test("routes of automations: names what is wrong with a body or a query", async () => {
  await using port = open();
  const token = "operate";
  const { id } = await port.world.automations.create(HOURLY);
  const cases: [path: string, method: string, body: unknown, param: string | null][] = [
    ["", "POST", { ...HOURLY, schedule: { every: 1 } }, "schedule.every"],
    ["", "POST", { ...HOURLY, extra: 1 }, "extra"],
    ["", "POST", [], null],
    [`/${id}`, "PUT", null, null],
    [`/${id}`, "PUT", { maxSteps: 0 }, "maxSteps"],
    [`/${id}`, "PUT", { name: "Other", id: "aut_other" }, "id"],
    ["", "POST", { ...HOURLY, op: "automations.delete" }, "op"],
    [`/${id}/run`, "POST", { request_id: 1 }, "request_id"],
    [`/${id}/run`, "POST", { request_id: "a b" }, "request_id"],
    ["?limit=0", "GET", undefined, "limit"],
    [`/${id}/history?before=x`, "GET", undefined, "before"],
  ];
  for (const [path, method, body, param] of cases) {
    const response = await port.ask(`${PATH}${path}`, { method, token, body });
    assertEquals([response.status, (await response.json()).error.param], [400, param], path);
  }
});

Deno.test("routes of automations: lets readers read and nothing else", async () => {
  await using port = open();
  const { id } = await port.world.automations.create(HOURLY);
  for (
    const [method, path] of [
      ["POST", ""],
      ["PUT", `/${id}`],
      ["DELETE", `/${id}`],
      ["POST", `/${id}/run`],
      ["POST", `/${id}/enable`],
      ["POST", `/${id}/disable`],
    ] as const
  ) {
    const response = await port.ask(`${PATH}${path}`, { method, token: "read", body: HOURLY });
    assertEquals(await refusal(response), [403, "insufficient_scope"], path);
  }
});

Deno.test("routes of automations: answers how to have them on while they are off", async () => {
  await using port = open({ automations: { enabled: false } });
  for (const path of ["", "/aut_1", "/aut_1/history"]) {
    const response = await port.ask(`${PATH}${path}`, { token: "read" });
    const { error } = await response.json();
    assertEquals([response.status, error.code], [503, "not_enabled"]);
    assertStringIncludes(error.message, "automations.enabled");
  }
});

Deno.test("routes of automations: shows no secret that is on record from before it was known", async () => {
  await using port = open({}, {
    value: (value) => JSON.parse(JSON.stringify(value).replaceAll("hunter2", "[secret]")),
  });
  await port.world.automations.create({ ...HOURLY, message: "use hunter2-hunter2" });
  assertEquals(JSON.stringify(await port.json("", { token: "read" })).includes("hunter2"), false);
});
