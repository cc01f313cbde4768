/**
 * Runs in a Worker: loads each package, asks a model of it with a fetch that goes nowhere, and
 * reports how far it came.
 *
 * @module
 */

import { loadWire } from "../load_wire.ts";
import { type ProviderType, readProvider } from "../provider_spec.ts";
import { requestOf } from "./ask.ts";

const scope = self as unknown as { postMessage(message: unknown): void };
const TYPES: ProviderType[] = ["openai-compatible", "openai", "anthropic"];

async function load(type: ProviderType): Promise<string> {
  const spec = readProvider("p", {
    type,
    baseUrl: "http://h/v1",
    apiKey: "",
    headers: {},
    model: "",
  });
  let asked = "not asked";
  try {
    const ask = await loadWire({
      origin: { spec, model: "p/m", now: () => 0 },
      id: "m",
      settings: {},
      fetch: () => {
        asked = "asked";
        return Promise.reject(new Error("no network"));
      },
    });
    for await (const _ of ask(requestOf()));
  } catch (error) {
    if (asked !== "asked") return (error as Error).message.split(", run again")[0]!;
  }
  return asked;
}

const report: Record<string, string> = {};
for (const type of TYPES) report[type] = await load(type);
scope.postMessage(report);
