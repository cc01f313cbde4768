/**
 * Sets up a model for operators who are not at the command line: what `service onboard` does. Whoever
 * has authority connects to nobody, so a child asks the provider, which reaches that host alone.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import { joinHostPort } from "../../base/host_pattern.ts";
import { formatPath } from "../../base/key_path.ts";
import { sourcePaths } from "../../base/layout.ts";
import { NO_PERMISSIONS } from "../../executor/command.ts";
import type { ChildOutcome, Executor } from "../../executor/executor.ts";
import { machineEnv, machineFiles } from "../../executor/machine_files.ts";
import { MODEL_ENV } from "../../model/env.ts";
import { type LocalServer, USUAL_SERVERS } from "../../model/find_local_servers.ts";
import { providerHosts } from "../../model/hosts.ts";
import { isHttpUrl, type Offer, offerAt, offerOf } from "../../model/offers.ts";
import type { ModelTrial } from "../../model/try_model.ts";
import { keyProblem, sectionOf, type SetUp, wayOut } from "../../model/try_offer.ts";
import type { LockedPackages } from "../../packages/locked_packages.ts";
import type { SettingChange } from "../../settings/setting_change.ts";
import type { SecretStore } from "../../state/secret_store.ts";
import type { SettingsKeeper } from "../settings_keeper.ts";
import type { ProviderAnswers, ProviderQuestion } from "./child.ts";
import { keySecret, secretNamed, storedSecret } from "./key_secret.ts";

/** What it works on. */
export interface ModelSetupDeps {
  executor: Pick<Executor, "run">;
  /** Where they are; undefined where the program holds them. */
  packages: LockedPackages | undefined;
  env: (name: string) => string | undefined;
  secrets: Pick<SecretStore, "list" | "reveal" | "set" | "remove">;
  settings: SettingsKeeper;
  now(): number;
}

/** A provider as somebody names it: by name, by address, or by both. */
export interface NamedProvider {
  provider?: string;
  baseUrl?: string;
  /** Absent or empty for none. */
  key?: string;
}

/** A model that answers now. */
export interface ConnectedModel {
  /** `<provider>/<id>`. */
  model: string;
  /** Name of the secret that holds the key. */
  secret?: string;
  /** What it took to answer; absent where it was not tried. */
  ms?: number;
  /** Keys that wait for a restart. */
  restart: string[];
}

/** Longer than anything that the child waits for itself. */
const TIMEOUT_MS = 70_000;

const MAX_ANSWER_BYTES = 1024 * 1024;

const text = z.string().max(10_000);
const models = z.array(z.string().max(500)).max(10_000);
const failed = z.strictObject({
  ok: z.literal(false),
  why: z.enum(["key", "unreachable", "model", "limit", "other"]),
  message: text,
});

/** Answers of the child, which has worked on a stranger's bytes. */
const ANSWERS = {
  find: z.array(z.strictObject({ name: text, provider: text, baseUrl: text, models })),
  list: z.union([z.strictObject({ failed }), z.strictObject({ models: models.optional() })]),
  try: z.union([z.strictObject({ ok: z.literal(true), ms: z.number() }), failed]),
} satisfies { [Question in ProviderQuestion]: z.ZodType<ProviderAnswers[Question]> };

/** The field of a request that a failure is about. */
const FIELDS = {
  key: "api_key",
  unreachable: "base_url",
  model: "model",
  limit: "api_key",
  other: "model",
} as const;

/** Finds, tries and connects models. */
export class ModelSetup {
  readonly #deps: ModelSetupDeps;

  constructor(deps: ModelSetupDeps) {
    this.#deps = deps;
  }

  /** Model servers on this machine. */
  find(): Promise<LocalServer[]> {
    const net = USUAL_SERVERS.map(({ port }) => `127.0.0.1:${port}`);
    return this.#ask("find", undefined, net);
  }

  /** Ids of the provider's models; undefined where it doesn't say. Rejects as {@linkcode connect}. */
  async list(named: NamedProvider): Promise<string[] | undefined> {
    const setUp = setUpOf(named, "");
    const listed = await this.#askProvider("list", setUp);
    if ("failed" in listed) throw asRequestFault(setUp, listed.failed);
    return listed.models;
  }

  /**
   * Asks the model for a short answer, unless that is left out; then keeps the key as a secret and writes
   * the configuration. Rejects with `invalid_request` that names the field and says what to do; nothing
   * is written then.
   */
  async connect(
    { id, test, ...named }: NamedProvider & { id: string; test: boolean },
    by: string,
  ): Promise<ConnectedModel> {
    const setUp = setUpOf(named, id);
    const { provider } = setUp.offer;
    const trial = test ? await this.#askProvider("try", setUp) : undefined;
    if (trial?.ok === false) throw asRequestFault(setUp, trial);
    const { changes, secret, undo } = await this.#keepKey(setUp, by);
    try {
      const { restartRequired } = await this.#deps.settings.change(changes, by);
      return {
        model: `${provider}/${id}`,
        secret,
        ms: trial?.ms,
        restart: restartRequired?.keys ?? [],
      };
    } catch (error) {
      await undo?.();
      throw error;
    }
  }

