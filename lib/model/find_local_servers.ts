/**
 * Looks for model servers on this machine, at the ports where they usually are. Only
 * when a person asks for it: a start never probes.
 *
 * @module
 */

import { listRemoteModels } from "./list_remote_models.ts";

/** Servers that speak the OpenAI wire, and their usual ports. */
export const USUAL_SERVERS = [
  { name: "Ollama", provider: "ollama", port: 11434 },
  { name: "LM Studio", provider: "lmstudio", port: 1234 },
  { name: "llama.cpp", provider: "llamacpp", port: 8080 },
] as const;

/** A model server that answered. */
export interface LocalServer {
  /** For people. */
  name: string;
  /** A name for it under `providers`. */
  provider: string;
  baseUrl: string;
  /** Ids of its models; may be empty. */
  models: string[];
}

/** What {@linkcode findLocalServers} takes. */
export interface FindLocalServersOptions {
  fetch?: typeof fetch;
  /** For each server; they are asked at once. Default 1,000. */
  timeoutMs?: number;
}

/** Every server that answers with a list of models, in the order of the table. Never rejects. */
export async function findLocalServers(
  { fetch = globalThis.fetch, timeoutMs = 1_000 }: FindLocalServersOptions = {},
): Promise<LocalServer[]> {
  const found = await Promise.all(USUAL_SERVERS.map(async ({ name, provider, port }) => {
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const spec = { type: "openai-compatible" as const, baseUrl, apiKey: "", headers: {} };
    const answer = await listRemoteModels({ spec, fetch, timeoutMs });
    if (answer.kind !== "answered" || answer.models === undefined) return [];
    return [{ name, provider, baseUrl, models: answer.models }];
  }));
  return found.flat();
}
