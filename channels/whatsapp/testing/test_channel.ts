/** A channel that runs on a server of the test, with a clock of the test. */

import type { InboundMessage } from "../../../lib/contract/inbound_message.ts";
import type { OutboundMessage, StreamDelta } from "../../../lib/contract/outbound_message.ts";
import { type FakeClock, FakeHost } from "../../../lib/channel/testing/mod.ts";
import { configFor } from "../../../lib/channel/testing/trial.ts";
import manifest from "../manifest.ts";
import { WhatsAppChannel } from "../runtime.ts";
import type { WhatsAppConfig } from "../settings.ts";
import { FakeWhatsApp } from "./fake_whatsapp.ts";

export class TestChannel {
  readonly server: FakeWhatsApp;
  readonly host: FakeHost<FakeClock>;
  readonly channel: WhatsAppChannel;
  readonly started: Promise<void>;
  /** Why the start has ended. */
  ended: unknown;
  readonly #before: number;
  #lastId = 0;

  constructor(server: FakeWhatsApp, host: FakeHost<FakeClock>, changes: Record<string, unknown>) {
    this.server = server;
    this.host = host;
    this.#before = host.details.length;
    const section = { ...server.section, ...changes };
    const config = configFor(manifest, { section }) as unknown as WhatsAppConfig;
    this.channel = new WhatsAppChannel(config, host);
    this.started = this.channel.start().catch((error) => void (this.ended = error));
  }

  get detail(): string {
    return this.host.details.slice(this.#before).at(-1) ?? "";
  }

  /** Resolves as soon as it holds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((again) => setTimeout(again, 2));
  }

  ready(): Promise<void> {
    return this.until(() => /^connected/.test(this.detail));
  }

  async heard(text: string): Promise<InboundMessage> {
    const found = () => this.host.published.find(({ content }) => content.includes(text));
    await this.until(() => found() !== undefined);
    return found()!;
  }

  send(content: string, more: Partial<OutboundMessage> = {}): Promise<void> {
    const id = `out-${++this.#lastId}`;
    const { chatId } = this.server;
    const message = { id, channel: "whatsapp", chatId, content, media: [], metadata: {} };
    return this.channel.send({ ...message, ...more });
  }

  push(delta: string, more: Partial<StreamDelta> = {}): Promise<void> {
    const { chatId } = this.server;
    const piece = { chatId, delta, metadata: {}, streamId: "stream", streamEnd: false };
    return this.channel.sendDelta({ ...piece, resuming: false, ...more });
  }

  /** Ends the channel alone; the server and the folder stay. */
  async stop(): Promise<void> {
    await this.channel.stop();
    await this.started;
  }
}

/** Runs a test on a server and a channel of its own. */
export async function withChannel(
  changes: Record<string, unknown>,
  run: (channel: TestChannel, server: FakeWhatsApp) => Promise<void>,
): Promise<void> {
  const server = await FakeWhatsApp.start();
  const host = await FakeHost.open({ name: "whatsapp" });
  await server.prepare(host.stateDir, host.stateKey!);
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
