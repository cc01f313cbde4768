/**
 * A channel that keeps every rule, on a platform in memory, for tests of the conformance kit: packages that
 * are wrong in one way are made of it.
 *
 * @module
 */

import { basename } from "@std/path";
import { BaseChannel, type PackageConfig } from "../base_channel.ts";
import type { ChannelHost } from "../channel_host.ts";
import {
  isLoginRefused,
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
} from "../delivery_error.ts";
import { splitMarkdown } from "../markdown/split_markdown.ts";
import { eventOf } from "../outbound_event.ts";
import type { OutboundMessage, StreamDelta } from "../../contract/outbound_message.ts";
import type { ChannelPlatform, PlatformMessage, PlatformSent } from "./channel_platform.ts";

/** A message as the platform gives it to its clients. */
export interface ToyMessage {
  id: string;
  sender: string;
  kind: PlatformMessage["from"];
  text: string;
  /** Milliseconds since 1970. */
  at: number;
  /** It is a click on a button of this approval. */
  click?: { button: "approve" | "deny"; id: string; digest: string };
}

const TOKEN = "toy-token-4711";
const MAX_CHARS = 200;

/** Platforms by name: a runtime finds its own by a setting. */
const PLATFORMS = new Map<string, ToyPlatform>();

export class ToyPlatform implements ChannelPlatform {
  readonly section: Readonly<Record<string, unknown>>;
  readonly senders = ["alice", "bob"] as const;
  readonly chatId = "room";
  readonly limit = { max: MAX_CHARS, sizeOf: ({ text }: PlatformSent) => text.length };
  readonly hasFences = true;
  isUp = true;
  /** It is shown that an answer is being made. */
  isAtWork = false;
  readonly #sent: PlatformSent[] = [];
  readonly #acknowledged: string[] = [];
  readonly #clients = new Set<(message: ToyMessage) => void>();
  #connected = Promise.withResolvers<void>();
  #refusal: "permanent" | "temporary" | undefined;
  #last: ToyMessage | undefined;
  /** What came while nobody was connected. */
  #away: ToyMessage[] = [];
  /** The approval that was shown last, and whether its buttons are still there. */
  #approval: { id: string; digest: string; denyOnly?: true } | undefined;
  #isRevoked = false;

  constructor(name: string = crypto.randomUUID()) {
    this.section = { hub: name, token: TOKEN };
    PLATFORMS.set(name, this);
  }

