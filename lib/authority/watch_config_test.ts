import { assertEquals, assertStringIncludes } from "@std/assert";
import { loadConfig, type Loaded } from "../settings/load.ts";
import { policyTestFile } from "../config/paths.ts";
import { type Config, configSchema } from "../config/schema.ts";
import { tempHome } from "../config/testing/temp_home.ts";
import { ServiceError } from "../base/errors.ts";
import { openOperatorState } from "../state/operator_state.ts";
import { watchConfig } from "./watch_config.ts";

const NO_SECRETS = { onChange: () => () => {} };

Deno.test("watchConfig() applies live keys, names the others, and survives a broken edit", async () => {
  const dir = await Deno.makeTempDir();
  const configFile = `${dir}/config.json`;
  const config = configSchema.parse({});
  const applied: string[][] = [];
  const logged: string[] = [];
  let heard = Promise.withResolvers<void>();
  const say = (message: string, fields?: Record<string, unknown>) => {
    logged.push(`${message} ${Object.values(fields ?? {}).join(" ")}`);
    heard.resolve();
  };
  const watcher = watchConfig({
    configFile,
    secrets: NO_SECRETS,
    config,
    load: async () => {
      const text = await Deno.readTextFile(configFile);
      if (text === "broken") throw new ServiceError("config_invalid", "line 1 is broken");
      return { config: configSchema.parse(JSON.parse(text)) as Config } as Loaded;
    },
    apply: (_next, paths) => applied.push([...paths]),
    log: { debug: say, info: say, warning: say, error: say },
  });
  const edit = async (text: string) => {
    heard = Promise.withResolvers();
    await Deno.writeTextFile(configFile, text);
    await heard.promise;
  };
  await edit('{"agent":{"maxSteps":7}}');
  assertEquals(applied, [["agent.maxSteps"]]);
  assertEquals(config.agent.maxSteps, 7);
  await edit("broken");
  assertStringIncludes(logged.at(-1)!, "line 1 is broken");
  assertEquals(config.agent.maxSteps, 7, "the running one stays in force");
  await edit('{"agent":{"maxSteps":7},"api":{"port":1}}');
  assertStringIncludes(logged.at(-1)!, "restart_required");
  assertStringIncludes(logged.at(-1)!, "api.port");
  assertEquals(config.api.port, 8900);
  watcher.close();
  await Deno.remove(dir, { recursive: true });
});

Deno.test("watchConfig() keeps what runs when an edit breaks a pinned case of the policy", async () => {
  await using home = await tempHome();
  const cases = [{ name: "open", tool: "read_file", args: { path: "a" }, expected: "allow" }];
  await Deno.writeTextFile(policyTestFile(home.paths), JSON.stringify(cases));
  await home.write({ agent: { maxSteps: 5 } });
  const { config } = await loadConfig(home);
  const applied: string[][] = [];
  const heard = Promise.withResolvers<string>();
  const say = (_message: string, fields?: Record<string, unknown>) =>
    heard.resolve(String(fields?.reason));
  const watcher = watchConfig({
    configFile: home.paths.configFile,
    secrets: NO_SECRETS,
    config,
    load: () => loadConfig(home),
    apply: (_next, paths) => applied.push([...paths]),
    log: { debug: say, info: say, warning: say, error: say },
  });
  const rule = { name: "shut", effect: "deny", capabilities: ["fs.read"] };
  await home.write({ agent: { maxSteps: 6 }, gates: { rules: [rule] } });
  const reason = await heard.promise;
  assertStringIncludes(reason, 'case 1 "open": expected allow, got deny (rule shut');
  assertEquals([applied, config.agent.maxSteps], [[], 5]);
  watcher.close();
});

