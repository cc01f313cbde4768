/**
 * A channel that serves connections itself, in the service.
 *
 * @module
 */

import type { WebsocketConfig } from "../config/schema.ts";
import type { Channel } from "./channel.ts";
import type { OpenPort, SocketHost } from "./socket_host.ts";
import type { ChannelFlags } from "./with_channel_flags.ts";

export interface SocketChannel extends Channel {
  /** The port, as soon as it is open; rejects when it cannot be opened. */
  readonly port: Promise<OpenPort>;
  /** Connections that are open, and the chats that they follow, each as often as it is followed. */
  counts(): { open: number; chats: number };
}

/** How one is made. */
export type SocketChannelClass = new (
  config: WebsocketConfig & ChannelFlags,
  host: SocketHost,
) => SocketChannel;
