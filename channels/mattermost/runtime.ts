/**
 * The Mattermost channel: a bot account that hears over the server's WebSocket and posts over its API.
 *
 * @module
 */

import { BaseChannel } from "../../lib/channel/base_channel.ts";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import { LoginRefusedError, NotConnectedError } from "../../lib/channel/delivery_error.ts";
import type { OutboundMessage, StreamDelta } from "../../lib/contract/outbound_message.ts";
import { backoffMs, sleep } from "../../lib/channel/platform/mod.ts";
import { ApiError } from "./api/api_error.ts";
import { MattermostClient } from "./api/mattermost_client.ts";
import { openHttpClient } from "./api/open_http_client.ts";
import { serverFacts } from "./connection/server_facts.ts";
import { Session } from "./connection/session.ts";
import manifest from "./manifest.ts";
import { type MattermostConfig, type MattermostSettings, mattermostSettings } from "./settings.ts";

/** A connection that lasts so long was a good one. */
const STEADY_MS = 10_000;

const REFUSED =
  "The server refuses the token: it is wrong, was revoked, or the bot is switched off. " +
  "Make a new one under Integrations > Bot Accounts and set token";

const STRANGER =
  "another program writes with this bot's token: end it, or give it a bot of its own";

/** Between two warnings of the same, milliseconds. */
const WARN_EVERY_MS = 10 * 60_000;

export class MattermostChannel extends BaseChannel<MattermostConfig> {
  readonly #settings: MattermostSettings;
  readonly #stopping = new AbortController();
  #session: Session | undefined;
  #run: Promise<void> | undefined;
  #isRunning = false;
  /** Since when it is connected, by `clock.elapsed`; Infinity while it is not. */
  #readyMs = Infinity;
  #username = "";
  #hasStranger = false;
  #warnedMs = -Infinity;

  /** Throws `config_invalid`, naming the field that is wrong. */
  constructor(config: MattermostConfig, host: ChannelHost) {
    super(config, host);
    this.#settings = mattermostSettings(config);
  }

  override get isRunning(): boolean {
    return this.#isRunning;
  }

  override async login(): Promise<boolean> {
    const httpClient = await openHttpClient(this.#settings.caFile);
    try {
      await this.#clientWith(httpClient).getMe();
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.isLoginRefused) return false;
      throw error;
    } finally {
      httpClient?.close();
    }
  }

  #clientWith(httpClient: Deno.HttpClient | undefined): MattermostClient {
    const { url, token } = this.#settings;
    return new MattermostClient({
      url,
      token,
      httpClient,
      clock: this.host.clock,
      signal: this.#stopping.signal,
      // Whoever waits for events asks then why there is no connection.
      onRefused: () => this.#session?.disconnect("the server refuses the token"),
    });
  }

  override start(): Promise<void> {
    if (this.#run !== undefined) {
      return Promise.reject(new Error("Cannot start the Mattermost channel a second time"));
    }
    return this.#run = this.#serve();
  }

  override async stop(): Promise<void> {
    this.#isRunning = false;
    this.#stopping.abort();
    this.#session?.disconnect("the channel was stopped");
    // What goes wrong is told by start.
    await this.#run?.catch(() => {});
  }

  async #serve(): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    this.#isRunning = true;
    let httpClient: Deno.HttpClient | undefined;
    try {
      httpClient = await openHttpClient(this.#settings.caFile);
      const client = this.#clientWith(httpClient);
      await Deno.mkdir(this.host.stateDir, { recursive: true, mode: 0o700 });
      for (let failures = 0; !signal.aborted;) {
        let retryAfterMs = 0;
        this.#readyMs = Infinity;
        const reason = await this.#connect(client, httpClient).catch((error) => {
          if (!(error instanceof ApiError)) throw error;
          if (error.isLoginRefused) throw new LoginRefusedError(REFUSED);
          retryAfterMs = error.retryAfterMs ?? 0;
          return error.message;
        });
        if (signal.aborted) return;
        // One that ends at once each time is not tried ever faster.
        if (this.host.clock.elapsed() - this.#readyMs >= STEADY_MS) failures = 0;
        const waitMs = Math.max(retryAfterMs, backoffMs(failures += 1));
        this.host.setDetail(`not connected: ${reason}; again in ${Math.ceil(waitMs / 1_000)} s`);
        this.host.log.info("The connection to Mattermost is gone", { reason, waitMs });
        await sleep(waitMs, this.host.clock, signal);
      }
    } finally {
      this.#isRunning = false;
      const session = this.#session;
      this.#session = undefined;
      await session?.close();
      httpClient?.close();
    }
  }

  /** One connection; resolves with why it is over. Rejects with an ApiError, or for good. */
  async #connect(client: MattermostClient, httpClient?: Deno.HttpClient): Promise<string> {
    const { host } = this;
    const place = new URL(this.#settings.url).host;
    host.setDetail(`connecting to ${place}`);
    if (this.#session === undefined) {
      const facts = await serverFacts(client, this.#settings.team);
      if (this.#stopping.signal.aborted) return "";
      this.#username = facts.me.username;
      this.#session = await Session.open({
        settings: this.#settings,
        client,
        httpClient,
        facts,
        host,
        isAllowed: (senderId) => this.isAllowed(senderId),
        handleMessage: (message) => this.handleMessage(message),
        onReady: () => {
          this.#readyMs = this.host.clock.elapsed();
          this.#describe();
        },
        onStranger: () => this.#nameStranger(),
      });
    } else {
      // A token that was revoked ends the connection without a word.
      await client.getMe();
    }
    if (this.#stopping.signal.aborted) return "";
    return await this.#session.connect();
  }

  #describe(): void {
    const place = new URL(this.#settings.url).host;
    const problem = this.#hasStranger ? `; ${STRANGER}` : "";
    this.host.setDetail(`connected as @${this.#username} to ${place}${problem}`);
  }

  #nameStranger(): void {
    const now = this.host.clock.elapsed();
    if (now - this.#warnedMs < WARN_EVERY_MS) return;
    this.#warnedMs = now;
    this.#hasStranger = true;
    this.host.log.warning(`In Mattermost ${STRANGER}`, { bot: this.#username });
    this.#describe();
  }

  override async send(message: OutboundMessage): Promise<void> {
    await this.#ready().outlet.send(message);
  }

  override async sendDelta(piece: StreamDelta): Promise<void> {
    await this.#ready().outlet.push(piece);
  }

  #ready(): Session {
    if (!this.#isRunning || this.#session === undefined) {
      throw new NotConnectedError("Mattermost is away");
    }
    return this.#session;
  }

  static override defaultConfig(): Record<string, unknown> {
    const fields = Object.entries(manifest.setup.fields).flatMap(([name, field]) =>
      "default" in field && field.default !== undefined ? [[name, field.default] as const] : []
    );
    return { enabled: false, ...Object.fromEntries(fields), allowFrom: [] };
  }
}
