/** A channel that runs on whoever stops it. */

import { BaseChannel } from "../../channel/base_channel.ts";

export class NeverStops extends BaseChannel {
  isRunning = false;

  start(): Promise<void> {
    this.isRunning = true;
    return new Promise(() => {});
  }

  stop(): Promise<void> {
    return new Promise(() => {});
  }

  send(): Promise<void> {
    return Promise.resolve();
  }
}
