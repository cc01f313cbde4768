/** A channel that runs, with a clock of the test. */

import type { OutboundMessage, StreamDelta } from "../../../lib/contract/outbound_message.ts";
import { type FakeClock, FakeHost } from "../../../lib/channel/testing/mod.ts";
import { configFor } from "../../../lib/channel/testing/trial.ts";
import manifest from "../manifest.ts";
import { XmppChannel } from "../runtime.ts";
import type { XmppConfig } from "../settings.ts";
import type { Person } from "./person.ts";
import { type Prosody, XMPP_DOMAIN, XMPP_PASSWORD } from "./prosody.ts";

/** After so long something that a test waits for does not come any more. */
const PATIENCE_MS = 60_000;

const STEP_MS = 50_000;

/** A section that finds a server. */
export function sectionOf(
  server: Prosody,
  user: string,
  changes: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    jid: `${user}@${XMPP_DOMAIN}`,
    password: XMPP_PASSWORD,
    host: "127.0.0.1",
    port: server.port,
    caFile: server.caFile,
    uploadUrl: `https://localhost:${server.filesPort}`,
    allowFrom: ["*"],
    ...changes,
  };
}

export class TestChannel {
  readonly user: string;
  readonly host: FakeHost<FakeClock>;
  readonly channel: XmppChannel;
  readonly started: Promise<void>;
  /** Why the start has ended. */
  ended: unknown;
  #lastId = 0;
  #isClosed = false;

  private constructor(user: string, host: FakeHost<FakeClock>, channel: XmppChannel) {
    this.user = user;
    this.host = host;
    this.channel = channel;
    this.started = channel.start().catch((error) => void (this.ended = error));
  }

  /** `stateDir`: of one that ran before. */
  static async start(
    server: Prosody,
    changes: Readonly<Record<string, unknown>> = {},
    { user = server.newUser("agent"), stateDir }: { user?: string; stateDir?: string } = {},
  ): Promise<TestChannel> {
    const host = await FakeHost.open({ name: "xmpp", ...stateDir !== undefined && { stateDir } });
    const section = sectionOf(server, user, changes);
    const config = configFor(manifest, { section }) as unknown as XmppConfig;
    return new TestChannel(user, host, new XmppChannel(config, host));
  }

  get jid(): string {
    return `${this.user}@${XMPP_DOMAIN}`;
  }

  get detail(): string {
    return this.host.details.at(-1) ?? "";
  }

  /** Resolves as soon as it holds; rejects when the start has ended. */
  async until(holds: () => boolean): Promise<void> {
    const lastMs = Date.now() + PATIENCE_MS;
    while (!holds()) {
      if (this.ended !== undefined) throw this.ended;
      if (Date.now() > lastMs) {
        throw new Error(`It has not come: ${this.detail} ${JSON.stringify(this.host.lines)}`);
      }
      await new Promise((again) => setTimeout(again, 2));
    }
  }

  /** Resolves as soon as what it says of itself matches. */
  says(pattern: RegExp): Promise<void> {
    return this.until(() => pattern.test(this.detail));
  }

  async heard(text: string) {
    const found = () => this.host.published.find(({ content }) => content.includes(text));
    await this.until(() => found() !== undefined);
    return found()!;
  }

  /** Lets time go by in which the server is not silent. */
  async pass(ms: number, person: Person): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.host.clock.tick(Math.min(left, STEP_MS));
      const text = `time ${crypto.randomUUID()}`;
      await person.say(this.jid, text);
      await this.heard(text);
    }
  }

  send(chatId: string, content: string, more: Partial<OutboundMessage> = {}): Promise<void> {
    const id = `out-${++this.#lastId}`;
    return this.channel.send({
      id,
      channel: "xmpp",
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
      streamId: "s1",
      streamEnd: false,
      resuming: false,
      ...more,
    });
  }

  /** `keepsState`: for one that goes on in its folder. */
  async close({ keepsState = false } = {}): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await inTime(this.channel.stop(), "It does not stop");
    await inTime(this.started, "It has stopped, and its start has not ended");
    if (!keepsState) await this.host.close();
  }
}

async function inTime(ending: Promise<unknown>, otherwise: string): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(otherwise)), PATIENCE_MS);
  await Promise.race([ending, late.promise]).finally(() => clearTimeout(timer));
}
