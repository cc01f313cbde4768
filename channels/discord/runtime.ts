/**
 * Servers, threads and direct messages of Discord.
 *
 * @module
 */

import type { RawFile } from "discord.js";
import { BaseChannel, type PackageConfig } from "../../lib/channel/base_channel.ts";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import { NotConnectedError } from "../../lib/channel/delivery_error.ts";
import { eventOf } from "../../lib/channel/outbound_event.ts";
import type { OutboundMessage, StreamDelta } from "../../lib/contract/outbound_message.ts";
import { SendSteps } from "../../lib/channel/platform/mod.ts";
import { type DiscordSettings, discordSettings } from "./settings.ts";
import { DiscordBot } from "./discord_bot.ts";
import type { Outbound } from "./outbound/outbound.ts";
import { outgoingFiles } from "./outbound/outgoing_files.ts";
import { toMessages } from "./text/to_discord.ts";
import { toStatus } from "./text/to_status.ts";
import { wordsOf } from "./words.ts";

/** The fields of the manifest, defaults included. */
export type DiscordConfig = PackageConfig & Readonly<Record<string, unknown>>;

export class DiscordChannel extends BaseChannel<DiscordConfig> {
  readonly #settings: DiscordSettings;
  readonly #stopping = new AbortController();
  readonly #steps = new SendSteps<unknown>();
  #run: Promise<void> | undefined;
  #bot: DiscordBot | undefined;

  /** Throws `config_invalid`, naming the field that is wrong. */
  constructor(config: DiscordConfig, host: ChannelHost) {
    super(config, host);
    this.#settings = discordSettings(config);
  }

  override get isRunning(): boolean {
    return this.#bot !== undefined;
  }

  override start(): Promise<void> {
    if (this.#run !== undefined) {
      return Promise.reject(new Error("Cannot start the discord channel a second time"));
    }
    return this.#run = this.#work();
  }

  override async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#bot?.close();
    // What goes wrong is told by start.
    await this.#run?.catch(() => {});
  }

  async #work(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const { host } = this;
    host.setDetail("connecting to Discord");
    const bot = await DiscordBot.open({
      settings: this.#settings,
      host,
      isAllowed: (senderId) => this.isAllowed(senderId),
      handleMessage: (message) => this.handleMessage(message),
      transcribe: (path) => this.transcribeAudio(path),
    });
    this.#bot = bot;
    if (this.#stopping.signal.aborted) void bot.close();
    try {
      await bot.run();
    } finally {
      this.#bot = undefined;
    }
  }

  override async send(message: OutboundMessage): Promise<void> {
    const out = this.#running();
    const { chatId, content } = message;
    const event = eventOf(message);
    switch (event?.type) {
      case undefined:
      case "goal_status":
        return await this.#answer(out, message);
      case "approval":
        return await out.approvals.show(message, event);
      case "approval_resolved":
        return await out.approvals.close(message, event);
      case "progress": {
        const text = toStatus(content);
        // Nobody waits for it.
        if (text !== "") void out.statuses.show(chatId, text);
        return;
      }
      case "turn_end":
        out.typing.end(chatId);
        return await out.statuses.end(chatId);
      default:
        // Discord has nothing for it.
    }
  }

  override async sendDelta(piece: StreamDelta): Promise<void> {
    await this.#running().streams.push(piece);
  }

  async #answer({ sender }: Outbound, message: OutboundMessage): Promise<void> {
    const { id, channel, content, media } = message;
    const { messages: files, tooLarge } = await outgoingFiles(media);
    const words = wordsOf(this.#settings.language);
    const texts = toMessages([
      content,
      ...tooLarge.length > 0 ? [words("notSent", { names: tooLarge.join(", ") })] : [],
    ].join("\n\n"));
    const last = Math.max(0, texts.length - 1);
    const parts: { text: string; files: RawFile[] }[] = texts.map((text) => ({ text, files: [] }));
    for (const [index, some] of files.entries()) {
      parts[last + index] = {
        text: parts[last + index]?.text ?? "",
        files: some,
      };
    }
    // What was taken before a wait is not sent again behind it.
    await this.#steps.run(
      id,
      parts.map(({ text, files }, index) => () =>
        sender.post(message, text, { key: `${channel} ${id} ${index}`, files, isAnswer: true })
      ),
    );
  }

  #running(): Outbound {
    if (this.#bot === undefined || this.#stopping.signal.aborted) {
      throw new NotConnectedError("the discord channel does not run");
    }
    return this.#bot.out;
  }
}
