/**
 * A bot while it runs: its connection, what it hears, and what it says.
 *
 * @module
 */

import type { GatewayDispatchPayload } from "discord.js";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import type { HandledMessage, Published } from "../../lib/contract/inbound_message.ts";
import { Intake, Memory, removeLeftFiles, sleep } from "../../lib/channel/platform/mod.ts";
import { BotStatus } from "./account/bot_status.ts";
import { registerCommand } from "./account/register_command.ts";
import type { DiscordSettings } from "./settings.ts";
import { Bookmark, type BotIdentity } from "./gateway/bookmark.ts";
import { EventQueue } from "./gateway/event_queue.ts";
import { bareEvent, isBare } from "./gateway/bare_event.ts";
import { Gateway } from "./gateway/gateway.ts";
import { AnswerThreads } from "./inbound/answer_threads.ts";
import { catchUp } from "./inbound/catch_up.ts";
import { handOver } from "./inbound/hand_over.ts";
import type { InboundItem } from "./inbound/inbound_item.ts";
import { InteractionResponder } from "./inbound/interaction_responder.ts";
import { type ReceivedEvent, Receiver } from "./inbound/receiver.ts";
import { Outbound } from "./outbound/outbound.ts";
import { DiscordApi } from "./rest/discord_api.ts";
import { DiscordRest } from "./rest/discord_rest.ts";
import { deliveryFault, loginRefused } from "./rest/delivery_fault.ts";
import { wordsOf } from "./words.ts";

/** What a bot is made of. */
export interface DiscordBotOptions {
  settings: DiscordSettings;
  host: ChannelHost;
  isAllowed: (senderId: string) => boolean;
  handleMessage: (message: HandledMessage) => Promise<Published>;
  transcribe: (path: string) => Promise<string>;
}

/**
 * GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES and MESSAGE_CONTENT. What Discord tells of servers and threads
 * stands under the first (developer documentation, "List of Intents", "Threads").
 */
const INTENTS = 1 | (1 << 9) | (1 << 12) | (1 << 15);

/** What is under way when the channel stops has so long, milliseconds. */
const LAST_CALLS_MS = 1_000;

export class DiscordBot {
  readonly out: Outbound;
  readonly #options: DiscordBotOptions;
  readonly #ending = new AbortController();
  readonly #refused = Promise.withResolvers<never>();
  readonly #rest: DiscordRest;
  readonly #api: DiscordApi;
  readonly #memory: Memory;
  readonly #intake: Intake<InboundItem>;
  readonly #bookmark: Bookmark;
  readonly #receiver: Receiver;
  readonly #queue: EventQueue<ReceivedEvent>;
  readonly #gateway: Gateway;
  readonly #responder: InteractionResponder;
  readonly #status: BotStatus;
  #closing: Promise<void> | undefined;

