import { assertEquals, assertStringIncludes } from "@std/assert";
import { loadConfig, type Loaded } from "../config/load.ts";
import { policyTestFile } from "../config/paths.ts";
import { type Config, configSchema } from "../config/schema.ts";
import { tempHome } from "../config/testing/temp_home.ts";
import { ServiceError } from "../errors.ts";
import { watchConfig } from "./watch_config.ts";

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