  /** What is to be written, with the key as a secret already. */
  async #keepKey({ offer, key, id }: SetUp, by: string) {
    const { secrets, settings, now } = this.#deps;
    const { provider, section } = offer;
    const at = (name: string) => formatPath(["providers", provider, name]);
    const changes: SettingChange[] = [
      { path: "agent.model", value: `${provider}/${id}` },
      ...Object.entries(section).map(([name, value]) => ({ path: at(name), value })),
    ];
    const current = (await settings.get()).settings.find(({ path }) => path === at("apiKey"));
    if (key === "") {
      // That key was given for another address.
      if (current?.isSet) changes.push({ path: at("apiKey"), value: null });
      return { changes };
    }
    const secret = keySecret({ offer, key }, secretNamed(current?.value), { secrets, now: now() });
    const { name, value, hosts, commands } = secret;
    const old = storedSecret(name, secrets);
    await secrets.set({ name, value, hosts, commands }, by);
    changes.push({ path: at("apiKey"), value: `\${secret:${name}}` });
    return {
      changes,
      secret: name,
      async undo() {
        if (old === undefined) await secrets.remove(name, by);
        else await secrets.set(old, by);
      },
    };
  }

  #askProvider<Question extends "list" | "try">(question: Question, setUp: SetUp) {
    const { offer, key } = setUp;
    const providers = { [offer.provider]: sectionOf(offer, key) };
    const net = providerHosts({ providers }).map(({ host, port }) => joinHostPort(host, port));
    return this.#ask(question, setUp, net);
  }

  async #ask<Question extends ProviderQuestion>(
    question: Question,
    settings: SetUp | undefined,
    net: string[],
  ): Promise<z.output<typeof ANSWERS[Question]>> {
    const { executor, packages, env } = this.#deps;
    const outcome = await executor.run({
      task: {
        tool: "ask_provider",
        args: { question },
        settings,
        workspace: "/",
        maxOutputBytes: MAX_ANSWER_BYTES,
      },
      permissions: { ...NO_PERMISSIONS, net, env: MODEL_ENV.map(({ variable }) => variable) },
      view: {
        readOnly: await machineFiles(env, sourcePaths(["lib/"])),
        readWrite: [],
        network: true,
      },
      packages,
      env: machineEnv(env, []),
      timeoutMs: TIMEOUT_MS,
    }, { signal: new AbortController().signal, onProgress: () => {} });
    return ANSWERS[question].parse(readAnswer(outcome)) as z.output<typeof ANSWERS[Question]>;
  }
}

/** Throws `invalid_request` for what no provider can be. */
function setUpOf({ provider, baseUrl, key = "" }: NamedProvider, id: string): SetUp {
  if (baseUrl !== undefined && !isHttpUrl(baseUrl)) {
    throw invalid("base_url", "Invalid base_url: expected an address such as http://host:8000/v1");
  }
  const offer = offerNamed(provider, baseUrl);
  const wrong = key === "" ? undefined : keyProblem(key);
  if (wrong !== undefined) throw invalid("api_key", wrong);
  if (key === "" && offer.keyPage !== undefined) {
    throw invalid("api_key", `${offer.label} needs a key: create one at ${offer.keyPage}`);
  }
  return { offer, key, id };
}

function offerNamed(provider: string | undefined, baseUrl: string | undefined): Offer {
  const offer = provider !== undefined
    ? offerOf(provider, baseUrl)
    : baseUrl !== undefined
    ? offerAt(baseUrl)
    : undefined;
  if (offer !== undefined) return offer;
  throw invalid(
    "provider",
    provider === undefined
      ? "Name a provider, or its base_url"
      : `Unknown provider "${provider}": add its base_url`,
  );
}

function readAnswer(outcome: ChildOutcome): unknown {
  switch (outcome.type) {
    case "result":
      return JSON.parse(outcome.output);
    case "timeout":
      throw new ServiceError(
        "executor_fault",
        `The provider didn't answer in ${outcome.timeoutMs / 1_000} s`,
      );
    case "fault":
    case "failure":
      throw new ServiceError("executor_fault", `The provider can't be asked: ${outcome.message}`);
    default:
      throw new ServiceError("executor_fault", `Its process answered ${outcome.type}`);
  }
}

function asRequestFault(
  setUp: SetUp,
  failed: Extract<ModelTrial, { ok: false }>,
): ServiceError {
  return invalid(FIELDS[failed.why], wayOut(setUp, failed));
}

function invalid(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { param });
}
