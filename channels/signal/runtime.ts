/**
 * Chats and groups of a Signal account.
 *
 * @module
 */

import { PlatformChannel, type PlatformSession } from "../../lib/channel/platform/mod.ts";
import type { HeardMessage } from "./inbound/read_envelope.ts";
import type { SignalConfig } from "./settings.ts";
import { SignalDriver, type SignalRef } from "./signal_driver.ts";

export class SignalChannel extends PlatformChannel<SignalConfig, HeardMessage, SignalRef> {
  protected readonly platform = "Signal";

  protected open(session: PlatformSession<HeardMessage>): Promise<SignalDriver> {
    return Promise.resolve(new SignalDriver(this.config, session));
  }
}
