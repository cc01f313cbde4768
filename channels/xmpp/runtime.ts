/**
 * Chats and rooms of an XMPP account.
 *
 * @module
 */

import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import {
  PlatformChannel,
  type PlatformSession,
  readCaCerts,
} from "../../lib/channel/platform/mod.ts";
import { foldAddresses } from "./client/jid.ts";
import type { HeardMessage } from "./messages/heard_message.ts";
import { type XmppConfig, type XmppSettings, xmppSettings } from "./settings.ts";
import { type PostedMessage, type UploadedFile, XmppDriver } from "./xmpp_driver.ts";

export class XmppChannel
  extends PlatformChannel<XmppConfig, HeardMessage, PostedMessage, UploadedFile> {
  protected readonly platform = "XMPP";
  readonly #settings: XmppSettings;

  /** Throws `config_invalid`, naming the field that is wrong. */
  constructor(config: XmppConfig, host: ChannelHost) {
    super({ ...config, allowFrom: foldAddresses(config.allowFrom) }, host);
    this.#settings = xmppSettings(config);
  }

  protected async open(session: PlatformSession<HeardMessage>): Promise<XmppDriver> {
    const settings = this.#settings;
    const caCerts = await readCaCerts(settings.caFile);
    const isListed = (senderId: string) => this.isAllowed(senderId);
    return new XmppDriver({ settings, caCerts, session, isListed });
  }
}
