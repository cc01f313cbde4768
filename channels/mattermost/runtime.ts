/**
 * The Mattermost channel: a bot account that hears over the server's WebSocket and posts over its API.
 *
 * @module
 */

import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import { PlatformChannel, type PlatformSession } from "../../lib/channel/platform/mod.ts";
import { MattermostClient } from "./api/mattermost_client.ts";
import { openHttpClient } from "./api/open_http_client.ts";
import type { HeardPost } from "./inbound/heard_post.ts";
import { MattermostDriver } from "./mattermost_driver.ts";
import type { MattermostConfig } from "./settings.ts";

export class MattermostChannel
  extends PlatformChannel<MattermostConfig, HeardPost, string, { id: string; name: string }> {
  protected readonly platform = "Mattermost";
  #httpClient: Deno.HttpClient | undefined;

  protected async open(session: PlatformSession<HeardPost>): Promise<MattermostDriver> {
    const settings = this.config;
    const httpClient = this.#httpClient ??= await openHttpClient(settings.caFile);
    const { host: { clock }, signal } = session;
    const client = new MattermostClient({ ...settings, httpClient, clock, signal });
    return await MattermostDriver.open({ settings, client, httpClient, session });
  }

  protected override closed(): void {
    this.#httpClient?.close();
  }

  override async login(): Promise<boolean> {
    const httpClient = await openHttpClient(this.config.caFile);
    const { signal } = new AbortController();
    const { clock } = this.host;
    try {
      await new MattermostClient({ ...this.config, httpClient, clock, signal }).getMe();
      return true;
    } catch (error) {
      if (error instanceof LoginRefusedError) return false;
      throw error;
    } finally {
      httpClient?.close();
    }
  }
}
