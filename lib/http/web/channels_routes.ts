/**
 * Channels over the port: operations of the authority, with how every instance is at the moment, which
 * the gateway knows.
 *
 * @module
 */

import type { ChannelStatus } from "../../channel/channel_status.ts";
import { CHANNELS } from "../../operations/channels.ts";
import { type WireChannel, withStatus } from "../../operations/channels/channel_schemas.ts";
import { operationRoutes, type OperationRoutesDeps } from "./operation_routes.ts";
import type { WebRoute } from "./web_route.ts";

/** What the routes need. */
export interface ChannelsRoutesDeps extends OperationRoutesDeps {
  /** How every instance is at the moment, asked each time. */
  statuses: () => readonly ChannelStatus[];
}

/** The routes. */
export function createChannelsRoutes({ operate, statuses }: ChannelsRoutesDeps): WebRoute[] {
  return operationRoutes(CHANNELS, { operate }, (answer) => {
    const { channel, channels } = answer as { channel?: WireChannel; channels?: WireChannel[] };
    const now = statuses();
    return {
      ...answer as object,
      ...channel !== undefined && { channel: withStatus(channel, now) },
      ...channels !== undefined && { channels: channels.map((each) => withStatus(each, now)) },
    };
  });
}