Deno.test("watchConfig() takes up a secret that another process changed, and names what waits for a restart", async () => {
  await using home = await tempHome();
  const { operatorDir: dir, keysDir } = home.paths;
  const other = await openOperatorState({ dir, keysDir });
  await other.secrets.set({ name: "WORDS", value: "be very brief" });
  await other.secrets.set({ name: "KEY", value: "sk-first-one" });
  await home.write({
    agent: { instructions: "${secret:WORDS}" },
    providers: { openai: { apiKey: "${secret:KEY}" } },
  });
  const { config } = await loadConfig(home);
  const state = await openOperatorState({ dir, keysDir, watchMs: 5 });
  const said: string[] = [];
  let heard = Promise.withResolvers<void>();
  const say = (message: string, fields?: Record<string, unknown>) => {
    said.push(`${message} ${Object.values(fields ?? {}).join(" ")}`);
    heard.resolve();
  };
  const watcher = watchConfig({
    configFile: home.paths.configFile,
    secrets: state.secrets,
    config,
    load: () => loadConfig(home),
    apply: () => {},
    log: { debug: say, info: say, warning: say, error: say },
  });
  const change = async (how: () => Promise<unknown>) => {
    heard = Promise.withResolvers();
    await how();
    await heard.promise;
  };
  await change(() => other.secrets.set({ name: "WORDS", value: "be very long" }));
  assertEquals(config.agent.instructions, "be very long");
  await change(() => other.secrets.set({ name: "KEY", value: "sk-other-one" }));
  assertStringIncludes(said.at(-1)!, "restart_required");
  assertStringIncludes(said.at(-1)!, "providers.openai.apiKey");
  assertEquals(config.providers.openai!.apiKey, "sk-first-one");
  await change(() => other.secrets.remove("KEY"));
  assertStringIncludes(said.at(-1)!, "providers.openai.apiKey (line 7): there is no secret KEY");
  assertEquals(/very|sk-/.test(said.join()), false);
  watcher.close();
  await state.close();
  await other.close();
});

Deno.test("watchConfig() takes up models at once where the service has their providers, and else names a restart", async () => {
  await using home = await tempHome();
  const a = { baseUrl: "http://127.0.0.1:9/v1", model: "m" };
  const presets = { fast: { model: "a/fast" } };
  await home.write({ providers: { a }, agent: { model: "a/m", presets } });
  const { config } = await loadConfig(home);
  const applied: (readonly string[])[] = [];
  const said: string[] = [];
  const say = (message: string, fields?: Record<string, unknown>) =>
    void said.push(`${message} ${Object.values(fields ?? {}).join(" ")}`);
  const watcher = watchConfig({
    configFile: home.paths.configFile,
    secrets: NO_SECRETS,
    config,
    load: () => loadConfig(home),
    apply: (_next, paths) => applied.push([...paths]),
    log: { debug: say, info: say, warning: say, error: say },
  });
  const edit = async (next: unknown) => {
    await home.write(next);
    await watcher.reload();
    return applied.splice(0).flat();
  };
  const agent = { model: "a/other", preset: "fast", presets, temperature: 0.5 };
  assertEquals(await edit({ providers: { a }, agent }), [
    "agent.model",
    "agent.preset",
    "agent.temperature",
  ]);
  assertEquals([config.agent.model, config.agent.preset], ["a/other", "fast"]);

  const b = { baseUrl: "https://b.example/v1" };
  const far = { ...agent, presets: { ...presets, far: { model: "b/m" } }, maxSteps: 3 };
  assertEquals(await edit({ providers: { a, b }, agent: far }), ["agent.maxSteps"]);
  assertStringIncludes(said.at(-1)!, "restart_required");
  assertStringIncludes(said.at(-1)!, "agent.presets.far");
  assertEquals(Object.keys(config.agent.presets), ["fast"]);
  assertEquals(await edit({ agent: far, providers: { a, b } }), []);
  // The watcher itself may have read the file while it was half written, and said so.
  const told = said.filter((line) => line.includes("restart_required"));
  assertEquals(told.length, 1, "what waits is said once");

  // The same provider at another place is another one.
  const moved = { a: { ...a, baseUrl: "http://127.0.0.1:10/v1" } };
  assertEquals(
    await edit({ providers: moved, agent: { ...agent, maxSteps: 3, model: "a/x" } }),
    [],
  );
  assertEquals(config.agent.model, "a/other");
  watcher.close();
});
