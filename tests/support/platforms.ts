/** The platforms that channels talk to in tests: fakes that speak their wire, and a real prosody. */

import { FakeDiscord } from "../../channels/discord/testing/fake_discord.ts";
import { FakeHomeserver } from "../../channels/matrix/testing/fake_homeserver.ts";
import { FakeMattermost } from "../../channels/mattermost/testing/fake_mattermost.ts";
import { FakeSignal } from "../../channels/signal/testing/fake_signal.ts";
import { FakeSlack } from "../../channels/slack/testing/fake_slack.ts";
import { FakeTelegram } from "../../channels/telegram/testing/fake_telegram.ts";
import { FakeWhatsApp, GROUP } from "../../channels/whatsapp/testing/fake_whatsapp.ts";
import { Prosody, PROSODY_NEEDS } from "../../channels/xmpp/testing/prosody.ts";
import { XmppPlatform } from "../../channels/xmpp/testing/xmpp_platform.ts";
import { readState } from "../../cli/operator/with_state.ts";
import type { ChannelPlatform } from "../../lib/channel/testing/mod.ts";
import { resolvePaths } from "../../lib/config/paths.ts";
import type { TestHome } from "./home.ts";
import { type Need, needs } from "./needs.ts";

const withoutProsody = needs("", ...PROSODY_NEEDS).ignore;

/** Opens one of each, by the channel's name; without XMPP where there is no prosody. */
export const PLATFORMS: Readonly<Record<string, () => Promise<ChannelPlatform>>> = {
  discord: () => FakeDiscord.open(),
  matrix: () => FakeHomeserver.open(),
  mattermost: () => FakeMattermost.open(),
  signal: () => FakeSignal.open(),
  slack: () => FakeSlack.open(),
  telegram: () => FakeTelegram.open(),
  whatsapp: openWhatsApp,
  ...withoutProsody ? {} : { xmpp: openXmpp },
};

/** Leaves in a home, for each channel, what logging in leaves there. */
export async function preparePlatforms(
  home: TestHome,
  platforms: ReadonlyMap<string, ChannelPlatform>,
): Promise<void> {
  const paths = resolvePaths({
    env: (name) => name === "SERVICE_HOME" ? `${home.dir}/home` : undefined,
    homeDir: home.dir,
  });
  await readState({ paths, env: () => undefined }, async ({ secrets }) => {
    for (const [name, platform] of platforms) {
      const key = await secrets.deriveKey(`channel ${name}`);
      await platform.prepare?.(`${home.dir}/home/data/channels/${name}`, key);
    }
  });
}

/** Registers a test of all platforms. Where XMPP is not among them, a skipped test says so. */
export function testPlatforms(name: string, fn: () => Promise<void>, ...all: Need[]): void {
  Deno.test(needs(name, ...all), fn);
  if (withoutProsody) Deno.test(needs(`${name}: xmpp`, ...PROSODY_NEEDS, ...all), fn);
}

/** Without reactions, each of which is encrypted like a message. */
async function openWhatsApp(): Promise<ChannelPlatform> {
  const platform = await FakeWhatsApp.start(GROUP);
  platform.section.ackReaction = "";
  return platform;
}

async function openXmpp(): Promise<ChannelPlatform> {
  const server = await Prosody.start();
  const platform = await XmppPlatform.open(server);
  const close = platform.close.bind(platform);
  platform.close = async () => {
    await close();
    await server.close();
  };
  return platform;
}
