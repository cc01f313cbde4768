/** A channel that runs on a server of the test, with a clock of the test. */

import type { InboundMessage } from "../../../lib/contract/inbound_message.ts";
import type { OutboundMessage, StreamDelta } from "../../../lib/contract/outbound_message.ts";
import { type FakeClock, FakeHost } from "../../../lib/channel/testing/mod.ts";
import { configFor } from "../../../lib/channel/testing/trial.ts";
import manifest from "../manifest.ts";
import { MattermostChannel } from "../runtime.ts";
import type { MattermostConfig } from "../settings.ts";
import { FakeMattermost, type FakeMattermostOptions } from "./fake_mattermost.ts";

export class TestChannel {
  readonly server: FakeMattermost;
  readonly host: FakeHost<FakeClock>;
  readonly channel: MattermostChannel;
  readonly started: Promise<void>;
  /** Why the start has ended. */
  ended: unknown;
  /** What a channel before this one has left there. */
  readonly #before: { details: number; requests: number };
  #lastId = 0;

  constructor(
    server: FakeMattermost,
    host: FakeHost<FakeClock>,
    changes: Record<string, unknown> = {},
  ) {
    this.server = server;
    this.host = host;
    this.#before = { details: host.details.length, requests: server.api.requests.length };
    const section = { ...server.section, ...changes };
    const config = configFor(manifest, { section }) as unknown as MattermostConfig;
    this.channel = new MattermostChannel(config, host);
    this.started = this.channel.start().catch((error) => void (this.ended = error));
  }

  get detail(): string {
    return this.host.details.slice(this.#before.details).at(-1) ?? "";
  }

  /** Resolves as soon as it holds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((again) => setTimeout(again, 2));
  }

  /** Resolves as soon as it is connected, and has fetched what there was. */
  async ready(): Promise<void> {
    await this.until(() => /^connected/.test(this.detail));
    const { requests } = this.server.api;
    await this.until(() =>
      requests.slice(this.#before.requests).includes("GET /users/me/channels")
    );
  }

  async heard(text: string): Promise<InboundMessage> {
    const found = () => this.host.published.find(({ content }) => content.includes(text));
    await this.until(() => found() !== undefined);
    return found()!;
  }

  /** Texts that were published so far, each with how often. */
  texts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { content } of this.host.published) counts[content] = (counts[content] ?? 0) + 1;
    return counts;
  }

  send(content: string, more: Partial<OutboundMessage> = {}): Promise<void> {
    return this.channel.send({
      id: `out-${++this.#lastId}`,
      channel: "mattermost",
      chatId: this.server.chatId,
      content,
      media: [],
      metadata: {},
      ...more,
    });
  }

  push(delta: string, more: Partial<StreamDelta> = {}): Promise<void> {
    return this.channel.sendDelta({
      chatId: this.server.chatId,
      delta,
      metadata: {},
      streamId: "stream",
      streamEnd: false,
      resuming: false,
      ...more,
    });
  }

  /** Ends the channel alone; the server and the folder stay. */
  async stop(): Promise<void> {
    await this.channel.stop();
    await this.started;
  }
}

/** Runs a test on a server and a channel of its own. */
export async function withChannel(
  { server: options = {}, ...changes }: Record<string, unknown> & {
    server?: FakeMattermostOptions;
  },
  run: (channel: TestChannel, server: FakeMattermost) => Promise<void>,
): Promise<void> {
  const server = await FakeMattermost.open(options);
  const host = await FakeHost.open({ name: "mattermost" });
  const channel = new TestChannel(server, host, changes);
  try {
    await channel.ready();
    await run(channel, server);
  } finally {
    await channel.stop();
    await server.close();
    await host.close();
  }
}
