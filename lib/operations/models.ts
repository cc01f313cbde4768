/**
 * Which models there are, which one answers, and why.
 *
 * @module
 */

import { z } from "zod";
import type { Config } from "../config/schema.ts";
import type { ModelRegistry } from "../model/registry.ts";
import { gatewayOperation } from "./operation.ts";

/** What these work on; all of it may change. */
export interface ModelParts {
  models: { readonly default: { readonly name: string } } & Pick<ModelRegistry, "reason" | "list">;
  /** Names of the presets of the configuration. */
  presets(): readonly string[];
  /** Prices of the configuration. */
  prices(): Config["prices"];
}

/** Operations on models. */
export const MODELS = {
  "models.list": gatewayOperation({
    summary: "List configured models, the one in use, and why",
    scope: "read",
    command: "models list",
    input: z.object({}),
    output: z.object({
      model_name: z.string().describe("The default model."),
      model_preset: z.string().nullable().describe("The preset in force, if one is."),
      reason: z.string().describe("Why it is that one."),
      presets: z.array(z.string()).describe("What /model takes in a chat."),
      models: z.array(z.object({
        name: z.string().describe("<provider>/<model id>, <provider>, or offline."),
        provider: z.string(),
        preset: z.string().nullable(),
        used: z.boolean().describe("It answers unless a turn asks for another."),
        reason: z.string().describe("Why it is used, or why it is not."),
        price: z.object({ input: z.number(), cached_input: z.number(), output: z.number() })
          .optional().describe("Of a million tokens, as configured."),
      })).describe("The one in force first."),
    }).describe("The models of the configuration; no provider is asked."),
    route: { method: "GET", path: "/api/webui/models" },
    run: (_, parts) => modelsToWire(parts),
  }),
};

/** The models as the operation gives them. */
export function modelsToWire({ models, presets, prices }: ModelParts) {
  const listings = models.list();
  const priced = prices();
  const priceOf = (name: string) => {
    if (!Object.hasOwn(priced, name)) return undefined;
    const { input, output, cachedInput = input } = priced[name]!;
    return { input, cached_input: cachedInput, output };
  };
  return {
    model_name: models.default.name,
    model_preset: listings.find(({ used }) => used)?.preset ?? null,
    reason: models.reason,
    presets: [...presets()],
    models: listings.map(({ preset = null, ...listing }) => {
      const price = priceOf(listing.name);
      return { ...listing, preset, ...price !== undefined && { price } };
    }),
  };
}
