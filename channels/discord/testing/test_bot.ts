/**
 * A bot on a Discord of a test.
 *
 * @module
 */

import { type Clock, systemClock } from "../../../lib/base/clock.ts";
import type { InboundMessage } from "../../../lib/contract/inbound_message.ts";
import type { OutboundEvent, OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import { resolvedConfig } from "../../../lib/channel/setup/resolved_config.ts";
import { FakeHost } from "../../../lib/channel/testing/mod.ts";
import manifest from "../manifest.ts";
import { DiscordChannel } from "../runtime.ts";
import type { DiscordConfig } from "../settings.ts";
import { FakeDiscord } from "./fake_discord.ts";

const FLAGS = { sendProgress: true, sendToolHints: true, showReasoning: true };
const PATIENCE_MS = 60_000;
const LOOK_MS = 4;

/** How it is made. */
export interface TestBotOptions {
  fake?: FakeDiscord;
  /** Of a bot that ran before. */
  stateDir?: string;
  section?: Record<string, unknown>;
  clock?: Clock;
  /** Whether to wait until it is connected; default true. */
  connects?: boolean;
}

export class TestBot {
  readonly fake: FakeDiscord;
  readonly host: FakeHost<Clock>;
  readonly channel: DiscordChannel;
  /** How the start has ended. */
  ended: { error?: unknown } | undefined;
  readonly #started: Promise<void>;
  readonly #ownsFake: boolean;
  #lastId = 0;

  private constructor(
    fake: FakeDiscord,
    host: FakeHost<Clock>,
    { section, fake: given }: TestBotOptions,
  ) {
    this.fake = fake;
    this.host = host;
    this.#ownsFake = given === undefined;
    const all = { enabled: true, allowFrom: ["*"], ackReaction: "", ...fake.section, ...section };
    this.channel = new DiscordChannel(
      resolvedConfig(all, manifest, FLAGS) as unknown as DiscordConfig,
      host,
    );
    this.#started = this.channel.start().then(
      () => void (this.ended = {}),
      (error) => void (this.ended = { error }),
    );
  }

  static async open(options: TestBotOptions = {}): Promise<TestBot> {
    const fake = options.fake ?? await FakeDiscord.open();
    const { clock = systemClock, stateDir } = options;
    const host = await FakeHost.openWith<Clock>({
      name: "discord",
      clock,
      ...stateDir !== undefined && { stateDir },
    });
    const bot = new TestBot(fake, host, options);
    if (options.connects ?? true) await bot.connected();
    return bot;
  }

  get detail(): string {
    return this.host.details.at(-1) ?? "";
  }

  async connected(): Promise<void> {
    await until(() => this.detail.startsWith("connected") || this.ended !== undefined, "connected");
    if (this.ended?.error !== undefined) throw this.ended.error;
  }

  /** Resolves with the start's error when it has ended. */
  async over(): Promise<Error> {
    await this.#started;
    return this.ended!.error as Error;
  }

  /** Resolves with all that was published, when it is so much. */
  async published(count: number): Promise<InboundMessage[]> {
    await until(() => this.host.published.length >= count, `${count} messages published`);
    return this.host.published;
  }

  send(content: string, more: Partial<OutboundMessage> = {}): Promise<void> {
    return this.channel.send(this.message(content, more));
  }

  event(event: OutboundEvent, content = "", more: Partial<OutboundMessage> = {}): Promise<void> {
    return this.send(content, { event, ...more });
  }

  message(content: string, more: Partial<OutboundMessage> = {}): OutboundMessage {
    return {
      id: `out-${++this.#lastId}-${this.host.stateDir}`,
      channel: "discord",
      chatId: this.fake.chatId,
      content,
      media: [],
      metadata: {},
      ...more,
    };
  }

  /** Texts that stand in all chats, as people see them. */
  texts(): string[] {
    return this.fake.sent().map(({ text }) => text);
  }

  async stop(): Promise<void> {
    await this.channel.stop();
    await this.#started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    if (this.#ownsFake) await this.fake.close();
    await this.host.close();
  }
}

/** Resolves when it is so. Rejects after a long while, saying what has not come. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  for (const endMs = Date.now() + PATIENCE_MS; !isSo();) {
    if (Date.now() > endMs) throw new Error(`It has not come: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** A system clock whose waits are so many times shorter. */
export function fastClock(factor: number): Clock {
  return {
    now: () => systemClock.now(),
    elapsed: () => systemClock.elapsed() * factor,
    after: (ms, run) => systemClock.after(ms / factor, run),
  };
}
