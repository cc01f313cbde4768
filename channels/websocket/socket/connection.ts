/**
 * One client's connection, as the wire protocol sees it. The socket underneath, its queue, its pings and
 * its end are the business of this folder.
 *
 * @module
 */

import type { Peer } from "../../../lib/channel/socket_host.ts";
import type { OutFrame } from "./out_frame.ts";

/** What a client sent: a whole message. A text is valid UTF-8. */
export type InMessage = { text: string } | { binary: Uint8Array };

/**
 * Told each message, in order. A returned promise says that the message is still being worked on: past
 * a bound of such messages nothing more is read from the client until some are done. Later messages are
 * delivered meanwhile, so whoever needs order keeps it himself. A throw or rejection closes the
 * connection with 1011 and is logged.
 */
export type MessageListener = (message: InMessage) => void | Promise<void>;

export interface Connection {
  /** Who was let in. */
  readonly peer: Peer;
  /** Direct TCP peer, or `unix`. */
  readonly peerAddress: string;
  /**
   * Sends a frame after those before it. It never blocks: while the client is slow, frames queue, and
   * the pieces of one stream merge. Past 256 frames or 8 MiB the connection is closed with 1013. After the
   * end it does nothing.
   */
  send(frame: OutFrame): void;
  /**
   * Resolves when nearly nothing is queued any more, or the connection has ended; at once if so. Whoever
   * replays waits for it between frames, so that a long replay does not look like a slow reader. What is
   * live does not wait.
   */
  whenDrained(): Promise<void>;
  /**
   * Says goodbye; at most 123 bytes of reason are sent. What was queued before goes out first. A client
   * that does not answer is cut after a while.
   */
  close(code: number, reason: string): void;
  /**
   * Aborts when the connection has ended, whichever way. Everything done for it stops with it. Made when
   * it is first asked for, because an idle connection would hold little else as dear.
   */
  readonly closed: AbortSignal;
  /** Sets who is told that the connection has ended. One listener, set while it is open. */
  onEnd(listener: () => void): void;
  /** Sets who is told messages. One listener, set before the first is read. */
  onMessage(listener: MessageListener): void;
}
