/**
 * The one place that knows which wire a provider speaks, and the packages that speak it. Each is imported
 * when a model of its type is first asked, so that a process pays for the one that it uses, and for none
 * with `offline`.
 *
 * Key and base URL are always given, so that no package looks for them in the environment.
 *
 * @module
 */

import { createProviderFetch } from "./provider_fetch.ts";
import type { ProviderType } from "./provider_spec.ts";
import type { Wire, WireDeps } from "./wire.ts";

/** Imports what speaks the wire of the provider's type, and makes it for the model of that id. */
export async function loadWire(deps: WireDeps): Promise<Wire> {
  const { origin: { spec }, id } = deps;
  if (spec.type === "openai-compatible") {
    return (await import("./chat/chat_wire.ts")).createChatWire(deps);
  }
  const { createPackageWire } = await import("./package_wire.ts");
  const { apiKey, baseUrl: baseURL } = spec;
  const fetch = createProviderFetch({ spec, fetch: deps.fetch });
  const options = { baseURL, apiKey, headers: { ...spec.headers }, fetch };
  if (spec.type === "anthropic") {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    const model = createAnthropic(options).messages(id);
    return createPackageWire({ model, thinkTags: false }, deps);
  }
  const { createOpenAI } = await import("@ai-sdk/openai");
  const provider = createOpenAI(options);
  // OpenAI's newer models reason and call tools together only behind its responses API; what
  // else speaks OpenAI's wire, as a rule, knows chat completions alone.
  if (!isOpenAi(baseURL)) {
    return createPackageWire({ model: provider.chat(id), thinkTags: true }, deps);
  }
  return createPackageWire({
    model: provider.responses(id),
    // The journal is where a conversation is kept.
    providerOptions: { openai: { store: false } },
    thinkTags: false,
  }, deps);
}

/** Imports what a type takes ahead of its first use. */
export async function importProvider(type: ProviderType): Promise<void> {
  switch (type) {
    case "openai-compatible":
      return void await import("./chat/chat_wire.ts");
    case "openai":
      return void await import("@ai-sdk/openai");
    case "anthropic":
      return void await import("@ai-sdk/anthropic");
  }
}

function isOpenAi(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return hostname === "api.openai.com" || hostname.endsWith(".api.openai.com");
}