  private constructor(
    options: DiscordBotOptions,
    { key, intake, memory }: { key: string; intake: Intake<InboundItem>; memory: Memory },
  ) {
    this.#options = options;
    this.#intake = intake;
    this.#memory = memory;
    const { settings, host, isAllowed } = options;
    const { clock, log } = host;
    const { signal } = this.#ending;
    const pause = (ms: number) => sleep(ms, clock, signal);
    const words = wordsOf(settings.language);
    // Whoever waits for the run learns of it; nobody may.
    this.#refused.promise.catch(() => {});
    this.#rest = new DiscordRest({
      ...settings,
      clock,
      signal,
      onRefused: () => this.#refused.reject(loginRefused()),
    });
    const api = this.#api = new DiscordApi(this.#rest);
    const out = this.out = new Outbound({ api, memory, words, clock, sleep: pause });
    const status = this.#status = new BotStatus({
      host,
      wasSent: (id) => out.sender.hasSent(id),
    });
    const kept = { session: intake.cursor("session"), seen: intake.cursor("seen") };
    this.#bookmark = new Bookmark(key, kept);
    const threads = new AnswerThreads({ api, memory, log });
    this.#responder = new InteractionResponder({
      api,
      approvals: out.approvals,
      words,
      slashCommand: settings.slashCommand,
      isAllowed,
      log,
    });
    this.#receiver = new Receiver({
      bookmark: this.#bookmark,
      intake,
      respond: settings.respond,
      isOwnThread: (channelId) => threads.isOwn(channelId),
      isAllowed,
      isOwnNonce: (nonce) => out.sender.isOwn(nonce),
      onConnected: (identity, isNew) => this.#onConnected(identity, isNew),
      onForeign: (id) => status.suspect(id),
      onClick: (click) => out.approvals.remember(click),
      catchUp: (channels, take) =>
        catchUp({
          channels,
          messagesAfter: (channelId, after) => api.messagesAfter(channelId, after),
          take,
          forget: (channelId) => this.#bookmark.forget(channelId),
          done: (channelId, lastId) => this.#bookmark.settle(channelId, lastId),
          owe: (channelId) => this.#bookmark.owe(channelId),
          sleep: pause,
          clock,
          log,
          signal,
        }),
      sleep: pause,
      clock,
      log,
      signal,
    });
    this.#queue = new EventQueue({
      handle: (event) => this.#receiver.handle(event),
      replaces: (event, last) => isBare(event.payload) && isBare(last.payload),
      onFull: () => this.#gateway.pause(),
    });
    this.#gateway = new Gateway({
      token: settings.token,
      intents: INTENTS,
      info: () => api.gateway(),
      session: () => this.#bookmark.session,
      onSessionLost: () => this.#bookmark.session = undefined,
      onDispatch: (payload) => this.#onDispatch(payload),
      room: () => this.#queue.room(),
      say: (state) => status.say(state),
      clock,
      log,
      signal,
    });
    this.#take = (item, ending) =>
      handOver(item, {
        api,
        sender: out.sender,
        threads: settings.threads ? threads : undefined,
        ackReaction: settings.ackReaction,
        words,
        stateDir: host.stateDir,
        handleMessage: options.handleMessage,
        transcribe: options.transcribe,
        onTurn: (chatId) => out.typing.begin(chatId),
        sleep: pause,
        clock,
        log,
      }, ending);
  }

  /** Opens what it has on the disk. Rejects with what SQLite says. */
  static async open(options: DiscordBotOptions): Promise<DiscordBot> {
    const { host: { stateDir, clock, log }, settings: { apiUrl, token } } = options;
    await Deno.mkdir(stateDir, { recursive: true, mode: 0o700 });
    await removeLeftFiles(stateDir);
    const made: { bot?: DiscordBot } = {};
    const intake = await Intake.open<InboundItem>({
      stateDir,
      take: (item, signal) => made.bot!.#take(item, signal),
      note: (text) => options.host.setNote(text),
      clock,
      log,
    });
    const hash = await crypto.subtle.digest(
      "SHA-256",
      new TextEncoder().encode(`${apiUrl}\0${token}`),
    );
    const key = new Uint8Array(hash).toHex().slice(0, 16);
    return made.bot = new DiscordBot(options, { key, intake, memory: new Memory(stateDir) });
  }

  readonly #take: (item: InboundItem, signal: AbortSignal) => Promise<void>;

  /** Until it is closed; rejects with LoginRefusedError. */
  async run(): Promise<void> {
    this.#intake.start();
    this.out.statuses.restore();
    const running = this.#gateway.run();
    try {
      await Promise.race([running, this.#refused.promise]);
    } finally {
      await this.close();
      await Promise.allSettled([running]);
      this.#memory.close();
    }
  }

  /** Ends what it has open; its session can be resumed for a while. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#status.close();
    const said = this.out.close();
    // A note that is being posted stands already, maybe, and is to be known when it is to be taken away.
    await Promise.race([said, sleep(LAST_CALLS_MS, this.#options.host.clock, this.#ending.signal)]);
    this.#ending.abort(new DOMException("The channel is stopping", "AbortError"));
    const dealtWith = this.#queue.close();
    await this.#receiver.flush();
    await Promise.all([this.#intake.close(), dealtWith, said]);
    this.#rest.close();
  }

  /** An interaction has to be answered within 3 seconds, whatever else waits. */
  #onDispatch(payload: GatewayDispatchPayload): void {
    const isInteraction = payload.t as string === "INTERACTION_CREATE";
    const interaction = isInteraction ? this.#responder.answer(payload.d) : undefined;
    const event = { payload: bareEvent(payload) };
    this.#queue.push({ ...event, ...interaction !== undefined && { interaction } });
  }

  #onConnected(identity: BotIdentity, isNew: boolean): void {
    this.#status.connected(identity);
    const { settings: { slashCommand, slashServers, language }, host } = this.#options;
    if (!isNew) return;
    const words = wordsOf(language);
    // Kept before Discord is asked, so that none is left there whatever ends the process.
    const formerNames = this.#memory.get<string[]>("command", "names") ?? [];
    const names = [...new Set([...formerNames, slashCommand])].filter((name) => name !== "");
    if (names.length === 0) return;
    this.#memory.set("command", "names", names.slice(-20));
    registerCommand(this.#api, {
      applicationId: identity.applicationId,
      name: slashCommand,
      formerNames,
      description: words("askDescription"),
      optionDescription: words("askOption"),
      servers: slashServers,
    }).catch((error) => {
      if (this.#ending.signal.aborted) return;
      host.log.warning("The slash command could not be registered", {
        reason: deliveryFault(error).message.slice(0, 300),
      });
    });
  }
}
