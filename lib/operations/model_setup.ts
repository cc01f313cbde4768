/**
 * A model for a service that has none: what there is on this machine and elsewhere, whether it answers,
 * and that it is written.
 *
 * @module
 */

import { z } from "zod";
import { NAMED, OTHER_NAMES } from "../model/offers.ts";
import { operation } from "./operation.ts";
import { enabled } from "./parts.ts";

const PATH = "/api/webui/models";

const nameForm = "a name of a-z, 0-9, _ and - that begins with a letter, 64 characters at most";
const textForm = (chars: number) => `a text of 1 to ${chars} characters`;
const short = (chars: number) =>
  z.string(textForm(chars)).min(1, textForm(chars)).max(chars, textForm(chars));

const named = {
  provider: z.string(nameForm).regex(/^[a-z][a-z0-9_-]{0,63}$/, nameForm).optional().describe(
    "openai, anthropic, openrouter, ollama, or any name with base_url.",
  ),
  base_url: short(2_000).optional().describe("Address of an OpenAI-style server."),
  api_key: z.string(textForm(4_096)).max(4_096, textForm(4_096)).optional()
    .describe("Kept as a secret for that host; absent for a server that needs none."),
};

const models = z.array(z.string());

/** Operations that set up a model. */
export const MODEL_SETUP = {
  "models.find": operation({
    summary: "Look for model servers on this machine, and list the providers that can be set up",
    scope: "operate",
    input: z.object({}),
    output: z.object({
      servers: z.array(z.object({
        name: z.string().describe("For people."),
        provider: z.string(),
        base_url: z.string(),
        models,
      })).describe("Model servers that answer at their usual ports."),
      providers: z.array(z.object({
        provider: z.string(),
        name: z.string().describe("For people."),
        key_page: z.string().optional().describe("Where a key is made."),
        usual_model: z.string().optional(),
      })).describe("Providers with a key that are known by name."),
      others: z.array(z.string()).describe("Names that stand for another known address."),
    }),
    route: { method: "GET", path: `${PATH}/found` },
    async run(_, parts) {
      const servers = await enabled(parts.models).find();
      return {
        servers: servers.map(({ baseUrl, ...server }) => ({ ...server, base_url: baseUrl })),
        providers: NAMED.filter(({ keyless }) => !keyless).map((
          { provider, label, keyPage, usualModel },
        ) => ({ provider, name: label, key_page: keyPage, usual_model: usualModel })),
        others: [...OTHER_NAMES],
      };
    },
  }),
  "models.remote": operation({
    summary: "Ask a provider that is not set up yet for its models",
    scope: "operate",
    input: z.strictObject(named, "an object with provider or base_url"),
    output: z.object({
      models: models.nullable().describe("null: it doesn't say."),
    }),
    confidential: true,
    route: { method: "POST", path: `${PATH}/remote` },
    async run({ base_url: baseUrl, api_key: key, ...rest }, parts) {
      return { models: await enabled(parts.models).list({ ...rest, baseUrl, key }) ?? null };
    },
  }),
  "models.connect": operation({
    summary: "Test a model with one short call, keep its key as a secret and configure it",
    scope: "operate",
    command: "onboard",
    input: z.strictObject({
      ...named,
      model: short(300).describe("ID of the model at the provider."),
      test: z.boolean("true or false").optional().describe("false: don't send a test message."),
    }, "an object with model, and provider or base_url"),
    output: z.object({
      model_name: z.string().describe("<provider>/<model id>."),
      secret: z.string().optional().describe("Name of the secret that holds the key."),
      ms: z.number().optional().describe("What the test took."),
      restart: z.array(z.string()).describe("Keys that wait for a restart: service.restart."),
    }).describe("Nothing is written where the test fails."),
    confidential: true,
    route: { method: "POST", path: `${PATH}/connect`, errors: ["refused", "overloaded"] },
    async run({ base_url: baseUrl, api_key: key, model: id, test = true, ...rest }, parts, { by }) {
      const { model, ...connected } = await enabled(parts.models)
        .connect({ ...rest, baseUrl, key, id, test }, by);
      return { model_name: model, ...connected };
    },
  }),
};
