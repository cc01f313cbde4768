/**
 * What every channel is to the service that runs it.
 *
 * @module
 */

import type { OutboundMessage } from "../contract/outbound_message.ts";

/** What the base looks at in a channel's section. */
export interface ChannelConfig {
  /** Ids of senders, compared exactly; `*` for all. Absent or empty: nobody. */
  allowFrom?: readonly string[];
}

/** A channel that runs. Made once for each instance; never started a second time. */
export abstract class Channel<Config extends ChannelConfig = ChannelConfig> {
  /** Runtime name: the channel, or `<channel>.<instance>`. */
  abstract readonly name: string;
  protected readonly config: Config;

  constructor(config: Config) {
    this.config = config;
  }

  /** Runs until `stop` is called; a start that returns or rejects before is a channel that has failed. */
  abstract start(): Promise<void>;

  /** Ends the start; resolves when everything is put away. Does nothing when it has ended. */
  abstract stop(): Promise<void>;

  /**
   * Delivers a message, and resolves when the platform has taken it or there is deliberately nothing to
   * deliver. Rejects otherwise, so that it is tried again: with a
   * `PermanentDeliveryError` when a repeat is of no use.
   */
  abstract send(message: OutboundMessage): Promise<void>;

  /** Whether `start` is at work. `send` may be called then, and rejects for as long as it cannot. */
  abstract get isRunning(): boolean;

  /** True when it is logged in afterwards; `force`: even if it is already. */
  login(_force = false): Promise<boolean> {
    return Promise.resolve(true);
  }

  /** Whether a sender may be heard. Anything that is no list denies. */
  isAllowed(senderId: string): boolean {
    const allowFrom: unknown = this.config.allowFrom;
    if (!Array.isArray(allowFrom)) return false;
    return allowFrom.includes("*") || allowFrom.includes(senderId);
  }

  /**
   * What a runtime is given for fields that neither the section nor the contract has a value for. Who may
   * write, and whether it is on, is never said here.
   */
  static defaultConfig(): Record<string, unknown> {
    return {};
  }
}