  connect(token: string, client: (message: ToyMessage) => void): void {
    if (!this.isUp) throw new Error("The platform is away");
    if (token !== TOKEN) throw new Error(`The token ${token} is not known`);
    if (this.#isRevoked) throw new LoginRefusedError(`The token ${token} was revoked`);
    this.#clients.add(client);
    const away = this.#away;
    this.#away = [];
    for (const message of away) client(message);
    this.#connected.resolve();
  }

  leave(client: (message: ToyMessage) => void): void {
    this.#clients.delete(client);
  }

  /** Puts a message up; `at`: in the place of that one. Returns its number. */
  post(sent: PlatformSent, at: number = this.#sent.length): number {
    if (!this.isUp) throw new NotConnectedError("the platform is away");
    const refusal = this.#refusal;
    this.#refusal = undefined;
    if (this.#isRevoked) throw new LoginRefusedError("The token was revoked");
    if (refusal === "permanent") throw new PermanentDeliveryError("The platform refuses it");
    if (refusal === "temporary") throw new Error("The platform has too much to do");
    this.#sent[at] = sent;
    return at;
  }

  acknowledge(id: string): void {
    this.#acknowledged.push(id);
  }

  async deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    await this.#connected.promise;
    this.#last = messageOf({ text, senderId, from });
    await this.redeliver();
    return this.#last.id;
  }

  deliverAway(message: PlatformMessage): Promise<string> {
    const away = messageOf(message);
    this.#away.push(away);
    return Promise.resolve(away.id);
  }

  isTyping = (): boolean => this.isAtWork;

  showButtons(approval: { id: string; digest: string; denyOnly?: true }): void {
    this.#approval = approval;
  }

  removeButtons(id: string): void {
    if (this.#approval?.id === id) this.#approval = undefined;
  }

  pressButton(button: "approve" | "deny", senderId: string): Promise<void> {
    const approval = this.#approval;
    if (approval === undefined || button === "approve" && approval.denyOnly) {
      return Promise.reject(new Error("There is no such button"));
    }
    const click = { button, ...approval };
    const message = { ...messageOf({ text: "", senderId, from: "person" }), click };
    for (const client of this.#clients) client(message);
    return Promise.resolve();
  }

  /** Its connector knows by itself. */
  confirm(): void {}

  revoke(): Promise<void> {
    this.#isRevoked = true;
    return Promise.resolve();
  }

  redeliver(): Promise<void> {
    for (const client of this.#clients) client({ ...this.#last! });
    return Promise.resolve();
  }

  sent = (): PlatformSent[] => this.#sent.map((sent) => ({ ...sent }));
  acknowledged = (): string[] => [...this.#acknowledged];

  goDown(): Promise<void> {
    this.isUp = false;
    return Promise.resolve();
  }

  refuse(kind: "permanent" | "temporary"): void {
    this.#refusal = kind;
  }

  close(): Promise<void> {
    PLATFORMS.delete(String(this.section.hub));
    return Promise.resolve();
  }
}

function messageOf({ text, senderId, from }: PlatformMessage): ToyMessage {
  return { id: crypto.randomUUID(), sender: senderId, kind: from, text, at: Date.now() };
}

/** The section of a toy. */
export interface ToyConfig extends PackageConfig {
  hub: string;
  token: string;
  tone?: string;
}

/** Its runtime. */
export class ToyBase extends BaseChannel<ToyConfig> {
  readonly platform: ToyPlatform;
  protected ending: PromiseWithResolvers<void> = Promise.withResolvers();
  protected isConnected = false;
  protected running = false;
  protected ended = false;
  protected readonly streams: Map<string, { at?: number; text: string }> = new Map();

  constructor(config: ToyConfig, host: ChannelHost) {
    super(config, host);
    this.platform = PLATFORMS.get(config.hub)!;
    if (!["loud", "quiet"].includes(config.tone ?? "loud")) throw new Error("No such tone");
  }

  override get isRunning(): boolean {
    return this.running;
  }

  override async start(): Promise<void> {
    if (this.ended) return;
    this.running = true;
    try {
      // As a connection takes its time.
      await new Promise<void>((resolve) => this.host.clock.after(0, resolve));
      if (this.ended) return;
      try {
        this.platform.connect(this.config.token, this.client);
      } catch (error) {
        const words = `Cannot connect: ${this.words(error)}`;
        throw isLoginRefused(error) ? new LoginRefusedError(words) : new Error(words);
      }
      this.isConnected = true;
      this.host.setDetail("connected as toy");
      await this.ending.promise;
    } finally {
      this.running = false;
      this.isConnected = false;
      this.platform.leave(this.client);
    }
  }

  protected words(error: unknown): string {
    return (error as Error).message.replaceAll(this.config.token, "[token]");
  }

  override stop(): Promise<void> {
    this.ended = true;
    this.running = false;
    this.ending.resolve();
    return Promise.resolve();
  }

  protected readonly client = (message: ToyMessage): void => {
    this.hear(message).catch((error) => this.host.log.error("A message was not taken", { error }));
  };

  protected async hear({ id, kind, ...message }: ToyMessage): Promise<void> {
    if (kind === "person") await this.take({ id, ...message });
    this.platform.acknowledge(id);
  }

  protected async take({ id, sender, text, at, click }: Omit<ToyMessage, "kind">): Promise<void> {
    const published = await this.handleMessage({
      senderId: sender,
      chatId: "room",
      content: click === undefined ? text : this.commandOf(click),
      messageId: id,
      sentAt: at,
    });
    if (published.kind === "turn" && !published.repeated) this.showWork(true);
  }

  protected commandOf({ button, id, digest }: NonNullable<ToyMessage["click"]>): string {
    return button === "approve" ? `/approve ${id} ${digest.slice(0, 8)}` : `/deny ${id}`;
  }

  protected showWork(isAtWork: boolean): void {
    this.platform.isAtWork = isAtWork;
  }

  override send(message: OutboundMessage): Promise<void> {
    return Promise.resolve().then(() => this.post(message));
  }

  protected post(message: OutboundMessage): void {
    if (!this.isConnected || this.ended) throw new Error("The toy is not connected");
    const event = eventOf(message);
    if (event?.type === "turn_end") this.showWork(false);
    if (event?.type === "approval_resolved") this.platform.removeButtons(event.id);
    if (event !== undefined && event.type !== "progress" && event.type !== "approval") return;
    const { chatId, content, media } = message;
    if (content.trim() === "" && media.length === 0) return;
    const files = media.map((path) => basename(path));
    for (const text of this.split(content)) this.platform.post({ chatId, text, files });
    if (event?.type === "approval") this.platform.showButtons(event);
  }

  override sendDelta({ chatId, delta, streamId, streamEnd }: StreamDelta): Promise<void> {
    return Promise.resolve().then(() => {
      if (!this.isConnected || this.ended) throw new Error("The toy is not connected");
      const key = this.streamKey(chatId, streamId);
      const { at, text } = this.streams.get(key) ?? { text: "" };
      const whole = text + delta;
      // Nothing is kept of what the platform refuses.
      if (delta !== "") this.streams.set(key, { at: this.show(chatId, whole, at), text: whole });
      if (streamEnd) this.streams.delete(key);
    });
  }

  protected show(chatId: string, text: string, at: number | undefined): number {
    return this.platform.post({ chatId, text }, at);
  }

  protected streamKey(chatId: string, streamId: string | undefined): string {
    return streamId ?? chatId;
  }

  protected split(text: string): string[] {
    return splitMarkdown(text, MAX_CHARS);
  }
}
