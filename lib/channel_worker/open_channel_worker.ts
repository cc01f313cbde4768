/**
 * How the service gets a worker for a channel: a process that the authority starts with the permissions of
 * that channel alone.
 *
 * @module
 */

import type { ByteStreams } from "../rpc/stream_transport.ts";

/** A worker that was started. */
export interface ChannelWorker {
  /** Frames of a peer: the channel is the other end (`protocol.ts`). They end after `ended` is told. */
  readonly streams: ByteStreams;
  /** Ends it by force. Nothing if it is gone. */
  close(): void;
  /** Resolves with why, when it is gone without having been closed. */
  readonly ended: Promise<string>;
}

/**
 * Opens one for an instance as it is configured now. Rejects with a ServiceError whose message is for
 * people: packages that could not be fetched, a section that is wrong.
 */
export type OpenChannelWorker = (runtimeName: string) => Promise<ChannelWorker>;
