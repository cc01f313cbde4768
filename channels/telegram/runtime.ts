/**
 * Chats, groups and topics of Telegram, by a bot.
 *
 * @module
 */

import { BaseChannel, type FeatureMetadata } from "../../lib/channel/base_channel.ts";
import {
  LoginRefusedError,
  NotConnectedError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import { eventOf } from "../../lib/channel/outbound_event.ts";
import type { OutboundMessage, StreamDelta } from "../../lib/contract/outbound_message.ts";
import { backoffMs, sleep } from "../../lib/channel/platform/mod.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { TelegramApi } from "./api/telegram_api.ts";
import { TelegramFault } from "./api/telegram_fault.ts";
import { TelegramBot } from "./bot.ts";
import { apiRootOf, problemsOf, type TelegramConfig } from "./settings.ts";
import { COMMAND_WORDS, wordsOf } from "./words.ts";

/** How long messages that are being sent have when the channel ends, milliseconds. */
const SEND_GRACE_MS = 2_000;

/** How long Telegram has to say how the bot is called, milliseconds. */
const METADATA_MS = 10_000;

export class TelegramChannel extends BaseChannel<TelegramConfig> {
  /** No more is read. */
  readonly #stopping = new AbortController();
  /** No more is sent. */
  readonly #ending = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  #isRunning = false;
  #started: Promise<void> | undefined;
  #bot: TelegramBot | undefined;
  #problem = "it is not started";

  override get isRunning(): boolean {
    return this.#isRunning;
  }

  override start(): Promise<void> {
    this.#started ??= this.#run().finally(() => this.#isRunning = false);
    return this.#started;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { host, config } = this;
    if (signal.aborted) return;
    const [problem] = problemsOf({ ...config });
    if (problem?.field === "token") throw new LoginRefusedError(problem.message);
    if (problem !== undefined) throw new Error(problem.message);
    this.#isRunning = true;
    const api = new TelegramApi({
      token: config.token.trim(),
      apiUrl: apiRootOf(config),
      clock: host.clock,
      fetch: (input, init) => fetch(input, init),
    });
    const me = await this.#connect(api);
    if (me === undefined) return;
    const bot = this.#bot = await TelegramBot.open({
      api,
      me: { id: me.id, username: me.username ?? "" },
      config,
      host,
      words: wordsOf(config.language),
      sendSignal: this.#ending.signal,
      isAllowed: (senderId) => this.isAllowed(senderId),
      handle: (message) => this.handleMessage(message),
      transcribe: (path) => this.transcribeAudio(path),
    });
    try {
      await this.#listCommands(api);
      await bot.run(signal);
      if (signal.reason instanceof LoginRefusedError) throw signal.reason;
    } finally {
      this.#problem = "it was stopped";
      await this.#letSendsEnd();
      this.#bot = undefined;
      await bot.close();
    }
  }

  /** Who the bot is, as soon as Telegram says so; undefined where the channel was stopped first. */
  async #connect(api: TelegramApi) {
    const { signal } = this.#stopping;
    const { host } = this;
    for (let failures = 1; !signal.aborted; failures += 1) {
      this.#problem = "it is connecting";
      try {
        const me = await api.call("getMe", {}, { signal });
        if (!Number.isSafeInteger(me?.id)) {
          throw new TelegramFault("server", "Telegram does not say who the bot is");
        }
        return me;
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!(error instanceof TelegramFault)) throw error;
        if (error.kind === "login") throw new LoginRefusedError(error.message);
        const waitMs = Math.max(backoffMs(failures), error.retryAfterMs);
        this.#problem = error.message;
        host.setDetail(`not connected: ${error.message}; again in ${Math.ceil(waitMs / 1_000)} s`);
        if (failures === 1) host.log.info("Telegram cannot be used", { reason: error.message });
        await sleep(waitMs, host.clock, signal);
      }
    }
    return undefined;
  }

  /** What Telegram shows when somebody types `/`. The bot works without it. */
  async #listCommands(api: TelegramApi): Promise<void> {
    const words = wordsOf(this.config.language);
    const commands = Object.entries(COMMAND_WORDS)
      .map(([command, key]) => ({ command, description: words(key) }));
    try {
      await api.call("setMyCommands", { commands }, { signal: this.#stopping.signal });
    } catch (error) {
      if (!(error instanceof TelegramFault)) return;
      this.host.log.info("The commands were not listed", { reason: error.message });
    }
  }

  override async stop(): Promise<void> {
    this.#isRunning = false;
    this.#problem = "it was stopped";
    this.#stopping.abort(new DOMException("The channel is stopping", "AbortError"));
    await this.#started?.catch(() => {});
  }

  override send(message: OutboundMessage): Promise<void> {
    return this.#sendBy((bot) => bot.send(message, eventOf(message)));
  }

  override sendDelta(piece: StreamDelta): Promise<void> {
    return this.#sendBy((bot) => bot.sendDelta(piece));
  }

  async #sendBy(send: (bot: TelegramBot) => Promise<void>): Promise<void> {
    const bot = this.#bot;
    if (!this.#isRunning || bot === undefined) throw new NotConnectedError(this.#problem);
    const sending = send(bot);
    this.#sending.add(sending);
    try {
      await sending;
    } catch (error) {
      // Whoever reads may hear of it much later.
      if (error instanceof LoginRefusedError) this.#stopping.abort(error);
      throw error;
    } finally {
      this.#sending.delete(sending);
    }
  }

  /** How the bot is called on Telegram. */
  static override async refreshFeatureMetadata(
    config: Record<string, unknown>,
  ): Promise<FeatureMetadata | undefined> {
    if (problemsOf(config).length > 0) return undefined;
    const api = new TelegramApi({
      token: String(config.token).trim(),
      apiUrl: apiRootOf({ apiUrl: String(config.apiUrl) }),
      clock: systemClock,
      fetch: (input, init) => fetch(input, init),
    });
    const { first_name: name, username } = await api.call("getMe", {}, { timeoutMs: METADATA_MS });
    return { name, displayName: `@${username}` };
  }

  /** What Telegram has been given may have arrived, so that it is not left alone at once. */
  async #letSendsEnd(): Promise<void> {
    const { clock } = this.host;
    const late = Promise.withResolvers<void>();
    const cancel = clock.after(SEND_GRACE_MS, late.resolve);
    this.#isRunning = false;
    this.#bot?.endWaits();
    await Promise.race([Promise.allSettled(this.#sending), late.promise]);
    cancel();
    this.#ending.abort(new UncertainDeliveryError("The channel was stopped while it was sent"));
    await Promise.allSettled(this.#sending);
  }
}
