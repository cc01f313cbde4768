/**
 * Chat completions as the AI SDK's package speaks them: what ours is compared with.
 *
 * @module
 */

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createPackageWire } from "../package_wire.ts";
import { createProviderFetch } from "../provider_fetch.ts";
import type { Wire, WireDeps } from "../wire.ts";

/** Makes it. */
export function createReferenceWire(deps: WireDeps): Promise<Wire> {
  const { origin: { spec }, id } = deps;
  const url = new URL(spec.baseUrl);
  const queryParams = Object.fromEntries(url.searchParams);
  url.search = "";
  const provider = createOpenAICompatible({
    name: "chat",
    baseURL: url.href,
    queryParams: Object.keys(queryParams).length > 0 ? queryParams : undefined,
    apiKey: spec.apiKey,
    headers: { ...spec.headers },
    fetch: createProviderFetch({ spec, fetch: deps.fetch }),
    includeUsage: true,
  });
  const wire = createPackageWire({ model: provider.chatModel(id), thinkTags: true }, deps);
  return Promise.resolve(wire);
}
