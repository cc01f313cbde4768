/**
 * Channels as they are on the wire, and from listings to that.
 *
 * @module
 */

import { z } from "zod";
import type { ChannelListing } from "./channel_listing.ts";
import type { ChannelStatus } from "../../channel/channel_status.ts";
import type { SetupFinding } from "../../channel/descriptor.ts";
import { seconds, toWire } from "../fields.ts";

const count = z.int().min(0);

const values = z.record(z.string(), z.unknown()).describe(
  "By field. References as they are written, secrets not at all.",
);

const fieldAnswer = z.object({
  kind: z.enum(["string", "secret", "int", "bool", "list", "enum"]),
  format: z.enum(["url", "host", "phone", "token"]).optional().describe("What a text has to be."),
  form: z.object({
    pattern: z.string().describe("An expression as that of `pattern` in HTML."),
    expected: z.string().describe("What is right, for people."),
  }).optional().describe("What a text, or each of a list, has to look like."),
  default: z.unknown().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  choices: z.array(z.string()).optional(),
  label: z.string().optional(),
});

const statusAnswer = z.object({
  state: z.enum(["off", "starting", "running", "waiting", "failed", "stopping"]).describe(
    "failed: it cannot start as it is configured; waiting: it is to be started again.",
  ),
  detail: z.string().optional().describe("What it says of itself."),
  problem: z.string().optional().describe("What went wrong last, and what to do."),
  since: seconds.describe("Seconds since 1970 at which it came into this state."),
  restarts: count.describe("How often it was started again since it was enabled."),
  deliveries: z.object({
    waiting: count,
    retrying: count.describe("Of those, the ones that have failed and are tried again."),
    sent: count.describe("Since the start of the service."),
    unknown: count.describe("May have been sent; somebody decides: service outbox."),
    dead: count,
  }),
  missed: count.describe("Messages that came too late to be answered, and are listed."),
});

/** How an instance is that the gateway runs. */
export const instanceStatusSchema = z.object({
  channel: z.string(),
  runtime_name: z.string(),
  instance_id: z.string().optional(),
  display_name: z.string(),
}).extend(statusAnswer.shape);

const instanceAnswer = z.object({
  id: z.string(),
  runtime_name: z.string(),
  enabled: z.boolean(),
  configured: z.boolean(),
  missing: z.array(z.string()),
  problem: z.string().optional(),
  config_values: values,
  configured_fields: z.array(z.string()),
  local_state_present: z.boolean().optional().describe("Whether a login is kept on this machine."),
  name: z.string().optional(),
  display_name: z.string().optional(),
  avatar_url: z.string().optional(),
  status: statusAnswer.optional(),
});

/** A channel. */
export const channelSchema = z.object({
  name: z.string(),
  display_name: z.string(),
  enabled: z.boolean(),
  configured: z.boolean().describe("Nothing is missing in what is switched on."),
  missing: z.array(z.string()).describe("What has to be set, such as `token, or tokenFile`."),
  problem: z.string().optional().describe("Why it cannot be used."),
  fields: z.record(z.string(), fieldAnswer),
  summary: z.string().optional().describe("What it is and what it takes, in a line."),
  steps: z.array(z.string()).describe("How it is set up, in their order; may be empty."),
  locale: z.string().describe("The language of labels, display_name, summary and steps."),
  locales: z.array(z.string()).describe("Languages that there are."),
  locale_problem: z.string().optional().describe("Why the one that was asked for is not used."),
  capabilities: z.array(z.string()),
  connects: z.boolean().describe("Whether it can be connected interactively."),
  multi_instance: z.boolean(),
  config_values: values,
  configured_fields: z.array(z.string()).describe(
    "Fields that have a value of their own, secrets included.",
  ),
  instances: z.array(instanceAnswer).describe("`default` is that of a channel that has one."),
  status: statusAnswer.optional().describe("Of the instance that is called like the channel."),
}).describe("A channel; no secret is in it.");

/** What is wrong with settings. */
export const findingSchema = z.object({
  level: z.enum(["error", "warning"]),
  field: z.string().optional(),
  message: z.string(),
});

/** What became of a change. */
export const changedChannelSchema = z.object({
  channel: channelSchema,
  findings: z.array(findingSchema).describe("Warnings about what was written."),
});

/** How a connection stands. */
export const connectSchema = z.object({
  state: z.enum(["waiting", "connected", "failed", "cancelled"]),
  message: z.string().describe("For people: what to do next, or what went wrong."),
  show: z.object({
    code: z.string().optional(),
    qr: z.string().optional().describe("The text of a QR code."),
    url: z.string().optional(),
  }).optional(),
  asks: z.string().optional().describe(
    "What to type, as the label of a field; it goes to `poll` as `answer`.",
  ),
}).describe("What it brought is written, and never shown.");

/** A channel on the wire. */
export type WireChannel = z.infer<typeof channelSchema>;

/** A listing; how its instances are at the moment is not in it yet. */
export function channelToWire({ instances, ...listing }: ChannelListing): WireChannel {
  return toWire(channelSchema, {
    ...listing,
    instances: instances.map((each) => toWire(instanceAnswer, each)),
  });
}

/** A finding, without what is absent. */
export function findingToWire(finding: SetupFinding) {
  return toWire(findingSchema, finding);
}

/** The channel with how its instances are at the moment. */
export function withStatus(channel: WireChannel, statuses: readonly ChannelStatus[]): WireChannel {
  const statusOf = (runtimeName: string) => {
    const status = statuses.find((each) => each.runtimeName === runtimeName);
    return status && { status: statusToWire(status) };
  };
  return {
    ...channel,
    instances: channel.instances.map((one) => ({ ...one, ...statusOf(one.runtime_name) })),
    ...statusOf(channel.name),
  };
}

/** As {@linkcode instanceStatusSchema} has it. */
export function instanceStatusToWire(status: ChannelStatus): z.infer<typeof instanceStatusSchema> {
  return toWire(instanceStatusSchema, { ...status, missed: status.missed ?? 0 });
}

function statusToWire(status: ChannelStatus): z.infer<typeof statusAnswer> {
  return toWire(statusAnswer, { ...status, missed: status.missed ?? 0 });
}
