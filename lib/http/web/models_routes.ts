/**
 * Which models there are, which one answers, and why.
 *
 * @module
 */

import { z } from "zod";
import type { ModelRegistry } from "../../model/registry.ts";
import type { WebRoute } from "./web_route.ts";

const listing = z.object({
  name: z.string().describe("<provider>/<model id>, <provider>, or offline."),
  provider: z.string(),
  preset: z.string().nullable(),
  used: z.boolean().describe("It answers unless a turn asks for another."),
  reason: z.string().describe("Why it is used, or why it is not."),
});

const modelsAnswer = z.object({
  model_name: z.string().describe("The default model."),
  model_preset: z.string().nullable().describe("The preset in force, if one is."),
  reason: z.string().describe("Why it is that one."),
  presets: z.array(z.string()).describe("What /model takes in a chat."),
  models: z.array(listing).describe("The one in force first; as `service models` has them."),
}).describe("The models of the configuration; no provider is asked.");

/** What the routes need. */
export interface ModelsRoutesDeps {
  /** Those in force; asked each time. */
  models: () => Pick<ModelRegistry, "default" | "reason" | "list">;
  /** Names of the presets of the configuration. */
  presets: () => readonly string[];
}

export function createModelsRoutes({ models, presets }: ModelsRoutesDeps): WebRoute[] {
  return [{
    method: "GET",
    path: "/api/webui/models",
    scope: "read",
    summary: "Show the default model, the presets, and what is configured",
    docs: { answer: modelsAnswer },
    handle() {
      const registry = models();
      const listings = registry.list();
      const used = listings.find((each) => each.used);
      return Response.json({
        model_name: registry.default.name,
        model_preset: used?.preset ?? null,
        reason: registry.reason,
        presets: presets(),
        models: listings.map(({ name, provider, preset = null, used, reason }) => ({
          name,
          provider,
          preset,
          used,
          reason,
        })),
      });
    },
  }];
}
