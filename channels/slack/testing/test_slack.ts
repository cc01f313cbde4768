/**
 * A channel that runs on a fake Slack, for tests.
 *
 * @module
 */

import { type Clock, systemClock } from "../../../lib/base/clock.ts";
import type { InboundMessage } from "../../../lib/contract/inbound_message.ts";
import type { OutboundMessage, StreamDelta } from "../../../lib/contract/outbound_message.ts";
import { FakeHost } from "../../../lib/channel/testing/mod.ts";
import { configFor } from "../../../lib/channel/testing/trial.ts";
import manifest from "../manifest.ts";
import { SlackChannel } from "../runtime.ts";
import type { SlackConfig } from "../settings.ts";
import type { FakeSlack } from "./fake_slack.ts";
import { type FakeMessage } from "./fake_workspace.ts";

/** How one is started. */
export interface TestSlackOptions<C extends Clock> {
  changes?: Partial<SlackConfig>;
  /** The host of a channel that ended: its folder, and what was published there. */
  host?: FakeHost<C>;
  clock?: C;
}

export class TestSlack<C extends Clock = Clock> implements AsyncDisposable {
  readonly host: FakeHost<C>;
  readonly channel: SlackChannel;
  readonly slack: FakeSlack;
  readonly started: Promise<void>;
  /** Why the start has ended. */
  ended: unknown;
  #lastId = 0;

  private constructor(slack: FakeSlack, host: FakeHost<C>, channel: SlackChannel) {
    this.slack = slack;
    this.host = host;
    this.channel = channel;
    this.started = channel.start().then(
      () => void (this.ended = "resolved"),
      (error) => void (this.ended = error),
    );
  }

  /** Starts one; its time goes on unless a clock is given. */
  static async start<C extends Clock = Clock>(
    slack: FakeSlack,
    { changes = {}, host, clock = systemClock as Clock as C }: TestSlackOptions<C> = {},
  ): Promise<TestSlack<C>> {
    host ??= await FakeHost.openWith<C>({ name: "slack", clock });
    const section = { port: 0, ...slack.section, ...changes };
    const config = configFor(manifest, { section }) as unknown as SlackConfig;
    return new TestSlack(slack, host, new SlackChannel(config, host));
  }

  /** Starts one, and waits until it is connected. */
  static async connected<C extends Clock = Clock>(
    slack: FakeSlack,
    options: TestSlackOptions<C> = {},
  ): Promise<TestSlack<C>> {
    const test = await TestSlack.start(slack, options);
    const before = test.host.details.length;
    await test.until(() =>
      test.ended !== undefined ||
      test.host.details.slice(before).some((detail) => /^connected|listening/.test(detail))
    );
    if (test.ended !== undefined) throw test.ended;
    return test;
  }

  get detail(): string {
    return this.host.details.at(-1) ?? "";
  }

  /** Resolves as soon as it holds, which is looked at from time to time. */
  async until(holds: () => boolean): Promise<void> {
    for (const end = performance.now() + 60_000; !holds();) {
      if (performance.now() > end) {
        const { details, lines, refused } = this.host;
        throw new Error(`It did not come to that: ${JSON.stringify({ details, lines, refused })}`);
      }
      await new Promise((again) => setTimeout(again, 2));
    }
  }

  /** The first message with a text in it. */
  async heard(text: string): Promise<InboundMessage> {
    const found = () => this.host.published.find(({ content }) => content.includes(text));
    await this.until(() => found() !== undefined);
    return found()!;
  }

  /** How often a text was published as something new. */
  turns(text: string): number {
    const found = this.host.published.filter(({ content }) => content.includes(text));
    return new Set(found.map(({ chatId, messageId }) => `${chatId} ${messageId}`)).size;
  }

  send(chatId: string, content: string, more: Partial<OutboundMessage> = {}): Promise<void> {
    return this.channel.send({
      id: `out-${++this.#lastId}`,
      channel: "slack",
      chatId,
      content,
      media: [],
      metadata: {},
      ...more,
    });
  }

  sendDelta(chatId: string, delta: string, more: Partial<StreamDelta> = {}): Promise<void> {
    return this.channel.sendDelta({
      chatId,
      delta,
      metadata: {},
      streamId: "stream",
      streamEnd: false,
      resuming: false,
      ...more,
    });
  }

  /** What the app has written, where, the first first. */
  get written(): { channel: string; message: FakeMessage }[] {
    return this.slack.workspace.ofBot();
  }

  /** Calls of a method. */
  calls(method: string): Record<string, string>[] {
    return this.slack.calls.filter((call) => call.method === method).map(({ args }) => args);
  }

  async stop(): Promise<void> {
    await this.channel.stop();
    await this.started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.host.close().catch(() => {});
  }
}

/** What the SDK leaves behind is an idle tick (see the conformance test). */
export const SOCKETS = { sanitizeOps: false, sanitizeResources: false } as const;
