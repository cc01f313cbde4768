/**
 * Channels over the port: how they are, what can be set of them, and how they are connected.
 * The authority does it, and checks the caller's credential again; how a channel is at the moment the
 * service knows.
 *
 * @module
 */

import { z } from "zod";
import {
  MAX_LOCALE_CHARS,
  MAX_QUERY_CHARS,
} from "../../operations/channels/check_channel_request.ts";
import type { OperatorAnswer } from "../../operations/operator.ts";
import type { ChannelStatus } from "../../channel/channel_status.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Operate } from "../api/approvals.ts";
import { hasBody } from "../guard.ts";
import {
  changedChannelAnswer,
  channelAnswer,
  channelToWire,
  connectAnswer,
  findingAnswer,
  findingToWire,
} from "./channel_schemas.ts";
import { checkSilently } from "./check_silently.ts";
import { readQuery } from "./query_params.ts";
import type { WebCall, WebRoute } from "./web_route.ts";

/** Where they are. */
export const CHANNELS_PATH = "/api/settings/channels";

/** What the routes need. */
export interface ChannelsRoutesDeps {
  /** Asks the authority. */
  operate: Operate;
  /** How every instance is at the moment, asked each time. */
  statuses: () => readonly ChannelStatus[];
}

const MAX_BODY_BYTES = 1024 * 1024;

const MAX_ID_CHARS = 128;
const instanceId = z.string(`a text of at most ${MAX_ID_CHARS} characters`).max(
  MAX_ID_CHARS,
  `a text of at most ${MAX_ID_CHARS} characters`,
).optional().describe("By default the channel, or its instance `default`.");

/** Of PUT and of validate. */
export const channelValuesBody = z.strictObject({
  values: z.record(z.string(), z.json("any JSON"), "an object of values by field").describe(
    "A blank secret keeps the stored one, null takes a value out. Lists may be texts with commas.",
  ),
  instance_id: instanceId,
}, "an object with values").describe("All of it, or nothing.");

/** Of enable and disable. */
export const channelSwitchBody = z.strictObject(
  { instance_id: instanceId },
  "an object with instance_id, or no body",
).describe("May be absent.");

/** Of the connect routes. */
export const connectBody = z.record(
  z.string(),
  z.string(`a text of at most ${MAX_QUERY_CHARS} characters`).max(
    MAX_QUERY_CHARS,
    `a text of at most ${MAX_QUERY_CHARS} characters`,
  ),
  "an object of texts",
).describe(
  "What the channel's connector wants to know, beside the parameters of the query; `instance_id` names " +
    "an instance. May be absent.",
);

/** Of the list. */
export const channelsQuery = z.object({
  locale: z.string().max(MAX_LOCALE_CHARS, `at most ${MAX_LOCALE_CHARS} characters`).optional()
    .describe("A language such as `de`; what a channel does not have in it is English."),
});

const changeErrors = ["not_found", "refused", "overloaded"] as const;

type Changed = Extract<OperatorAnswer, { channel: unknown }>;

/** The routes. */
export function createChannelsRoutes(deps: ChannelsRoutesDeps): WebRoute[] {
  const { operate, statuses } = deps;
  return [
    {
      method: "GET",
      path: CHANNELS_PATH,
      scope: "read",
      summary: "Every channel: its settings without secrets, and how it is",
      docs: { query: channelsQuery, answer: z.object({ channels: z.array(channelAnswer) }) },
      async handle({ caller, query }) {
        const { channels } = await operate(
          { op: "channels.list", ...readQuery(channelsQuery, query) },
          caller.credential,
        ) as Extract<OperatorAnswer, { channels: unknown }>;
        const now = statuses();
        return Response.json({ channels: channels.map((each) => channelToWire(each, now)) });
      },
    },
    ...valueRoutes(deps),
    switchRoute(deps, "enable", "Switch a channel, or one instance of it, on"),
    switchRoute(deps, "disable", "Switch a channel, or one instance of it, off"),
    connectRoute(deps, "POST", "start", "Begin to connect a channel interactively"),
    connectRoute(deps, "GET", "poll", "How far the connection is; one that succeeds is written"),
    connectRoute(deps, "POST", "poll", "The same, with more to say to the connector"),
    connectRoute(deps, "POST", "cancel", "End the connection"),
  ];
}

