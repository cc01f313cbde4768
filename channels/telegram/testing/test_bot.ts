/** A channel that runs beside a fake of Telegram, with a clock of the test. */

import { type FakeClock, FakeHost } from "../../../lib/channel/testing/mod.ts";
import type { InboundMessage } from "../../../lib/contract/inbound_message.ts";
import type { OutboundMessage, StreamDelta } from "../../../lib/contract/outbound_message.ts";
import { TelegramChannel } from "../runtime.ts";
import type { TelegramConfig } from "../settings.ts";
import { FakeTelegram } from "./fake_telegram.ts";

/** What a bot of a test may be given. */
export interface TestBotOptions extends Partial<TelegramConfig> {
  /** One that goes on behind the end of this bot. */
  telegram?: FakeTelegram;
  /** That of a bot before this one. */
  host?: FakeHost<FakeClock>;
}

export class TestBot {
  readonly telegram: FakeTelegram;
  readonly host: FakeHost<FakeClock>;
  readonly channel: TelegramChannel;
  readonly started: Promise<void>;
  /** Why the start has ended. */
  ended: unknown;
  #lastId = 0;

  private constructor(
    telegram: FakeTelegram,
    host: FakeHost<FakeClock>,
    changes: Partial<TelegramConfig>,
  ) {
    this.telegram = telegram;
    this.host = host;
    this.channel = new TelegramChannel({
      token: telegram.token,
      apiUrl: telegram.url,
      mode: "polling",
      webhookUrl: "",
      webhookHost: "",
      webhookPort: 0,
      webhookSecret: "",
      respond: "mention",
      quote: "groups",
      ackReaction: "",
      language: "en",
      streaming: true,
      allowFrom: ["*"],
      ...changes,
    }, host);
    this.started = this.channel.start().catch((error) => void (this.ended = error));
  }

  /** Starts one; resolves without waiting for anything. */
  static async start({ telegram, host, ...changes }: TestBotOptions = {}): Promise<TestBot> {
    return new TestBot(
      telegram ?? await FakeTelegram.open(),
      host ?? await FakeHost.open({ name: "telegram" }),
      changes,
    );
  }

  /** Starts one, and resolves when it reads updates. */
  static async connect(options: TestBotOptions = {}): Promise<TestBot> {
    const bot = await TestBot.start(options);
    const { telegram } = bot;
    const polls = telegram.api.queue.polls;
    await bot.until(() => telegram.api.queue.polls > polls || bot.ended !== undefined);
    return bot;
  }

  get detail(): string {
    return this.host.details.at(-1) ?? "";
  }

  /** Resolves as soon as it holds. */
  async until(holds: () => boolean, what = "what was waited for"): Promise<void> {
    const end = performance.now() + 60_000;
    while (!holds()) {
      if (performance.now() > end) throw new Error(`${what} has not come: ${holds}`);
      await new Promise((again) => setTimeout(again, 2));
    }
  }

  /** The message of that number, when it was published. */
  async heard(id: number | string): Promise<InboundMessage> {
    const found = () => this.host.published.find(({ messageId }) => messageId === String(id));
    await this.until(() => found() !== undefined, `message ${id}`);
    return found()!;
  }

  /** The turns that came of what was published: repeats are none. */
  get turns(): InboundMessage[] {
    const ids = new Set<string>();
    return this.host.published.filter(({ chatId, messageId }) => {
      const id = `${chatId} ${messageId}`;
      return !ids.has(id) && ids.add(id);
    });
  }

  send(chatId: string, content: string, more: Partial<OutboundMessage> = {}): Promise<void> {
    const id = `out-${++this.#lastId}`;
    return this.channel.send({
      id,
      channel: "telegram",
      chatId,
      content,
      media: [],
      metadata: {},
      ...more,
    });
  }

  stream(chatId: string, delta: string, more: Partial<StreamDelta> = {}): Promise<void> {
    return this.channel.sendDelta({
      chatId,
      delta,
      metadata: {},
      streamId: "s",
      streamEnd: false,
      resuming: false,
      ...more,
    });
  }

  /**
   * Moves the clock until the promise has settled, by one step in the time that the server takes for an
   * answer: on a busy machine a call would else be cut off by its deadline before it could be answered.
   */
  async ticking<Result>(promise: Promise<Result>, stepMs = 500): Promise<Result> {
    let isOver = false;
    const end = () => void (isOver = true);
    promise.then(end, end);
    while (!isOver) {
      await this.telegram.answers();
      this.host.clock.tick(stepMs);
    }
    return await promise;
  }

  /** Ends the channel alone. */
  async stop(): Promise<void> {
    await this.ticking(this.channel.stop());
    await this.started;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.telegram.close();
    await this.host.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
