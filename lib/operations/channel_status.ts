/**
 * How channels are in the gateway that runs them.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import type { ChannelStatus } from "../channel/channel_status.ts";
import type { Verification, VerifyAction } from "../channel/verification.ts";
import type { Published } from "../contract/inbound_message.ts";
import type { MissedRow } from "../contract/journal.ts";
import { instanceStatusSchema, instanceStatusToWire } from "./channels/channel_schemas.ts";
import { toWire } from "./fields.ts";
import { gatewayOperation, type GatewayParts } from "./operation.ts";

/** What these work on. */
export interface ChannelParts {
  /** Absent where none runs, as in a command. */
  channels?: {
    /** How each instance is, those too that are switched off; websocket left out. */
    status(): readonly ChannelStatus[];
    /** Takes a message that came too late as if it had just come; rejects with what is wrong. */
    answerMissed(
      row: MissedRow,
      signal: AbortSignal,
    ): Promise<Exclude<Published, { kind: "edit" }>>;
    /** As `BaseChannel.verify`; rejects with what is wrong. */
    verify(runtimeName: string, action: VerifyAction): Promise<Verification>;
  };
}

const verificationSchema = z.object({
  device_id: z.string().describe("Id of the session."),
  key: z.string().describe("Its public key, as clients show it."),
  is_verified: z.boolean().describe("Whether the account itself vouches for the session."),
  state: z.enum(["idle", "waiting", "compare", "done", "failed"]).describe(
    "idle: no client has asked; compare: look whether the client shows the same emoji.",
  ),
  with: z.string().optional().describe("Whom it is verified with."),
  emoji: z.array(z.object({ symbol: z.string(), name: z.string() })).optional(),
  message: z.string().optional().describe("Why it failed."),
});

/** Operations on running channels. */
export const CHANNEL_STATUS = {
  "channels.status": gatewayOperation({
    summary: "Show the state of channels and their undelivered messages",
    scope: "read",
    command: "channels status",
    input: z.object({}),
    output: z.object({ channels: z.array(instanceStatusSchema) }),
    run: (_, parts) => ({ channels: channelStatuses(parts).map(instanceStatusToWire) }),
  }),
  "channels.verify": gatewayOperation({
    summary: "Verify the session of an encrypted channel with a client that asks for it",
    scope: "operate",
    command: "channels verify",
    input: z.object({
      name: z.string("a text of at most 200 characters").min(1).max(200)
        .describe("Runtime name."),
      action: z.enum(["show", "confirm", "cancel"], "show, confirm or cancel").optional()
        .describe(
          "show: go on, and say how it stands. The others say whether the emoji are the same.",
        ),
    }),
    output: verificationSchema,
    route: {
      method: "POST",
      path: "/api/settings/channels/:name/verify",
      errors: ["not_found", "not_enabled", "refused"],
    },
    run: async ({ name, action = "show" }, parts) =>
      toWire(verificationSchema, await runningChannels(parts).verify(name, action)),
  }),
};

/** How each instance is. Throws as {@linkcode runningChannels}. */
export function channelStatuses(parts: GatewayParts): readonly ChannelStatus[] {
  return runningChannels(parts).status();
}

/** The channels. Throws `not_enabled` where none runs. */
export function runningChannels({ channels }: GatewayParts): NonNullable<GatewayParts["channels"]> {
  if (channels !== undefined) return channels;
  throw new ServiceError(
    "not_enabled",
    "The service that runs has no channels; service start runs one that has",
  );
}
