/**
 * Channels: their settings without secrets, what is set of them, and how they are connected. How a
 * channel is at the moment the gateway adds.
 *
 * @module
 */

import { z } from "zod";
import type { ChangedListing } from "./channels/channel_listing.ts";
import {
  changedChannelSchema,
  channelSchema,
  channelToWire,
  connectSchema,
  findingSchema,
  findingToWire,
  withStatus,
} from "./channels/channel_schemas.ts";
import { type GatewayParts, operation } from "./operation.ts";
import { enabled } from "./parts.ts";

/** Where they are. */
export const CHANNELS_PATH = "/api/settings/channels";

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_QUERY_CHARS = 4_000;
const MAX_LOCALE_CHARS = 64;

const atMost = (chars: number) => `a text of at most ${chars} characters`;
const name = z.string(atMost(128)).max(128, atMost(128));
const instance = {
  name,
  instance_id: name.optional().describe("By default the channel, or its instance `default`."),
};
const values = z.record(z.string().max(200), z.json("any JSON"), "an object of values by field")
  .describe(
    "A blank secret keeps the stored one, null takes a value out. Lists may be texts with commas.",
  );
const valuesInput = z.strictObject({ ...instance, values }, "an object with values")
  .describe("All of it, or nothing.");
const switchInput = z.strictObject(instance, "an object with instance_id, or no body")
  .describe("May be absent.");
const connectInput = z.object({ name }, "an object of texts").catchall(
  z.string(atMost(MAX_QUERY_CHARS)).max(MAX_QUERY_CHARS, atMost(MAX_QUERY_CHARS)),
).describe(
  "What the channel's connector wants to know, beside the parameters of the query; `instance_id` names " +
    "an instance. May be absent.",
);

const errors = ["not_found", "refused", "overloaded"] as const;

/** Operations on channels. */
export const CHANNELS = {
  "channels.list": operation({
    summary: "List channels and their state",
    scope: "read",
    command: "plugins list",
    input: z.object({
      locale: z.string(atMost(MAX_LOCALE_CHARS)).max(MAX_LOCALE_CHARS, atMost(MAX_LOCALE_CHARS))
        .optional()
        .describe("A language such as `de`; what a channel does not have in it is English."),
    }),
    output: z.object({ channels: z.array(channelSchema) }),
    route: { method: "GET", path: CHANNELS_PATH },
    run: async ({ locale }, parts) => ({
      channels: (await enabled(parts.channels).list(locale)).map(channelToWire),
    }),
    complete: ({ channels }, gateway) => ({
      channels: channels.map((each) => withStatus(each, statusesOf(gateway))),
    }),
  }),
  "channels.validate": operation({
    summary: "What the settings of a channel would lack or get wrong with these values",
    scope: "operate",
    input: valuesInput,
    output: z.object({ findings: z.array(findingSchema) }),
    confidential: true,
    route: {
      method: "POST",
      path: `${CHANNELS_PATH}/:name/validate`,
      errors,
      maxBodyBytes: MAX_BODY_BYTES,
    },
    async run({ instance_id: instanceId, ...asked }, parts) {
      const findings = await enabled(parts.channels).validate({ instanceId, ...asked });
      return { findings: findings.map(findingToWire) };
    },
  }),
  "channels.set": operation({
    summary: "Set values of a channel",
    scope: "operate",
    command: "config set",
    input: valuesInput,
    output: changedChannelSchema,
    confidential: true,
    route: {
      method: "PUT",
      path: `${CHANNELS_PATH}/:name`,
      errors,
      maxBodyBytes: MAX_BODY_BYTES,
    },
    run: async ({ instance_id: instanceId, ...asked }, parts, { by }) =>
      changedToWire(await enabled(parts.channels).set({ instanceId, ...asked }, by)),
    complete: changedNow,
  }),
  "channels.enable": switching("enable", "Enable a channel, or one instance of it"),
  "channels.disable": switching("disable", "Disable a channel, or one instance of it"),
  "channels.connect.start": connecting("POST", "start", "Begin to connect a channel interactively"),
  "channels.connect.poll": connecting(
    "GET",
    "poll",
    "How far the connection is; one that succeeds is written",
  ),
  "channels.connect.answer": connecting(
    "POST",
    "poll",
    "The same, with more to say to the connector",
  ),
  "channels.connect.cancel": connecting("POST", "cancel", "End the connection"),
};

function switching(word: "enable" | "disable", summary: string) {
  return operation({
    summary,
    scope: "operate",
    command: `plugins ${word}`,
    input: switchInput,
    output: changedChannelSchema,
    confidential: true,
    route: { method: "POST", path: `${CHANNELS_PATH}/:name/${word}`, errors },
    async run({ name, instance_id: instanceId }, parts, { by }) {
      const channels = enabled(parts.channels);
      return changedToWire(await channels.switchTo(word === "enable", { name, instanceId }, by));
    },
    complete: changedNow,
  });
}

function connecting(method: "GET" | "POST", action: "start" | "poll" | "cancel", summary: string) {
  return operation({
    summary,
    // Whoever has a code first connects the channel, so nobody else is shown one.
    scope: "operate",
    command: "channels login",
    input: connectInput,
    output: connectSchema,
    confidential: true,
    route: {
      method,
      path: `${CHANNELS_PATH}/:name/connect/${action}`,
      takesQuery: true,
      errors: ["not_found", "conflict", "overloaded"],
    },
    async run({ name, ...query }, parts, { by }) {
      return await enabled(parts.channels).connect({ name, action, query, by });
    },
  });
}

function statusesOf({ channels }: GatewayParts) {
  return channels?.status() ?? [];
}

function changedNow(
  { channel, findings }: z.output<typeof changedChannelSchema>,
  gateway: GatewayParts,
) {
  return { channel: withStatus(channel, statusesOf(gateway)), findings };
}

function changedToWire({ channel, findings }: ChangedListing) {
  return { channel: channelToWire(channel), findings: findings.map(findingToWire) };
}
