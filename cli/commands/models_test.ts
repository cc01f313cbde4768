import { assertEquals } from "@std/assert";
import { configSchema } from "../../lib/config/schema.ts";
import { resolveModels } from "../../lib/model/registry.ts";
import { modelsToWire } from "../../lib/operations/models.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { printModels } from "./models.ts";

const CONFIG = configSchema.parse({
  agent: {
    model: "local/qwen",
    fallbacks: ["offline"],
    presets: { fast: { model: "local/small" } },
  },
  providers: { local: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "sk-secret" }, openai: {} },
});

const ANSWER = modelsToWire({
  models: resolveModels({ config: CONFIG }),
  presets: () => ["fast"],
  prices: () => ({}),
});

Deno.test("printModels() marks the model in force and says why of each", () => {
  const { out, stdout } = memoryOutput();
  printModels(out, ANSWER, false);
  const [header, first, ...others] = stdout.text.trimEnd().split("\n");
  assertEquals(header!.split(/ {2,}/), ["", "MODEL", "PRESET", "WHY"]);
  assertEquals(first!.split(/ {2,}/), ["*", "local/qwen", "agent.model names it"]);
  assertEquals(others.some((line) => /^ {3}local\/small +fast +preset/.test(line)), true);
  assertEquals(others.some((line) => line.includes("openai.apiKey is not set")), true);
  assertEquals(stdout.text.includes("sk-secret"), false);
});

Deno.test("printModels() prints one JSON document with --json", () => {
  const { out, stdout } = memoryOutput();
  printModels(out, ANSWER, true);
  assertEquals(JSON.parse(stdout.text), ANSWER);
});
