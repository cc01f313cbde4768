/**
 * A runtime on a platform of its own, for one check; everything is put away behind it.
 *
 * @module
 */

import { systemClock } from "../../base/clock.ts";
import type { BaseChannel } from "../base_channel.ts";
import type { ChannelDescriptor } from "../descriptor.ts";
import type { OutboundMessage, StreamDelta } from "../../contract/outbound_message.ts";
import type { RuntimeClass } from "../../channel_worker/load_export.ts";
import { makeRuntime } from "../../channel_worker/make_runtime.ts";
import { resolvedConfig } from "../setup/resolved_config.ts";
import { Broken, expect, wordsOf } from "./channel_check.ts";
import type { ChannelPlatform, PlatformMessage } from "./channel_platform.ts";
import type { ChannelSubject } from "./channel_subject.ts";
import { type CountingClock, countingClock } from "./counting_clock.ts";
import { FakeHost } from "./fake_host.ts";
import type { Patience } from "./patience.ts";

/** How the runtime of a trial is configured. */
export interface TrialOptions {
  /** Over what the platform says. */
  section?: Readonly<Record<string, unknown>>;
}

/** Flags that `channels` has where it sets none. */
const FLAGS = { sendProgress: true, sendToolHints: true, showReasoning: true };

/** Runs a check on a runtime that is not started yet. */
export async function onTrial(
  subject: ChannelSubject,
  check: (trial: Trial) => Promise<void>,
  { section = {} }: TrialOptions = {},
): Promise<void> {
  const [descriptor, Runtime] = [await subject.descriptor(), await subject.runtime()];
  const platform = await subject.openPlatform();
  const host = await FakeHost.openWith({
    name: descriptor.name,
    clock: countingClock(systemClock),
  });
  try {
    await platform.prepare?.(host.stateDir, host.stateKey!);
    const config = configFor(descriptor, platform, section);
    let channel: BaseChannel;
    try {
      channel = makeRuntime(Runtime, config, host);
    } catch (error) {
      throw new Broken(`its constructor throws: ${wordsOf(error)}`);
    }
    const trial = new Trial({ subject, descriptor, platform, host, channel, config });
    try {
      await check(trial);
      expect(host.refused.length === 0, `it published what is no message: ${host.refused[0]}`);
    } catch (error) {
      // What was seen first says more than that it does not end either.
      await trial.end().catch(() => {});
      throw error;
    }
    await trial.end();
  } finally {
    await platform.close();
    await host.close();
  }
}

/** A section as the runtime gets it in a service. Rejects a section that the platform has wrong. */
export function configFor(
  descriptor: ChannelDescriptor,
  platform: Pick<ChannelPlatform, "section">,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const section = { enabled: true, allowFrom: ["*"], ...platform.section, ...more };
  return resolvedConfig(section, descriptor, FLAGS);
}

/** What a trial is made of. */
interface TrialParts {
  subject: ChannelSubject;
  descriptor: ChannelDescriptor;
  platform: ChannelPlatform;
  host: FakeHost<CountingClock>;
  channel: BaseChannel;
  config: Readonly<Record<string, unknown>>;
}

/** How a start has ended. */
export type StartEnd = { error?: unknown };

export class Trial {
  readonly descriptor: ChannelDescriptor;
  readonly platform: ChannelPlatform;
  readonly host: FakeHost<CountingClock>;
  readonly channel: BaseChannel;
  readonly config: Readonly<Record<string, unknown>>;
  readonly patience: Patience;
  /** Errors of sends and of the start. */
  readonly errors: unknown[] = [];
  /** How the start has ended; undefined while it goes on. */
  startEnd: StartEnd | undefined;
  readonly #parts: TrialParts;
  #start: Promise<void> | undefined;
  #next: Trial | undefined;

  constructor(whole: TrialParts) {
    this.#parts = whole;
    const { subject, ...parts } = whole;
    ({
      descriptor: this.descriptor,
      platform: this.platform,
      host: this.host,
      channel: this.channel,
      config: this.config,
    } = parts);
    this.patience = subject.patience;
  }

