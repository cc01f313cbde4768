/**
 * Secrets over the port: names and scopes are listed, values go in and never out.
 *
 * @module
 */

import { z } from "zod";
import type { OperatorAnswer } from "../../operations/operator.ts";
import type { SecretInfo } from "../../contract/secrets.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Operate } from "../api/approvals.ts";
import { checkSilently } from "./check_silently.ts";
import type { WebRoute } from "./web_route.ts";

/** Where they are. */
const SECRETS_PATH = "/api/webui/secrets";

/** A value of 64 KiB may be six times as long in JSON. */
const MAX_BODY_BYTES = 512 * 1024;

const scope = (what: string) => z.array(z.string(what), `a list of ${what}`).max(100).optional();

/** Of PUT. */
const secretBody = z.strictObject({
  value: z.string("text").describe("8 characters at least, 64 KiB at most; never shown again."),
  hosts: scope("hosts that it may be sent to, such as api.example.com"),
  commands: scope("whole commands that it may be given to, each as text"),
}, "an object with value, and hosts or commands").describe(
  "A secret that is there keeps its hosts and commands where neither is named.",
);

const secretAnswer = z.object({
  name: z.string(),
  hosts: z.array(z.string()),
  commands: z.array(z.string()),
  created_at: z.int().describe("Seconds since 1970"),
  updated_at: z.int(),
});

const uses = {
  keys: z.array(z.string()).describe("Keys of the configuration that refer to it"),
  restart: z.array(z.string()).describe(
    "Those of them for which a running service takes a new value only when it is started again",
  ),
  problems: z.array(z.string()).describe("Why the configuration would not load now"),
};

/** The routes. `operate` asks the authority. */
export function createSecretsRoutes({ operate }: { operate: Operate }): WebRoute[] {
  const list = async (caller: Parameters<Operate>[1]) =>
    await operate({ op: "secrets.list" }, caller) as Extract<
      OperatorAnswer,
      { secrets: unknown }
    >;
  return [
    {
      method: "GET",
      path: SECRETS_PATH,
      scope: "secrets",
      summary: "Names and scopes of secrets",
      docs: {
        answer: z.object({
          secrets: z.array(secretAnswer),
          damaged: z.string().nullable().describe("Why no value can be read, if so"),
        }),
      },
      async handle({ caller }) {
        const { secrets, damaged = null } = await list(caller.credential);
        return Response.json({ secrets: secrets.map(toWire), damaged });
      },
    },
    {
      method: "GET",
      path: `${SECRETS_PATH}/:name`,
      scope: "secrets",
      summary: "Name and scope of one secret",
      docs: { answer: secretAnswer, errors: ["not_found"] },
      async handle({ caller, params }) {
        const { secrets } = await list(caller.credential);
        const found = secrets.find(({ name }) => name === params.name);
        if (found !== undefined) return Response.json(toWire(found));
        // The value itself may stand in the name's place, so that is not repeated.
        throw new ServiceError("not_found", "There is no secret of this name", { param: "name" });
      },
    },
    {
      method: "PUT",
      path: `${SECRETS_PATH}/:name`,
      scope: "secrets",
      summary: "Set a secret, or set it anew",
      maxBodyBytes: MAX_BODY_BYTES,
      docs: { body: secretBody, answer: secretAnswer.extend(uses) },
      async handle({ caller, params, body }) {
        const { value, hosts, commands } = checkSilently(secretBody, await body(z.unknown()));
        const { secret, uses } = await operate(
          { op: "secrets.set", name: params.name!, value, hosts, commands },
          caller.credential,
        ) as Extract<OperatorAnswer, { secret: unknown }>;
        return Response.json({ ...toWire(secret), ...uses });
      },
    },
    {
      method: "DELETE",
      path: `${SECRETS_PATH}/:name`,
      scope: "secrets",
      summary: "Remove a secret",
      docs: {
        answer: z.object({ name: z.string(), removed: z.literal(true), ...uses }),
        errors: ["not_found"],
      },
      async handle({ caller, params }) {
        const { removedSecret, uses } = await operate(
          { op: "secrets.remove", name: params.name! },
          caller.credential,
        ) as Extract<OperatorAnswer, { removedSecret: unknown }>;
        return Response.json({ name: removedSecret, removed: true, ...uses });
      },
    },
  ];
}

function toWire({ name, hosts, commands, createdAt, updatedAt }: SecretInfo) {
  return {
    name,
    hosts,
    commands,
    created_at: Math.floor(createdAt / 1000),
    updated_at: Math.floor(updatedAt / 1000),
  };
}
