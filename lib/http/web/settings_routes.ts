/**
 * The configuration over the port, read and changed through its schema.
 *
 * @module
 */

import { z } from "zod";
import type { OperatorAnswer } from "../../operations/operator.ts";
import type { Setting, SettingsChanged } from "../../operations/upkeep_request.ts";
import type { Operate } from "../api/approvals.ts";
import { checkSilently } from "./check_silently.ts";
import { permissionAnswer, permissionToWire } from "./permissions_routes.ts";
import type { WebRoute } from "./web_route.ts";

/** Where they are. */
const SETTINGS_PATH = "/api/webui/settings";

const MAX_CHANGES = 100;
const MAX_BODY_BYTES = 512 * 1024;

const settingAnswer = z.object({
  path: z.string(),
  value: z.unknown().optional().describe("A secret as ********, a reference as it is written"),
  default: z.unknown().optional(),
  description: z.string().nullable(),
  takes: z.enum(["live", "restart"]),
  secret: z.boolean(),
  is_set: z.boolean(),
  source: z.enum(["default", "file", "environment", "secret"]),
  editable: z.boolean().describe("Whether PUT takes it"),
});

const settingsAnswer = z.object({
  file: z.string(),
  settings: z.array(settingAnswer),
  waiting: z.array(z.string()).describe("Keys whose value in the file waits for a restart"),
  problems: z.array(z.string()).describe(
    "Why the file would not load; the settings are then those that loaded last",
  ),
});

/** Of PUT. */
const settingsBody = z.strictObject({
  changes: z.array(
    z.strictObject({
      path: z.string("a key such as agent.maxSteps").min(1, "a key such as agent.maxSteps")
        .max(500, "a key of at most 500 characters"),
      value: z.json("any JSON").describe(
        "null takes the key out; a blank text for a secret keeps the one that is stored",
      ),
    }, "an object with path and value"),
    `a list of 1 to ${MAX_CHANGES} changes`,
  ).min(1, `a list of 1 to ${MAX_CHANGES} changes`)
    .max(MAX_CHANGES, `a list of 1 to ${MAX_CHANGES} changes`),
}, "an object with changes").describe("All of it, or nothing.");

const changedAnswer = z.object({
  written: z.boolean().describe("false: the file held all of it already"),
  live: z.array(z.string()).describe("Keys that are in force"),
  restart_required: z.object({
    keys: z.array(z.string()),
    permissions: z.object({
      added: z.array(permissionAnswer),
      removed: z.array(permissionAnswer),
    }),
  }).nullable().describe("Keys that wait for a restart, and what it would change"),
});

/** The routes. `operate` asks the authority. */
export function createSettingsRoutes({ operate }: { operate: Operate }): WebRoute[] {
  return [
    {
      method: "GET",
      path: SETTINGS_PATH,
      scope: "read",
      summary: "Every key of the configuration, without secrets",
      docs: { answer: settingsAnswer },
      async handle({ caller }) {
        const { settings: view } = await operate(
          { op: "settings.get" },
          caller.credential,
        ) as Extract<OperatorAnswer, { settings: unknown }>;
        const { file, settings, waiting, problems } = view;
        return Response.json({ file, settings: settings.map(settingToWire), waiting, problems });
      },
    },
    {
      method: "GET",
      path: `${SETTINGS_PATH}/schema`,
      scope: "read",
      summary: "The JSON Schema of the configuration",
      docs: { answer: z.looseObject({ $schema: z.string() }) },
      async handle() {
        // It takes a while to make, and few ask for it.
        const { configJsonSchema } = await import("../../config/json_schema.ts");
        return Response.json(configJsonSchema());
      },
    },
    {
      method: "PUT",
      path: SETTINGS_PATH,
      scope: "operate",
      summary: "Change keys of the configuration",
      maxBodyBytes: MAX_BODY_BYTES,
      docs: { body: settingsBody, answer: changedAnswer, errors: ["refused", "overloaded"] },
      async handle({ caller, body }) {
        const { changes } = checkSilently(settingsBody, await body(z.unknown()));
        const { changed } = await operate(
          { op: "settings.change", changes },
          caller.credential,
        ) as Extract<OperatorAnswer, { changed: unknown }>;
        return Response.json(changedToWire(changed));
      },
    },
  ];
}

function settingToWire({ isSet, description, ...setting }: Setting) {
  return { ...setting, description: description ?? null, is_set: isSet };
}

function changedToWire({ written, live, restartRequired }: SettingsChanged) {
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
}