  /** Starts the runtime; resolves when it has ended, however that came. */
  start(): Promise<void> {
    this.#start ??= (async () => {
      try {
        await this.channel.start();
        this.startEnd = {};
      } catch (error) {
        this.errors.push(error);
        this.startEnd = { error };
      }
    })();
    return this.#start;
  }

  /** Starts it and waits until it says that it runs. */
  async running(): Promise<void> {
    void this.start();
    await this.patience.until(() => {
      if (this.startEnd !== undefined) throw new Broken(this.startWords());
      return this.channel.isRunning;
    }, "isRunning has not become true");
  }

  /** Starts it and sends until the platform takes a message. Resolves with the message's text. */
  async delivering(): Promise<string> {
    await this.running();
    const text = this.token("ready");
    let last: unknown;
    await this.patience.until(async () => {
      if (this.startEnd !== undefined) throw new Broken(this.startWords());
      try {
        await this.send(text);
        return true;
      } catch (error) {
        last = error;
        if (isPermanent(error)) throw new Broken(`send() rejects for good: ${wordsOf(error)}`);
        return false;
      }
    }, "no message was taken").catch((error) => {
      throw last === undefined ? error : new Broken(`${wordsOf(error)}: ${wordsOf(last)}`);
    });
    await this.arrived(text);
    return text;
  }

  startWords(): string {
    const { error } = this.startEnd ?? {};
    return error === undefined ? "start() has resolved" : `start() has rejected: ${wordsOf(error)}`;
  }

  /** Sends a message; rejects as `send` does. */
  async send(content: string, more: Partial<OutboundMessage> = {}): Promise<void> {
    const { platform: { chatId, metadata = {} }, descriptor: { name } } = this;
    const message = { chatId, channel: name, media: [], metadata, id: this.newId(), content };
    try {
      await this.patience.settled(
        this.channel.send({ ...message, ...more }),
        "send() has not settled",
      );
    } catch (error) {
      this.errors.push(error);
      throw error;
    }
  }

  /** Sends a piece of a stream; rejects as `sendDelta` does. */
  async sendDelta(streamId: string, delta: string, streamEnd = false): Promise<void> {
    const { platform: { chatId, metadata = {} } } = this;
    const piece: StreamDelta = { chatId, metadata, streamId, delta, streamEnd, resuming: false };
    try {
      await this.patience.settled(this.channel.sendDelta!(piece), "sendDelta() has not settled");
    } catch (error) {
      this.errors.push(error);
      throw error;
    }
  }

  /** Text that nothing else has. */
  token(name: string): string {
    return `${name}-${crypto.randomUUID().slice(0, 8)}`;
  }

  /** Of no other trial either: one on the same platform would be taken for a repeat. */
  newId(): string {
    return `message-${crypto.randomUUID()}`;
  }

  /** Messages on the platform in which a text stands. */
  sentWith(text: string): number {
    return this.platform.sent().filter((sent) => squeezed(sent.text).includes(squeezed(text)))
      .length;
  }

  arrived(text: string): Promise<void> {
    return this.patience.until(
      () => this.sentWith(text) > 0,
      `"${text}" has not arrived on the platform`,
    );
  }

  /** Has somebody write. Resolves with the platform's id of the message. */
  async deliver(message: Partial<PlatformMessage> & { text: string }): Promise<string> {
    const senderId = this.platform.senders[0];
    return await this.patience.settled(
      this.platform.deliver({ from: "person", senderId, ...message }),
      "the platform could not deliver a message",
    );
  }

  /** Resolves as soon as a message with that text was accepted; rejects when the start has ended. */
  heard(text: string): Promise<void> {
    return this.patience.until(() => {
      if (this.host.published.some(({ content }) => content.includes(text))) return true;
      if (this.startEnd !== undefined) throw new Broken(this.startWords());
      return false;
    }, `"${text}" was not published`);
  }

  /** Stops it; rejects when that takes too long. */
  async stop(): Promise<void> {
    await this.patience.settled(this.channel.stop(), "stop() has not resolved");
  }

  /** Ends it, and makes another runtime on the same platform and in the same folder, not started. */
  async again(): Promise<Trial> {
    await this.end();
    const { config, host, channel } = this;
    const Runtime = channel.constructor as RuntimeClass;
    this.#next = new Trial({ ...this.#parts, channel: makeRuntime(Runtime, { ...config }, host) });
    return this.#next;
  }

  /** Puts it away, whatever has become of it, with what came after it. */
  async end(): Promise<void> {
    await this.#next?.end();
    await this.stop();
    if (this.#start === undefined) return;
    await this.patience.settled(this.#start, "start() has not ended though stop() was called");
  }
}

/** By its name: a package may have its own copy of the errors. */
export function isPermanent(error: unknown): boolean {
  return error instanceof Error && error.name === "PermanentDeliveryError";
}

/** By its name, and that it says when: NotConnectedError is one too. */
export function isRetryLater(error: unknown): boolean {
  return error instanceof Error && error.name === "RetryLaterError" &&
    typeof (error as { retryAfterMs?: unknown }).retryAfterMs === "number";
}

/** Without spaces and line ends, which platforms change. */
export function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}
