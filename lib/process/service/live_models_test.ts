import { assertEquals, assertStringIncludes } from "@std/assert";
import { says, type ScriptedModel, scriptedModel } from "../../agent/testing/scripted_model.ts";
import { only, testAgent, textOf } from "../../agent/testing/test_agent.ts";
import { copyPaths } from "../../config/copy_paths.ts";
import { type Config, configSchema } from "../../config/schema.ts";
import { ServiceError } from "../../base/errors.ts";
import { createScrubber } from "../../secrets/scrubber.ts";
import { createLiveModels, type RuntimeModel } from "./live_models.ts";

const PROVIDERS = { a: { baseUrl: "http://127.0.0.1:9/v1", model: "m" } };

/** Models of a configuration that can be edited as a running service is. */
function setUp(
  agent: Record<string, unknown>,
  resolve?: Parameters<typeof createLiveModels>[0]["resolve"],
) {
  const config = configSchema.parse({ providers: PROVIDERS, agent });
  const logged: string[] = [];
  const say = (message: string, fields?: Record<string, unknown>) =>
    void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log = { info: say, error: say };
  const models = createLiveModels({ config, scrubber: createScrubber(), log, resolve });
  const told: RuntimeModel[] = [];
  models.onModelChange((model) => told.push(model));
  return {
    config,
    models,
    told,
    logged,
    edit(agent: Record<string, unknown>, paths = Object.keys(agent).map((key) => `agent.${key}`)) {
      const next = configSchema.parse({ providers: PROVIDERS, agent }) as Config;
      copyPaths(next, config, paths);
      models.configure(paths);
    },
  };
}

Deno.test("createLiveModels() takes up another model and preset, and tells who listens", () => {
  const { models, told, edit } = setUp({ model: "a/m" });
  assertEquals([models.current, models.default.name], [{ name: "a/m" }, "a/m"]);
  edit({ model: "a/other" });
  assertEquals([models.default.name, models.reason], ["a/other", "agent.model names it"]);
  edit({ presets: { fast: { model: "a/fast" } }, preset: "fast" });
  assertEquals([models.default.name, models.pick("fast").name], ["a/fast", "a/fast"]);
  // A list of models that changed is told, too.
  edit({ presets: { fast: { model: "a/fast" }, slow: { model: "a/slow" } } });
  assertEquals(models.pick("slow").name, "a/slow");
  edit({ preset: "" });
  assertEquals(told, [
    { name: "a/other" },
    { name: "a/fast", preset: "fast" },
    { name: "a/fast", preset: "fast" },
    { name: "a/other" },
  ]);
  assertEquals(models.list()[0]!.name, "a/other");
});

Deno.test("createLiveModels() is not stirred by other keys, nor by one that changes nothing to tell of", () => {
  let resolved = 0;
  const registry = (config: Pick<Config, "agent" | "providers">) => {
    resolved++;
    return {
      default: scriptedModel([], { name: config.agent.model }),
      reason: "",
      pick: () => scriptedModel(),
      list: () => [],
      preload: () => Promise.resolve(),
    };
  };
  const { models, told, edit } = setUp({ model: "a/m" }, registry);
  edit({ maxSteps: 3, instructions: "x" });
  models.configure(["agent.modelling", "agents.model", "log.level"]);
  assertEquals(resolved, 1);
  edit({ temperature: 1 });
  models.configure(["agent.presets.fast.model"]);
  models.configure(['agent.presets["a.b"].model']);
  models.configure(["agent.fallbacks[0]"]);
  assertEquals([resolved, told], [5, []]);
});

Deno.test("createLiveModels() keeps what it has when the edit cannot be used", () => {
  const { config, models, told, logged } = setUp({ model: "a/m" });
  config.agent.model = "gone/x";
  models.configure(["agent.model"]);
  assertEquals([models.default.name, told], ["a/m", []]);
  assertStringIncludes(logged.at(-1)!, 'names the provider \\"gone\\"');
  // What was resolved is not the configuration that is edited in place.
  config.agent.presets = { p: { model: "a/p" } };
  let code: unknown;
  try {
    models.pick("p");
  } catch (error) {
    code = (error as ServiceError).code;
  }
  assertEquals(code, "model_not_found");
});

Deno.test("createLiveModels() ends what a listener hears, once for each", () => {
  const { models, edit } = setUp({ model: "a/m" });
  const heard: string[] = [];
  const listener = ({ name }: RuntimeModel) => void heard.push(name);
  const first = models.onModelChange(listener);
  models.onModelChange(listener);
  first();
  first();
  edit({ model: "a/1" });
  assertEquals(heard, ["a/1"]);
});

Deno.test("W12 a reload does not end a running turn: it keeps its model, and the next one has the new", async () => {
  const asked: Record<string, ScriptedModel> = {};
  const open = Promise.withResolvers<void>();
  const scripts: Record<string, ScriptedModel> = {
    "a/old": scriptedModel([
      async function* (request) {
        await open.promise;
        yield* says("from the old one")(request);
      },
    ], { name: "a/old" }),
    "a/new": scriptedModel([says("from the new one")], { name: "a/new" }),
  };
  const { models, edit } = setUp({ model: "a/old" }, ({ agent }) => ({
    default: asked[agent.model] = scripts[agent.model]!,
    reason: "",
    pick: (name) => scripts[name]!,
    list: () => [],
    preload: () => Promise.resolve(),
  }));
  await using agent = testAgent({ source: models });
  const running = agent.ask("first", { sessionKey: "test:a" });
  const waiting = agent.ask("second", { sessionKey: "test:a" });
  await scripts["a/old"]!.asked(1);
  edit({ model: "a/new" });
  open.resolve();
  const first = await running;
  assertEquals([textOf(first), only(first, "turn_start")[0]!.model], ["from the old one", "a/old"]);
  assertEquals(only(first, "turn_end")[0]!.status, "done");
  const second = await waiting;
  assertEquals([textOf(second), only(second, "turn_start")[0]!.model], [
    "from the new one",
    "a/new",
  ]);
  assertEquals([scripts["a/old"]!.requests.length, scripts["a/new"]!.requests.length], [1, 1]);
});
