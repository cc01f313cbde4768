/**
 * What the service gives to a channel's runtime: the same in its own process, in the service and in a
 * test.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { InboundMessage, Published } from "../contract/inbound_message.ts";
import type { IntakeStore } from "../contract/intake_store.ts";

/** An HTTP server of a channel, for platforms that post what happens. */
export interface ChannelListener {
  /** Such as `http://127.0.0.1:8780`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Somebody whom `allowFrom` does not list, and who wrote to the bot alone. */
export interface MetStranger {
  /** As of a message. */
  senderId: string;
  senderName?: string;
  /** Where they read an answer, and nobody else. */
  chatId: string;
}

export interface ChannelHost {
  /** Runtime name: the channel's, or `<channel>.<instance>`. */
  readonly name: string;
  /**
   * A folder of its own that outlives restarts, for cursors, login states and files that came with
   * messages. Nothing else writes there.
   */
  readonly stateDir: string;
  /**
   * 32 bytes by which a library encrypts what it keeps there: the same at each start, for as long as the home
   * has the key of its secrets. Absent where that can't be read.
   */
  readonly stateKey?: Uint8Array;
  /** Where what it has heard waits, in the service's journal. One call of `add` at a time. */
  readonly intake: IntakeStore;
  /**
   * Resolves when the message is on the disk. Waits while its session has too much to do, so that whoever
   * awaits it slows down whoever sends. Rejects when it could not be accepted; it is then on no record.
   */
  publish(message: InboundMessage): Promise<Published>;
  /**
   * To be told of somebody who is not allowed and wrote in a chat with the bot alone: they may be given a
   * code, with which an operator lets them write. What they wrote is kept by nobody.
   */
  meet(stranger: MetStranger): void;
  /** What is said in an audio file of `stateDir`. Rejects with `not_enabled` while that is off. */
  transcribe(path: string): Promise<string>;
  /**
   * How the connection to the platform is, for people who look: such as `connected as @mybot`. Shown as
   * long as no other is set; cut to 200 characters.
   */
  setDetail(detail: string): void;
  /**
   * What somebody should look into, shown behind the detail for as long as it is so: such as `2 messages
   * could not be taken`; "" when it is no longer. Cut to 100 characters.
   */
  setNote(note: string): void;
  /** Serves HTTP at an address that the manifest's permissions name. Limits and time-outs are built in. */
  listen(
    address: { host: string; port: number },
    handler: (request: Request) => Promise<Response>,
  ): Promise<ChannelListener>;
  /** Writes to the service's log under the runtime name; secrets of its section are taken out. */
  log: Pick<Log, "info" | "warning" | "error">;
  clock: Clock;
}
