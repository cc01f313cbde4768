import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Loaded } from "../config/load.ts";
import { type Config, configSchema } from "../config/schema.ts";
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
