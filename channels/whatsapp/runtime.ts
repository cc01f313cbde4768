/**
 * The WhatsApp channel: a linked device of an account, by a client that WhatsApp has not made.
 *
 * @module
 */

import { PlatformChannel, type PlatformSession } from "../../lib/channel/platform/mod.ts";
import { toDeliveryError } from "./delivery_fault.ts";
import type { HeardItem } from "./heard_message.ts";
import { LoginStore } from "./login_store.ts";
import type { UploadedFile } from "./media.ts";
import type { WhatsAppConfig } from "./settings.ts";
import { type PostedMessage, WhatsAppDriver } from "./whatsapp_driver.ts";

export class WhatsAppChannel
  extends PlatformChannel<WhatsAppConfig, HeardItem, PostedMessage, UploadedFile> {
  protected readonly platform = "WhatsApp";

  protected open(session: PlatformSession<HeardItem>): Promise<WhatsAppDriver> {
    return WhatsAppDriver.open({ settings: this.config, session });
  }

  protected override classify(error: unknown): unknown {
    return toDeliveryError(error);
  }

  /** By `connect.ts`; here it is looked whether that has been done. */
  override login(): Promise<boolean> {
    return LoginStore.has(this.host.stateDir, this.config.login);
  }
}
