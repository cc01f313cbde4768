/**
 * Whether the model that answers does so, tried with a short message, and whether there would be a better
 * one.
 *
 * @module
 */

import type { Config } from "../../lib/config/schema.ts";
import { chooseModel } from "../../lib/model/choose_model.ts";
import { findLocalServers } from "../../lib/model/find_local_servers.ts";
import { listRemoteModels } from "../../lib/model/list_remote_models.ts";
import {
  type ProviderSpec,
  readProviders,
  shownBaseUrl,
  splitModelName,
} from "../../lib/model/provider_spec.ts";
import { type ModelTrial, tryModel } from "../../lib/model/try_model.ts";
import type { Finding } from "./check.ts";
import { compareClock } from "./check_clock.ts";

/** What the check works with. */
export interface CheckModelsOptions {
  config: Pick<Config, "agent" | "providers">;
  fetch: typeof fetch;
  /** For each server that is asked. */
  timeoutMs: number;
}

/** Sends the model in force, and each of its fallbacks, one short message. */
export async function checkModels(options: CheckModelsOptions): Promise<Finding[]> {
  const { config } = options;
  const choice = chooseModel(config);
  const specs = new Map(readProviders(config).map((spec) => [spec.name, spec]));
  const found = await Promise.all(
    [choice.name, ...config.agent.fallbacks].map(async (name, at): Promise<Finding[]> => {
      const parts = splitModelName(name);
      const spec = parts === undefined ? undefined : specs.get(parts.provider);
      if (parts === undefined || spec === undefined) {
        return at === 0 && config.agent.model === ""
          ? [await suggestLocal(options, choice.reason)]
          : [{ status: "ok", detail: `${name} is built in` }];
      }
      const findings = await tryOne(parts.id, spec, options);
      // Without a fallback the work goes on.
      return at === 0
        ? findings
        : findings.map((finding) =>
          finding.status === "fail" ? { ...finding, status: "warn" } : finding
        );
    }),
  );
  return found.flat();
}

async function tryOne(
  id: string,
  spec: ProviderSpec,
  { config, fetch, timeoutMs }: CheckModelsOptions,
): Promise<Finding[]> {
  const where = `${spec.name}/${id} at ${shownBaseUrl(spec.baseUrl)}`;
  let date: string | null = null;
  const trial = await tryModel({
    provider: spec.name,
    section: config.providers[spec.name]!,
    id,
    temperature: config.agent.temperature,
    async fetch(input, init) {
      const response = await fetch(input, init);
      date = response.headers.get("date");
      return response;
    },
    timeoutMs,
  });
  const clock = compareClock(date, Date.now());
  const finding: Finding = trial.ok
    ? { status: "ok", detail: `${where} answered in ${(trial.ms / 1_000).toFixed(1)} s` }
    : await judge(where, spec, trial, { fetch, timeoutMs });
  return clock === undefined ? [finding] : [finding, clock];
}

async function judge(
  where: string,
  spec: ProviderSpec,
  { why, message }: Extract<ModelTrial, { ok: false }>,
  asking: Pick<CheckModelsOptions, "fetch" | "timeoutMs">,
): Promise<Finding> {
  const key = `providers.${spec.name}`;
  switch (why) {
    case "key":
      return {
        status: "fail",
        detail: `${where} refuses the key`,
        fix: `Set another key with: service onboard (or correct ${key}.apiKey)`,
      };
    case "unreachable":
      return {
        status: "fail",
        detail: `${where} cannot be reached: ${message}`,
        fix: `Check the network, start the server, or correct ${key}.baseUrl`,
      };
    case "model": {
      const listed = await listRemoteModels({ spec, ...asking });
      const models = listed.kind === "answered" ? listed.models ?? [] : [];
      const some = models.slice(0, 5).join(", ");
      return {
        status: "fail",
        detail: `${where} has no such model` +
          (some === "" ? `: ${message}` : `; it has ${some}${models.length > 5 ? ", …" : ""}`),
        fix: `Name another one: service config set agent.model ${spec.name}/MODEL`,
      };
    }
    case "limit":
      return {
        status: "warn",
        detail: `${where} takes no requests for now: ${message}`,
        fix: "Wait, check your plan and balance, or set agent.fallbacks to another model",
      };
    case "other":
      return {
        status: "fail",
        detail: `${where} failed: ${message}`,
        fix: "Look at the server's own log or status page",
      };
  }
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
