/**
 * How channels are in the gateway that runs them.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import type { ChannelStatus } from "../channel/channel_status.ts";
import type { Published } from "../contract/inbound_message.ts";
import type { MissedRow } from "../contract/journal.ts";
import { instanceStatusSchema, instanceStatusToWire } from "./channels/channel_schemas.ts";
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
  };
}

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
