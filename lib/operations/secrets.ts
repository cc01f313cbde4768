/**
 * Secrets: names and scopes are listed, values go in and never out.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import { seconds, toWire } from "./fields.ts";
import { operation } from "./operation.ts";
import { enabled } from "./parts.ts";

const PATH = "/api/webui/secrets";

/** Longer values are refused by the store, which counts bytes. */
const MAX_VALUE_CHARS = 70_000;

const name = z.string("a name").max(300, "a name");
const scope = (what: string) =>
  z.array(z.string(what).max(10_000, what), `a list of ${what}`).max(100, `at most 100 ${what}`)
    .optional();

const secret = z.object({
  name: z.string(),
  hosts: z.array(z.string()).readonly(),
  commands: z.array(z.string()).readonly(),
  created_at: seconds,
  updated_at: seconds,
});

const uses = {
  keys: z.array(z.string()).describe("Keys of the configuration that refer to it"),
  restart: z.array(z.string()).describe("Those of them that take a new value after a restart"),
  problems: z.array(z.string()).describe("Why the configuration would not load now"),
};

/** Operations on secrets. */
export const SECRETS = {
  "secrets.list": operation({
    summary: "List the names, hosts and commands of secrets",
    scope: "secrets",
    command: "secrets list",
    input: z.object({}),
    output: z.object({
      secrets: z.array(secret),
      damaged: z.string().nullable().describe("Why no value can be read, if so"),
    }),
    route: { method: "GET", path: PATH },
    run(_, parts) {
      const { secrets, damaged = null } = enabled(parts.secrets).list();
      return { secrets: secrets.map((each) => toWire(secret, each)), damaged };
    },
  }),
  "secrets.get": operation({
    summary: "Show the name and scope of a secret",
    scope: "secrets",
    input: z.object({ name }),
    output: secret,
    confidential: true,
    route: { method: "GET", path: `${PATH}/:name`, errors: ["not_found"] },
    run({ name }, parts) {
      const found = enabled(parts.secrets).list().secrets.find((each) => each.name === name);
      if (found !== undefined) return toWire(secret, found);
      // The value itself may stand in the name's place.
      throw new ServiceError("not_found", "No secret of this name", { param: "name" });
    },
  }),
  "secrets.set": operation({
    summary: "Set a secret, or replace its value",
    scope: "secrets",
    command: "secrets set",
    input: z.strictObject({
      name,
      value: z.string("text").max(MAX_VALUE_CHARS, "text of at most 64 KiB").describe(
        "8 characters at least, 64 KiB at most; never shown again.",
      ),
      hosts: scope("hosts that it may be sent to, such as api.example.com"),
      commands: scope("whole commands that it may be given to, each as text"),
    }, "an object with value, and hosts or commands").describe(
      "An existing secret keeps its hosts and commands where neither is named.",
    ),
    output: secret.extend(uses),
    confidential: true,
    // A value of 64 KiB may be six times as long in JSON.
    route: { method: "PUT", path: `${PATH}/:name`, maxBodyBytes: 512 * 1024 },
    async run(input, parts, { by }) {
      const set = await enabled(parts.secrets).set(input, by);
      return { ...toWire(secret, set.secret), ...set.uses };
    },
  }),
  "secrets.remove": operation({
    summary: "Remove a secret",
    scope: "secrets",
    command: "secrets rm",
    input: z.strictObject({ name }),
    output: z.object({ name: z.string(), removed: z.literal(true), ...uses }),
    confidential: true,
    route: { method: "DELETE", path: `${PATH}/:name`, errors: ["not_found"] },
    run: async ({ name }, parts, { by }) => ({
      name,
      removed: true as const,
      ...await enabled(parts.secrets).remove(name, by),
    }),
  }),
};
