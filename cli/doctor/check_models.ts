/**
 * Whether the model that answers can be reached, and whether there would be a better one.
 *
 * @module
 */

import type { Config } from "../../lib/config/schema.ts";
import { chooseModel } from "../../lib/model/choose_model.ts";
import { findLocalServers } from "../../lib/model/find_local_servers.ts";
import { listRemoteModels, type RemoteModels } from "../../lib/model/list_remote_models.ts";
import {
  type ProviderSpec,
  readProviders,
  shownBaseUrl,
  splitModelName,
} from "../../lib/model/provider_spec.ts";
import type { Finding } from "./check.ts";

/** What the check works with. */
export interface CheckModelsOptions {
  config: Pick<Config, "agent" | "providers">;
  fetch: typeof fetch;
  /** For each server that is asked. */
  timeoutMs: number;
}

/** Asks the provider of the model in force, and those of its fallbacks, for their models. */
export async function checkModels(options: CheckModelsOptions): Promise<Finding[]> {
  const { config } = options;
  const choice = chooseModel(config);
  const specs = new Map(readProviders(config).map((spec) => [spec.name, spec]));
  const findings = await Promise.all(
    [choice.name, ...config.agent.fallbacks].map(async (name, at): Promise<Finding> => {
      const parts = splitModelName(name);
      const spec = parts === undefined ? undefined : specs.get(parts.provider);
      if (parts === undefined || spec === undefined) {
        return at === 0 && config.agent.model === ""
          ? await suggestLocal(options, choice.reason)
          : { status: "ok", detail: `${name} is built in` };
      }
      const { fetch, timeoutMs } = options;
      const answer = await listRemoteModels({ spec, fetch, timeoutMs });
      const finding = judge(name, parts.id, spec, answer);
      // Without a fallback the work goes on.
      return at > 0 && finding.status === "fail" ? { ...finding, status: "warn" } : finding;
    }),
  );
  return findings;
}

function judge(name: string, id: string, spec: ProviderSpec, answer: RemoteModels): Finding {
  const where = `${name} at ${shownBaseUrl(spec.baseUrl)}`;
  const key = `providers.${spec.name}`;
  if (answer.kind === "unreachable") {
    return {
      status: "fail",
      detail: `${where} cannot be reached: ${answer.reason}`,
      fix: `Start the server, or correct ${key}.baseUrl`,
    };
  }
  const { status, models } = answer;
  if (status === 401 || status === 403) {
    return {
      status: "fail",
      detail: `${where} refuses the key (status ${status})`,
      fix: `Correct ${key}.apiKey`,
    };
  }
  if (status >= 500) {
    return {
      status: "fail",
      detail: `${where} answers with status ${status}`,
      fix: "Look at the server's own log or status page",
    };
  }
  if (models === undefined) {
    return {
      status: "warn",
      detail: `${where} answers, but lists no models (status ${status})`,
      fix: `Try it: service agent -m hi; if it fails, correct ${key}.baseUrl`,
    };
  }
  if (!models.includes(id)) {
    const some = models.slice(0, 5).join(", ");
    return {
      status: "warn",
      detail: `${where} answers, but does not list "${id}"` +
        (some === "" ? "" : `; it has ${some}${models.length > 5 ? ", …" : ""}`),
      fix: "Name one that it has: service config set agent.model PROVIDER/MODEL",
    };
  }
  return { status: "ok", detail: where };
}

/** What to do while only the offline model answers. */
async function suggestLocal(
  { fetch, timeoutMs }: CheckModelsOptions,
  reason: string,
): Promise<Finding> {
  const detail = `the built-in offline model answers: ${reason}`;
  const [server] = await findLocalServers({ fetch, timeoutMs: Math.min(timeoutMs, 1_000) });
  if (server === undefined) {
    return {
      status: "warn",
      detail,
      fix: "Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or run: service onboard",
    };
  }
  const { name, provider, baseUrl, models } = server;
  const model = models[0] ?? "MODEL";
  return {
    status: "warn",
    detail: `${detail}; ${name} runs on this machine`,
    fix: `service config set providers.${provider}.baseUrl ${baseUrl} && ` +
      `service config set agent.model ${provider}/${model}`,
  };
}
