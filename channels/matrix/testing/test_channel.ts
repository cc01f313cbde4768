/** A channel that runs, with a clock of the test. */

import { type FakeClock, FakeHost } from "../../../lib/channel/testing/mod.ts";
import type { InboundMessage } from "../../../lib/contract/inbound_message.ts";
import type { OutboundMessage, StreamDelta } from "../../../lib/contract/outbound_message.ts";
import { configFor } from "../../../lib/channel/testing/trial.ts";
import manifest from "../manifest.ts";
import { MatrixChannel } from "../runtime.ts";
import type { MatrixConfig } from "../settings.ts";
import { FakeHomeserver } from "./fake_homeserver.ts";

export class TestChannel {
  readonly server: FakeHomeserver;
  readonly host: FakeHost<FakeClock>;
  readonly channel: MatrixChannel;
  /** Why the start has ended. */
  ended: unknown;
  readonly #started: Promise<void>;
  readonly #isOwner: { server: boolean; host: boolean };
  #lastId = 0;

  private constructor(
    server: FakeHomeserver,
    host: FakeHost<FakeClock>,
    changes: Partial<MatrixConfig>,
    isOwner: { server: boolean; host: boolean },
  ) {
    this.server = server;
    this.host = host;
    this.#isOwner = isOwner;
    const section = { ackReaction: "-", editEveryMs: 3_000, ...server.section, ...changes };
    const config = configFor(manifest, { section }) as unknown as MatrixConfig;
    this.channel = new MatrixChannel(config, host);
    this.#started = this.channel.start().then(
      () => void (this.ended = "stopped"),
      (error) => void (this.ended = error),
    );
  }

  /** On a server or a host of the caller, who closes it; resolves when it was started. */
  static async start(
    changes: Partial<MatrixConfig> = {},
    given: { server?: FakeHomeserver; host?: FakeHost<FakeClock> } = {},
  ): Promise<TestChannel> {
    const server = given.server ?? await FakeHomeserver.open();
    const host = given.host ?? await FakeHost.open({ name: "matrix" });
    const isOwner = { server: given.server === undefined, host: given.host === undefined };
    return new TestChannel(server, host, changes, isOwner);
  }

  /** One that is connected and polls. */
  static async connected(...args: Parameters<typeof TestChannel.start>): Promise<TestChannel> {
    const test = await TestChannel.start(...args);
    const before = test.host.details.length;
    await test.until(() => test.host.details.slice(before).some((one) => /^connected/.test(one)));
    await test.polls();
    return test;
  }

  get detail(): string {
    return this.host.details.at(-1) ?? "";
  }

  /** Calls that came to the server, by method and path. */
  calls(method: string, path: RegExp) {
    return this.server.calls.filter((call) => call.method === method && path.test(call.path));
  }

  /** Resolves as soon as it holds. */
  async until(holds: () => boolean, pauseMs = 2): Promise<void> {
    const end = performance.now() + 60_000;
    while (!holds()) {
      if (performance.now() > end) {
        throw new Error(`Waited in vain: ${holds}; ${this.detail}; ${String(this.ended)}`);
      }
      await new Promise((again) => setTimeout(again, pauseMs));
    }
  }

  /** Moves time on until it holds, no faster than a busy machine answers calls that have a deadline. */
  async tickUntil(holds: () => boolean, stepMs = 1_000): Promise<void> {
    await this.until(() => {
      if (holds()) return true;
      this.host.clock.tick(stepMs);
      return false;
    }, 20);
  }

  /** Resolves as soon as what it says of itself matches. */
  says(pattern: RegExp): Promise<void> {
    return this.until(() => pattern.test(this.detail));
  }

  /** Resolves when the server is asked to wait for what comes next, so that all before is read. */
  async polls(): Promise<void> {
    const place = `s${this.server.rooms.pos}`;
    await this.until(() =>
      this.calls("GET", /\/sync$/).some(({ query }) =>
        query.get("since") === place && query.get("timeout") !== "0"
      )
    );
  }

  /** The message with that text, as soon as it was published. */
  async heard(text: string): Promise<InboundMessage> {
    const found = () => this.host.published.find(({ content }) => content.includes(text));
    await this.until(() => found() !== undefined);
    return found()!;
  }

  /** Texts that were published, repeats too. */
  get texts(): string[] {
    return this.host.published.map(({ content }) => content);
  }

  /** Everything that was written is read, and what is for the agent was published. */
  async settled(): Promise<void> {
    const marker = `marker-${++this.#lastId}`;
    this.server.say(marker, { mentions: [this.server.me] });
    await this.heard(marker);
    this.host.published.splice(
      this.host.published.findIndex(({ content }) => content === marker),
      1,
    );
  }

  message(content: string, more: Partial<OutboundMessage> = {}): OutboundMessage {
    return {
      id: `out-${++this.#lastId}`,
      channel: "matrix",
      chatId: this.server.chatId,
      content,
      media: [],
      metadata: {},
      ...more,
    };
  }

  send(content: string, more: Partial<OutboundMessage> = {}): Promise<void> {
    return this.channel.send(this.message(content, more));
  }

  delta(delta: string, more: Partial<StreamDelta> = {}): Promise<void> {
    return this.channel.sendDelta({
      chatId: this.server.chatId,
      metadata: {},
      delta,
      streamId: "stream",
      streamEnd: false,
      resuming: false,
      ...more,
    });
  }

  async stop(): Promise<void> {
    await this.channel.stop();
    await this.#started;
  }

  async close(): Promise<void> {
    await this.stop();
    if (this.#isOwner.server) await this.server.close();
    if (this.#isOwner.host) await this.host.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