/** What to try, and what to set, of a channel. */
function valueRoutes({ operate, statuses }: ChannelsRoutesDeps): WebRoute[] {
  return [
    {
      method: "POST",
      path: `${CHANNELS_PATH}/:name/validate`,
      scope: "operate",
      summary: "What the settings of a channel would lack or get wrong with these values",
      maxBodyBytes: MAX_BODY_BYTES,
      docs: {
        body: channelValuesBody,
        answer: z.object({ findings: z.array(findingAnswer) }),
        errors: changeErrors,
      },
      async handle({ caller, params, body }) {
        const { values, instance_id } = checkSilently(channelValuesBody, await body(z.unknown()));
        const { findings } = await operate(
          { op: "channels.validate", name: params.name!, values, instanceId: instance_id },
          caller.credential,
        ) as Extract<OperatorAnswer, { findings: unknown }>;
        return Response.json({ findings: findings.map(findingToWire) });
      },
    },
    {
      method: "PUT",
      path: `${CHANNELS_PATH}/:name`,
      scope: "operate",
      summary: "Set values of a channel",
      maxBodyBytes: MAX_BODY_BYTES,
      docs: { body: channelValuesBody, answer: changedChannelAnswer, errors: changeErrors },
      async handle({ caller, params, body }) {
        const { values, instance_id } = checkSilently(channelValuesBody, await body(z.unknown()));
        const changed = await operate(
          { op: "channels.set", name: params.name!, values, instanceId: instance_id },
          caller.credential,
        );
        return changedToWire(changed as Changed, statuses());
      },
    },
  ];
}

function switchRoute(
  { operate, statuses }: ChannelsRoutesDeps,
  action: "enable" | "disable",
  summary: string,
): WebRoute {
  return {
    method: "POST",
    path: `${CHANNELS_PATH}/:name/${action}`,
    scope: "operate",
    summary,
    docs: { body: channelSwitchBody, answer: changedChannelAnswer, errors: changeErrors },
    async handle(call) {
      const { instance_id } = await bodyOr(call, channelSwitchBody, {});
      const changed = await operate(
        { op: `channels.${action}`, name: call.params.name!, instanceId: instance_id },
        call.caller.credential,
      );
      return changedToWire(changed as Changed, statuses());
    },
  };
}

function connectRoute(
  { operate }: ChannelsRoutesDeps,
  method: "GET" | "POST",
  action: "start" | "poll" | "cancel",
  summary: string,
): WebRoute {
  return {
    method,
    path: `${CHANNELS_PATH}/:name/connect/${action}`,
    // A code that is shown connects whoever has it first, so nobody else sees one.
    scope: "operate",
    summary,
    docs: {
      ...method === "POST" && { body: connectBody },
      answer: connectAnswer,
      errors: ["not_found", "conflict"],
    },
    async handle(call) {
      const more = method === "GET" ? {} : await bodyOr(call, connectBody, {});
      const query = { ...textsOf(call.query), ...more };
      const { connect } = await operate(
        { op: "channels.connect", name: call.params.name!, action, query },
        call.caller.credential,
      ) as Extract<OperatorAnswer, { connect: unknown }>;
      const { state, message, show } = connect;
      return Response.json({ state, message, ...show !== undefined && { show } });
    },
  };
}

function changedToWire(
  { channel, findings }: Changed,
  statuses: readonly ChannelStatus[],
): Response {
  return Response.json({
    channel: channelToWire(channel, statuses),
    findings: findings.map(findingToWire),
  });
}

/** The body, checked, or what stands for none. */
async function bodyOr<T>(call: WebCall, schema: z.ZodType<T>, none: T): Promise<T> {
  if (!hasBody(call.request)) return none;
  return checkSilently(schema, await call.body(z.unknown()));
}

function textsOf(query: URLSearchParams): Record<string, string> {
  const texts = new Map<string, string>();
  for (const [name, value] of query) {
    if (texts.has(name)) {
      throw new ServiceError("invalid_request", "Each parameter may be given once", {
        param: "query",
      });
    }
    texts.set(name, value);
  }
  return Object.fromEntries(texts);
}
