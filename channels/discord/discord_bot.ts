/**
 * A bot while it runs: its connection, what it hears, and what it says.
 *
 * @module
 */

import type { GatewayDispatchPayload } from "discord.js";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import type { HandledMessage, Published } from "../../lib/channel/inbound_message.ts";
import { EditedStreams, Intake, Memory, Typing } from "../../lib/channel/platform/mod.ts";
import { registerCommand } from "./account/register_command.ts";
import type { DiscordSettings } from "./account/settings.ts";
import { Bookmark, type BotIdentity } from "./gateway/bookmark.ts";
import { EventQueue } from "./gateway/event_queue.ts";
import { Gateway } from "./gateway/gateway.ts";
import { AnswerThreads } from "./inbound/answer_threads.ts";
import { catchUp } from "./inbound/catch_up.ts";
import { handOver } from "./inbound/hand_over.ts";
import type { InboundItem } from "./inbound/inbound_item.ts";
import { InteractionDesk } from "./inbound/interaction_desk.ts";
import { type ReceivedEvent, Receiver } from "./inbound/receiver.ts";
import { Approvals } from "./outbound/approvals.ts";
import { type MessageRef, Sender } from "./outbound/sender.ts";
import { StatusMessages } from "./outbound/status_messages.ts";
import { DiscordApi, isSnowflake } from "./rest/discord_api.ts";
import { DiscordRest } from "./rest/discord_rest.ts";
import { deliveryFault, loginRefused } from "./rest/delivery_fault.ts";
import { renderPart, splitForDiscord } from "./text/to_discord.ts";
import { wordsOf } from "./words.ts";

/** What a bot is made of. */
export interface DiscordBotOptions {
  settings: DiscordSettings;
  host: ChannelHost;
  isAllowed: (senderId: string) => boolean;
  handleMessage: (message: HandledMessage) => Promise<Published>;
  transcribe: (path: string) => Promise<string>;
}

/** GUILD_MESSAGES, DIRECT_MESSAGES and MESSAGE_CONTENT. */
const INTENTS = (1 << 9) | (1 << 12) | (1 << 15);

/** Discord shows for 10 s that somebody types, milliseconds. */
const TYPING_MS = 8_500;
/** Five edits in 5 s are taken for a channel, milliseconds. */
const EDIT_MS = 1_200;
/** What else writes as the bot is told so long, milliseconds. */
const FOREIGN_MS = 10 * 60_000;

/** Discord does not notify anybody of it. */
const SILENT = 1 << 12;

