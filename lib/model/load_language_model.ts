/**
 * The one place that knows the providers' packages. Each is imported when a model of its type is
 * first asked, so that a process pays for the one that it uses, and for none with `offline`.
 *
 * Key and base URL are always given, so that no package looks for them in the environment.
 *
 * @module
 */

import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ProviderSpec, ProviderType } from "./provider_spec.ts";

/** A model of a provider's package. */
export interface LoadedModel {
  model: LanguageModelV4;
  /** What goes with every call. */
  providerOptions?: SharedV4ProviderOptions;
  /** Its wire leaves reasoning in the text, between tags. */
  thinkTags: boolean;
}

/** Imports the package of the provider's type and makes the model of that id. */
export async function loadLanguageModel(
  spec: ProviderSpec,
  id: string,
  fetch: typeof globalThis.fetch,
): Promise<LoadedModel> {
  const { apiKey, baseUrl: baseURL } = spec;
  const headers = { ...spec.headers };
  switch (spec.type) {
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const url = new URL(baseURL);
      const queryParams = Object.fromEntries(url.searchParams);
      url.search = "";
      const provider = createOpenAICompatible({
        // Data of calls is kept under this name; under the package's own it leaks onto the wire.
        name: "chat",
        baseURL: url.href,
        queryParams: Object.keys(queryParams).length > 0 ? queryParams : undefined,
        apiKey,
        headers,
        fetch,
        includeUsage: true,
      });
      return { model: provider.chatModel(id), thinkTags: true };
    }
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const provider = createOpenAI({ baseURL, apiKey, headers, fetch });
      // OpenAI's newer models reason and call tools together only behind its responses API; what
      // else speaks OpenAI's wire, as a rule, knows chat completions alone.
      if (!isOpenAi(baseURL)) return { model: provider.chat(id), thinkTags: true };
      return {
        model: provider.responses(id),
        // The journal is where a conversation is kept.
        providerOptions: { openai: { store: false } },
        thinkTags: false,
      };
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      const provider = createAnthropic({ baseURL, apiKey, headers, fetch });
      return { model: provider.messages(id), thinkTags: false };
    }
  }
}

/** Imports the package of a type ahead of its first use. */
export async function importProvider(type: ProviderType): Promise<void> {
  switch (type) {
    case "openai-compatible":
      return void await import("@ai-sdk/openai-compatible");
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
