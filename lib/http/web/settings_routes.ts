/**
 * The schema of the configuration over the port; its keys are read and changed by operations.
 *
 * @module
 */

import { z } from "zod";
import type { WebRoute } from "./web_route.ts";

export function createSettingsRoutes(): WebRoute[] {
  return [{
    method: "GET",
    path: "/api/webui/settings/schema",
    scope: "read",
    summary: "The JSON Schema of the configuration",
    docs: { answer: z.looseObject({ $schema: z.string() }) },
    async handle() {
      // It takes a while to make, and few ask for it.
      const { configJsonSchema } = await import("../../config/json_schema.ts");
      return Response.json(configJsonSchema());
    },
  }];
}