/** See the module. */
export class DiscordBot {
  readonly sender: Sender;
  readonly approvals: Approvals;
  readonly statuses: StatusMessages;
  readonly streams: EditedStreams<MessageRef>;
  readonly typing: Typing;
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
  readonly #desk: InteractionDesk;
  #foreignAtMs = -Infinity;
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
    const sleep = (ms: number) => this.#sleep(ms);
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
    this.sender = new Sender({ api, tag: tagOf(memory), clock, sleep });
    this.approvals = new Approvals({ api, sender: this.sender, memory, words, clock });
    this.statuses = new StatusMessages({
      memory,
      clock,
      post: async (chatId, text) => {
        const place = { chatId, metadata: {} };
        const key = crypto.randomUUID();
        return (await this.sender.post(place, text, { key, body: { flags: SILENT } })).id;
      },
      edit: (channelId, id, text) => this.sender.edit({ channelId, id }, text),
      remove: (channelId, id) => api.deleteMessage(channelId, id),
    });
    this.typing = new Typing({
      clock,
      everyMs: TYPING_MS,
      show: (chatId) => isSnowflake(chatId) ? api.typing(chatId) : Promise.resolve(),
    });
    this.streams = new EditedStreams<MessageRef>({
      clock,
      everyMs: EDIT_MS,
      split: splitForDiscord,
      post: (place, part) =>
        this.sender.post(place, renderPart(part) || "…", {
          key: crypto.randomUUID(),
          isAnswer: true,
        }),
      edit: (ref, part) => this.sender.edit(ref, renderPart(part) || "…"),
    });
    const kept = { session: intake.cursor("session"), seen: intake.cursor("seen") };
    this.#bookmark = new Bookmark(key, kept);
    const threads = new AnswerThreads({ api, memory, log });
    this.#desk = new InteractionDesk({
      api,
      approvals: this.approvals,
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
      isOwnNonce: (nonce) => this.sender.isOwn(nonce),
      onConnected: (identity, isNew) => this.#onConnected(identity, isNew),
      onForeign: () => this.#onForeign(),
      onClick: (click) => this.approvals.remember(click),
      catchUp: (take) =>
        catchUp({
          channels: this.#bookmark.channels(),
          messagesAfter: (channelId, after) => api.messagesAfter(channelId, after),
          take,
          forget: (channelId) => this.#bookmark.forget(channelId),
          sleep,
          clock,
          log,
          signal,
        }),
      sleep,
      clock,
      log,
      signal,
    });
    this.#queue = new EventQueue({
      handle: (event) => this.#receiver.handle(event),
      onFull: () => this.#gateway.reconnect(),
    });
    this.#gateway = new Gateway({
      token: settings.token,
      intents: INTENTS,
      info: () => api.gateway(),
      session: () => this.#bookmark.session,
      onSessionLost: () => this.#bookmark.session = undefined,
      onDispatch: (payload) => this.#onDispatch(payload),
      room: () => this.#queue.room(),
      say: (state) => host.setDetail(state),
      clock,
      log,
      signal,
    });
    this.#take = (item, ending) =>
      handOver(item, {
        api,
        sender: this.sender,
        threads: settings.threads ? threads : undefined,
        ackReaction: settings.ackReaction,
        words,
        stateDir: host.stateDir,
        handleMessage: options.handleMessage,
        transcribe: options.transcribe,
        onTurn: (chatId) => this.typing.begin(chatId),
        sleep,
        log,
      }, ending);
  }

  /** Opens what it has on the disk. Rejects with what SQLite says. */
  static async open(options: DiscordBotOptions): Promise<DiscordBot> {
    const { host: { stateDir, clock, log }, settings: { apiUrl, token } } = options;
    await Deno.mkdir(stateDir, { recursive: true, mode: 0o700 });
    await Deno.remove(`${stateDir}/media`, { recursive: true }).catch(() => {});
    const made: { bot?: DiscordBot } = {};
    const intake = await Intake.open<InboundItem>({
      stateDir,
      take: (item, signal) => made.bot!.#take(item, signal),
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
    const tidying = this.statuses.tidy();
    const running = this.#gateway.run();
    try {
      await Promise.race([running, this.#refused.promise]);
    } finally {
      await this.close();
      await Promise.allSettled([running, tidying]);
      this.#memory.close();
    }
  }

  /** Ends what it has open; its session can be resumed for a while. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#ending.abort(new DOMException("The channel is stopping", "AbortError"));
    this.typing.close();
    this.streams.close();
    const dealtWith = this.#queue.close();
    await this.#receiver.flush();
    await Promise.all([this.#intake.close(), dealtWith, this.statuses.close()]);
    this.#rest.close();
  }

  /** An interaction has to be answered within 3 seconds, whatever else waits. */
  #onDispatch(payload: GatewayDispatchPayload): void {
    const isInteraction = payload.t as string === "INTERACTION_CREATE";
    const interaction = isInteraction ? this.#desk.answer(payload.d) : undefined;
    this.#queue.push({ payload, ...interaction !== undefined && { interaction } });
  }

  #onConnected(identity: BotIdentity, isNew: boolean): void {
    this.#describe();
    const { settings: { slashCommand, slashServers, language }, host } = this.#options;
    if (!isNew) return;
    const { askDescription, askOption } = wordsOf(language);
    const formerName = this.#memory.get<string>("command", "name") ?? "";
    if (slashCommand === "" && formerName === "") return;
    registerCommand(this.#api, {
      applicationId: identity.applicationId,
      name: slashCommand,
      formerName,
      description: askDescription,
      optionDescription: askOption,
      servers: slashServers,
    }).then(() => {
      if (!this.#ending.signal.aborted) this.#memory.set("command", "name", slashCommand);
    }, (error) => {
      if (this.#ending.signal.aborted) return;
      host.log.warning("The slash command could not be registered", {
        reason: deliveryFault(error).message.slice(0, 300),
      });
    });
  }

  #onForeign(): void {
    const { clock, log } = this.#options.host;
    if (clock.elapsed() - this.#foreignAtMs > FOREIGN_MS) {
      log.warning(
        "Something else writes with the token of this bot: end it, or give it a bot of its own",
      );
    }
    this.#foreignAtMs = clock.elapsed();
    this.#describe();
  }

  #describe(): void {
    const { host } = this.#options;
    const { identity } = this.#bookmark;
    if (identity === undefined) return;
    const { name, userId } = identity;
    const isShared = host.clock.elapsed() - this.#foreignAtMs < FOREIGN_MS;
    host.setDetail(
      isShared
        ? `connected as ${name} (${userId}), and another program writes with the same token: ` +
          "end it, or give it a bot of its own"
        : `connected as ${name} (${userId})`,
    );
  }

  #sleep(ms: number): Promise<void> {
    const { signal } = this.#ending;
    if (signal.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#options.host.clock.after(ms, resolve);
    const end = () => resolve();
    signal.addEventListener("abort", end, { once: true });
    return promise.finally(() => {
      cancel();
      signal.removeEventListener("abort", end);
    });
  }
}

/** What the nonces of this installation begin with. */
function tagOf(memory: Memory): string {
  const kept = memory.get<string>("tag", "nonce");
  if (kept !== undefined) return kept;
  const tag = crypto.randomUUID().slice(0, 6);
  memory.set("tag", "nonce", tag);
  return tag;
}
