/** One gateway with a channel for every platform, the platforms on the other side, and a model. */

import type { FakeDiscord } from "../../channels/discord/testing/fake_discord.ts";
import type { FakeHomeserver } from "../../channels/matrix/testing/fake_homeserver.ts";
import type { FakeMattermost } from "../../channels/mattermost/testing/fake_mattermost.ts";
import type { FakeSignal } from "../../channels/signal/testing/fake_signal.ts";
import type { FakeSlack } from "../../channels/slack/testing/fake_slack.ts";
import type { FakeTelegram } from "../../channels/telegram/testing/fake_telegram.ts";
import type { FakeWhatsApp } from "../../channels/whatsapp/testing/fake_whatsapp.ts";
import type { ChannelPlatform } from "../../lib/channel/testing/mod.ts";
import {
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../fakes/model_server.ts";
import { makeHome, type Running, type TestHome } from "./home.ts";
import { PLATFORMS, preparePlatforms } from "./platforms.ts";

/** Each as what it is. */
export interface Platforms {
  discord: FakeDiscord;
  matrix: FakeHomeserver;
  mattermost: FakeMattermost;
  signal: FakeSignal;
  slack: FakeSlack;
  telegram: FakeTelegram;
  whatsapp: FakeWhatsApp;
  xmpp: ChannelPlatform;
}

/** A channel's name. */
export type PlatformName = keyof Platforms;

/** How a world is made. */
export interface PlatformWorldOptions {
  script: ModelServerOptions["script"];
  /** Over what the section of each has. */
  section?: Readonly<Record<string, unknown>>;
  /** Over what the section of one has. */
  sections?: Partial<Record<PlatformName, Readonly<Record<string, unknown>>>>;
  /** Beside the channels. */
  config?: (platforms: Platforms) => Readonly<Record<string, unknown>>;
}

/** How long is waited for anything, milliseconds. */
const PATIENCE_MS = 180_000;

export class PlatformWorld implements AsyncDisposable {
  readonly platforms: Platforms;
  readonly model: ModelServer;
  readonly home: TestHome;
  #gateway: Running | undefined;

  private constructor(platforms: Platforms, model: ModelServer, home: TestHome) {
    this.platforms = platforms;
    this.model = model;
    this.home = home;
  }

  /** Opens the platforms and configures a home; nothing runs yet. */
  static async open(
    { script, section = {}, sections = {}, config = () => ({}) }: PlatformWorldOptions,
  ): Promise<PlatformWorld> {
    const opened = await Promise.all(
      Object.entries(PLATFORMS).map(async ([name, open]) => [name, await open()] as const),
    );
    const platforms = Object.fromEntries(opened) as unknown as Platforms;
    const model = startModelServer({ script });
    const channels = opened.map(([name, platform]) => [name, {
      enabled: true,
      ...platform.section,
      allowFrom: [...platform.senders],
      ...section,
      ...sections[name as PlatformName],
    }]);
    const home = await makeHome({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
      ...config(platforms),
      channels: { sendProgress: false, ...Object.fromEntries(channels) },
    });
    await preparePlatforms(home, new Map(opened));
    return new PlatformWorld(platforms, model, home);
  }

  /** Their names and themselves. */
  get each(): readonly (readonly [PlatformName, ChannelPlatform])[] {
    return Object.entries(this.platforms) as [PlatformName, ChannelPlatform][];
  }

  get gateway(): Running {
    if (this.#gateway === undefined) throw new Error("The gateway was not started");
    return this.#gateway;
  }

  /** Starts the gateway. */
  async start(): Promise<Running> {
    this.#gateway = await this.home.start(["gateway", "--json"]);
    return this.#gateway;
  }

  /** What has arrived on a platform, one text below the other. */
  textOf(name: PlatformName): string {
    return this.platforms[name].sent().map(({ text }) => text).join("\n");
  }

  /**
   * Resolves as soon as it holds. A platform does not say that something has come: it is looked at again
   * and again.
   */
  async until(
    holds: () => boolean | Promise<boolean>,
    what: string | (() => string),
  ): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!await holds()) {
      if (performance.now() > end) {
        const words = typeof what === "string" ? what : what();
        throw new Error(`Waited too long: ${words}\n${this.#gateway?.log().slice(-4_000)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway?.[Symbol.asyncDispose]();
    await this.home[Symbol.asyncDispose]();
    await this.model.close();
    await Promise.all(this.each.map(([, platform]) => platform.close()));
  }
}
