/** A channel with a package of a platform, which reads a variable and the machine's name at import. */

import { ImapFlow } from "imapflow";
import os from "node:os";
import { BaseChannel } from "../../channel/base_channel.ts";

export class PackageRuntime extends BaseChannel {
  isRunning = false;

  start(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  send(): Promise<void> {
    return Promise.reject(new Error(`${typeof ImapFlow} on ${os.hostname()}`));
  }
}
