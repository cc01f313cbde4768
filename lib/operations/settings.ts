/**
 * The configuration, read and changed through its schema.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import { toWire } from "./fields.ts";
import { operation } from "./operation.ts";
import { enabled } from "./parts.ts";
import { permissionSchema, permissionToWire } from "./permissions.ts";

const PATH = "/api/webui/settings";

const MAX_CHANGES = 100;

/** Of all values of a request, as JSON. */
const MAX_CHARS = 256 * 1024;

const setting = z.object({
  path: z.string(),
  value: z.unknown().optional().describe("A secret as ********, a reference as it is written"),
  default: z.unknown().optional(),
  description: z.string().nullable(),
  takes: z.enum(["live", "restart"]),
  secret: z.boolean(),
  is_set: z.boolean(),
  source: z.enum(["default", "file", "environment", "secret"]),
  editable: z.boolean().describe("Whether settings.change takes it"),
});

const change = z.strictObject({
  path: z.string("a key such as agent.maxSteps").min(1, "a key such as agent.maxSteps")
    .max(500, "a key of at most 500 characters"),
  value: z.json("any JSON").describe(
    "null takes the key out; a blank text for a secret keeps the one that is stored",
  ),
}, "an object with path and value");

const changesForm = `a list of 1 to ${MAX_CHANGES} changes`;

/** Operations on the configuration. */
export const SETTINGS = {
  "settings.get": operation({
    summary: "Every key of the configuration, without secrets",
    scope: "read",
    command: "config get",
    input: z.object({}),
    output: z.object({
      file: z.string(),
      settings: z.array(setting),
      waiting: z.array(z.string()).describe("Keys whose value in the file waits for a restart"),
      problems: z.array(z.string()).describe(
        "Why the file would not load; the settings are then those that loaded last",
      ),
    }),
    route: { method: "GET", path: PATH },
    async run(_, parts) {
      const { settings, ...view } = await enabled(parts.settings).get();
      return {
        ...view,
        settings: settings.map(({ description = null, ...each }) =>
          toWire(setting, { ...each, description })
        ),
      };
    },
  }),
  "settings.change": operation({
    summary: "Change keys of the configuration",
    scope: "operate",
    command: "config set",
    input: z.strictObject({
      changes: z.array(change, changesForm).min(1, changesForm).max(MAX_CHANGES, changesForm),
    }, "an object with changes").describe("All of it, or nothing."),
    output: z.object({
      written: z.boolean().describe("false: the file held all of it already"),
      live: z.array(z.string()).describe("Keys that are in force"),
      restart_required: z.object({
        keys: z.array(z.string()),
        permissions: z.object({
          added: z.array(permissionSchema),
          removed: z.array(permissionSchema),
        }),
      }).nullable().describe("Keys that wait for a restart, and what it would change"),
    }),
    confidential: true,
    route: {
      method: "PUT",
      path: PATH,
      errors: ["refused", "overloaded"],
      maxBodyBytes: 512 * 1024,
    },
    async run({ changes }, parts, { by }) {
      if (JSON.stringify(changes).length > MAX_CHARS) {
        throw new ServiceError(
          "too_large",
          `changes must have at most ${MAX_CHARS} characters together`,
          { param: "changes" },
        );
      }
      const { written, live, restartRequired } = await enabled(parts.settings).change(changes, by);
      if (restartRequired === undefined) return { written, live, restart_required: null };
      const { keys, permissions: { added, removed } } = restartRequired;
      return {
        written,
        live,
        restart_required: {
          keys,
          permissions: {
            added: added.map(permissionToWire),
            removed: removed.map(permissionToWire),
          },
        },
      };
    },
  }),
  "settings.schema": operation({
    summary: "Print the JSON Schema of the configuration",
    scope: "read",
    command: "config schema",
    input: z.object({}),
    output: z.looseObject({ $schema: z.string() }),
    route: { method: "GET", path: `${PATH}/schema` },
    async run() {
      // It takes a while to make, and few ask for it.
      const { configJsonSchema } = await import("../config/json_schema.ts");
      return configJsonSchema();
    },
  }),
};
