/** A channel that runs on a signal-cli of the test, with a clock of the test. */

import { type FakeClock, FakeHost } from "../../../lib/channel/testing/mod.ts";
import type { InboundMessage } from "../../../lib/contract/inbound_message.ts";
import type { OutboundMessage, StreamDelta } from "../../../lib/contract/outbound_message.ts";
import { SignalChannel } from "../runtime.ts";
import type { SignalConfig } from "../settings.ts";
import { ANN, FakeSignal } from "./fake_signal.ts";

const DEFAULTS = {
  deviceName: "Agent service",
  respond: "mention",
  ackReaction: "👀",
  readReceipts: true,
  language: "en",
  allowFrom: ["*"],
  streaming: true,
} as const;

export class TestChannel implements AsyncDisposable {
  readonly signal: FakeSignal;
  readonly host: FakeHost<FakeClock>;
  readonly channel: SignalChannel;
  /** Why the start has ended. */
  ended: unknown;
  readonly #started: Promise<void>;
  readonly #ownsHost: boolean;
  #lastId = 0;

  private constructor(
    signal: FakeSignal,
    host: FakeHost<FakeClock>,
    changes: Partial<SignalConfig>,
    ownsHost: boolean,
  ) {
    this.signal = signal;
    this.host = host;
    this.#ownsHost = ownsHost;
    this.channel = new SignalChannel({ ...DEFAULTS, ...signal.section, ...changes }, host);
    this.#started = this.channel.start().then(
      () => void (this.ended = "stopped"),
      (error) => void (this.ended = error),
    );
  }

  /** One that is connected. A signal-cli or a host of the caller is left open. */
  static async connected(
    changes: Partial<SignalConfig> = {},
    given: { signal?: FakeSignal; host?: FakeHost<FakeClock> } = {},
  ): Promise<TestChannel> {
    const signal = given.signal ?? await FakeSignal.open();
    const host = given.host ?? await FakeHost.open({ name: "signal" });
    const test = new TestChannel(signal, host, changes, given.host === undefined);
    await test.says(/^connected/);
    return test;
  }

  /** Resolves as soon as it holds. */
  async until(holds: () => boolean): Promise<void> {
    const end = performance.now() + 60_000;
    while (!holds()) {
      if (performance.now() > end) {
        throw new Error(`Waited in vain: ${holds}; ${this.detail}; ${String(this.ended)}`);
      }
      await new Promise((again) => setTimeout(again, 2));
    }
  }

  get detail(): string {
    return this.host.details.at(-1) ?? "";
  }

  says(pattern: RegExp): Promise<void> {
    return this.until(() => pattern.test(this.detail));
  }

  /** The message with that text, as soon as it was published. */
  async heard(text: string): Promise<InboundMessage> {
    const found = () => this.host.published.find(({ content }) => content.includes(text));
    await this.until(() => found() !== undefined);
    return found()!;
  }

  /** Everything that was written is read; gives the texts that were published. */
  async settled(): Promise<string[]> {
    const marker = `marker-${++this.#lastId}`;
    this.signal.write(ANN, { message: marker });
    this.signal.writeInGroup(ANN, marker);
    const markers = () => this.host.published.filter(({ content }) => content === marker);
    await this.until(() => markers().length === 2);
    return this.host.published.map(({ content }) => content).filter((text) =>
      !text.startsWith("marker-")
    );
  }

  send(content: string, more: Partial<OutboundMessage> = {}): Promise<void> {
    return this.channel.send({
      ...{ id: `out-${++this.#lastId}`, channel: "signal", chatId: ANN, content },
      ...{ media: [], metadata: {} },
      ...more,
    });
  }

  delta(delta: string, more: Partial<StreamDelta> = {}): Promise<void> {
    return this.channel.sendDelta({
      ...{ chatId: ANN, metadata: {}, delta, streamId: "stream", streamEnd: false },
      resuming: false,
      ...more,
    });
  }

  async stop(): Promise<void> {
    await this.channel.stop();
    await this.#started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.signal.close();
    if (this.#ownsHost) await this.host.close();
  }
}
