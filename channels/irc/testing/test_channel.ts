/** A channel that runs, with a clock of the test. */

import { type FakeClock, FakeHost } from "../../../lib/channel/testing/mod.ts";
import type { OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import { IrcChannel, type IrcConfig } from "../runtime.ts";

const DEFAULTS: IrcConfig = {
  host: "127.0.0.1",
  port: 0,
  tls: false,
  caFile: "",
  nick: "helper",
  username: "",
  realname: "",
  password: "",
  account: "",
  accountPassword: "",
  channels: ["#room"],
  channelKeys: "",
  respond: "mention",
  formatting: "codes",
  matchNick: false,
  ignore: [],
  burst: 4,
  paceMs: 0,
  maxLines: 60,
  allowFrom: ["*"],
};

export class TestChannel {
  readonly host: FakeHost<FakeClock>;
  readonly channel: IrcChannel;
  readonly started: Promise<void>;
  /** Why the start has ended. */
  ended: unknown;
  #lastId = 0;

  private constructor(host: FakeHost<FakeClock>, channel: IrcChannel) {
    this.host = host;
    this.channel = channel;
    this.started = channel.start().catch((error) => void (this.ended = error));
  }

  static async start(changes: Partial<IrcConfig>): Promise<TestChannel> {
    const host = await FakeHost.open({ name: "irc" });
    return new TestChannel(host, new IrcChannel({ ...DEFAULTS, ...changes }, host));
  }

  get detail(): string {
    return this.host.details.at(-1) ?? "";
  }

  /** Resolves as soon as it holds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((again) => setTimeout(again, 2));
  }

  /** Resolves as soon as what it says of itself matches. */
  says(pattern: RegExp): Promise<void> {
    return this.until(() => pattern.test(this.detail));
  }

  async heard(text: string) {
    const found = () => this.host.published.find(({ content }) => content === text);
    await this.until(() => found() !== undefined);
    return found()!;
  }

  send(chatId: string, content: string, more: Partial<OutboundMessage> = {}): Promise<void> {
    const id = `out-${++this.#lastId}`;
    return this.channel.send({
      id,
      channel: "irc",
      chatId,
      content,
      media: [],
      metadata: {},
      ...more,
    });
  }

  async close(): Promise<void> {
    await this.channel.stop();
    await this.started;
    await this.host.close();
  }
}
