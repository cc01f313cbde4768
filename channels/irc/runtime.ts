/**
 * Rooms and private messages of an IRC network.
 *
 * @module
 */

import { basename } from "@std/path";
import { BaseChannel, type PackageConfig } from "../../lib/channel/base_channel.ts";
import { NotConnectedError } from "../../lib/channel/delivery_error.ts";
import { eventOf } from "../../lib/channel/outbound_event.ts";
import type { OutboundMessage } from "../../lib/contract/outbound_message.ts";
import { backoffMs } from "../../lib/channel/platform/backoff.ts";
import { readCaCerts } from "../../lib/channel/platform/read_ca_certs.ts";
import { sleep } from "../../lib/channel/platform/sleep.ts";
import { maskOf } from "./connection/account_lookup.ts";
import { IrcConnection, type IrcLogin, LoginError } from "./connection/irc_connection.ts";
import type { IrcLine } from "./connection/irc_framework.ts";
import { connectToServer, type ServerAddress } from "./connection/irc_transport.ts";
import { wantedRooms } from "./connection/rooms.ts";
import { IrcSession } from "./connection/irc_session.ts";
import { requireTarget } from "./connection/require_target.ts";
import { type HeardMessage, readPrivmsg } from "./text/read_privmsg.ts";
import { type IrcFormatting, toIrc } from "./text/to_irc.ts";
import { wrapLine, wrapLines } from "./text/wrap_line.ts";

/** The section, as the manifest describes it. */
export interface IrcConfig extends PackageConfig, IrcLogin {
  host: string;
  port: number;
  tls: boolean;
  caFile: string;
  channels: readonly string[];
  channelKeys: string;
  respond: "mention" | "all";
  formatting: IrcFormatting;
  matchNick: boolean;
  ignore: readonly string[];
  burst: number;
  paceMs: number;
  maxLines: number;
}

/** A connection that held for so long was none of a server that sends us away. */
const STEADY_MS = 60_000;

const QUIT_MS = 2_000;

/** Messages of which a part was sent. */
const MAX_PARTLY = 1_000;

export class IrcChannel extends BaseChannel<IrcConfig> {
  readonly #ending = new AbortController();
  /** Lines that the server has taken, by message. */
  readonly #partly = new Map<string, number>();
  #isRunning = false;
  #started: Promise<void> | undefined;
  #connection: IrcConnection | undefined;
  #session: IrcSession | undefined;
  #problem = "it is not started";

  override get isRunning(): boolean {
    return this.#isRunning;
  }

  override start(): Promise<void> {
    this.#started ??= this.#run().finally(() => this.#isRunning = false);
    return this.#started;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    if (signal.aborted) return;
    const address = await this.#address();
    this.#isRunning = !signal.aborted;
    for (let failures = 0; !signal.aborted;) {
      const beganMs = this.host.clock.elapsed();
      this.#problem = await this.#connect(address);
      if (signal.aborted) return;
      failures = this.host.clock.elapsed() - beganMs > STEADY_MS ? 0 : failures + 1;
      const waitMs = backoffMs(failures);
      this.host.setDetail(
        `not connected: ${this.#problem}; again in ${Math.ceil(waitMs / 1_000)} s`,
      );
      this.host.log.info("The connection to IRC is gone", { reason: this.#problem, waitMs });
      await sleep(waitMs, this.host.clock, signal);
    }
  }

  /** One connection; resolves with why it is over. Rejects with LoginError. */
  async #connect(address: ServerAddress): Promise<string> {
    const { nick, username, realname, password, account, accountPassword } = this.config;
    this.host.setDetail(`connecting to ${address.host}:${address.port}`);
    const connection: IrcConnection = new IrcConnection({
      address,
      login: {
        nick,
        username: (username || nick).replace(/[^\w.-]/g, "_"),
        realname: realname || nick,
        password,
        account,
        accountPassword,
      },
      clock: this.host.clock,
      connect: connectToServer,
      room: () => this.#session?.room(),
      onReady: () => this.#onReady(connection),
      onLine: (line) => this.#onLine(line),
    });
    this.#connection = connection;
    try {
      await connection.open();
    } catch (error) {
      if (error instanceof LoginError) {
        await connection.closed;
        throw error;
      }
    }
    const reason = await connection.closed;
    this.#session?.close(reason);
    this.#connection = this.#session = undefined;
    return reason;
  }

  #onReady(connection: IrcConnection): void {
    const { burst, paceMs, ignore, channels, channelKeys } = this.config;
    this.#session = new IrcSession({
      connection,
      wanted: wantedRooms(channels, channelKeys),
      ignore,
      burst,
      paceMs,
      clock: this.host.clock,
      onChange: () => this.#describe(),
    });
    // Other bots see then that we are one, and leave us in peace.
    const mode = connection.option("BOT");
    if (typeof mode === "string" && /^[A-Za-z]$/.test(mode)) {
      connection.send("MODE", connection.nick, `+${mode}`);
    }
    this.#session.rooms.join();
    this.#describe();
  }

  #describe(): void {
    const session = this.#session;
    if (session === undefined) return;
    const { host, nick } = this.config;
    const { connection, rooms } = session;
    const name = connection.isSelf(nick)
      ? connection.nick
      : `${connection.nick} (${nick} is in use)`;
    const places = rooms.describe();
    this.host.setDetail(
      `connected as ${name} to ${host}${places === "" ? "" : `, ${places}`}`,
    );
  }

  #onLine(line: IrcLine): void {
    const session = this.#session!;
    session.take(line);
    const { connection, ignored } = session;
    if (line.command === "NICK") this.#describe();
    const heard = readPrivmsg(line, {
      nick: connection.nick,
      fold: (text) => connection.fold(text),
      isChannel: (target) => connection.isChannel(target),
      respond: this.config.respond,
      ignored,
    });
    if (heard === undefined) return;
    session.follow(async (account) => {
      try {
        await this.#publish(line, heard, account);
      } catch (error) {
        if (this.#ending.signal.aborted) return;
        this.host.log.warning("A message could not be taken", {
          chat: heard.chatId,
          reason: error instanceof Error ? error.message : String(error),
        });
      }
    }, line);
  }

  async #publish(line: IrcLine, heard: HeardMessage, account: string | undefined): Promise<void> {
    const { chatId, content, isPrivate } = heard;
    const senderId = this.#senderIdOf(line, account);
    await this.handleMessage({
      senderId,
      senderName: line.nick,
      chatId,
      content,
      messageId: this.#session?.messageId(line) ?? crypto.randomUUID(),
      metadata: { nick: line.nick },
      // Whoever has the nick next reads nothing of this one's conversation.
      ...isPrivate && {
        sessionKey: `${this.name}:${senderId.replace(/[%\s]/g, encodeURIComponent)}`,
      },
    });
  }

  /** The account of the services, else how the network shows who wrote; a nick alone is anybody's. */
  #senderIdOf(line: IrcLine, account: string | undefined): string {
    const senderId = account ?? maskOf(line);
    const { matchNick, allowFrom } = this.config;
    const isByNick = matchNick && !this.isAllowed(senderId) && Array.isArray(allowFrom) &&
      allowFrom.includes(line.nick);
    return isByNick ? line.nick : senderId;
  }

  override async stop(): Promise<void> {
    this.#isRunning = false;
    this.#problem = "it was stopped";
    this.#ending.abort();
    await this.#connection?.quit(QUIT_MS);
    await this.#started?.catch(() => {});
  }

  override async send(message: OutboundMessage): Promise<void> {
    const event = eventOf(message);
    switch (event?.type) {
      case undefined:
      case "approval":
        return await this.#say("PRIVMSG", message);
      case "progress":
      case "goal_status":
        return await this.#say("NOTICE", message);
      default:
        // IRC has nothing for it.
        if (!this.#isRunning) throw new NotConnectedError(this.#problem);
    }
  }

  async #say(command: "PRIVMSG" | "NOTICE", message: OutboundMessage): Promise<void> {
    const { id, chatId, content, media, metadata } = message;
    const session = this.#session;
    if (!this.#isRunning || session === undefined) {
      throw new NotConnectedError(this.#problem);
    }
    const { connection, rooms, sender } = session;
    const { formatting, maxLines } = this.config;
    const text = toIrc(content, formatting);
    for (const path of media) text.push(`[a file that IRC cannot show: ${basename(path)}]`);
    if (text.length === 0) return;
    requireTarget(chatId);
    const problem = rooms.problemOf(chatId);
    if (problem !== undefined) throw new Error(`Not in ${chatId}: ${problem}`);
    // In a room it has to be seen whose question it answers.
    const { nick } = metadata;
    if (typeof nick === "string" && connection.isChannel(chatId) && command === "PRIVMSG") {
      text[0] = `${nick.replace(/[\s\p{Cc}]/gu, "")}: ${text[0]}`;
    }
    const maxBytes = session.textBytes(command, chatId);
    // What the agent is doing is worth a line.
    const lines = eventOf(message)?.type === "progress"
      ? wrapLine(text[0]!, maxBytes).take(1).toArray()
      : wrapLines(text, maxLines, maxBytes);
    let taken = this.#partly.get(id) ?? 0;
    await sender.send({
      command,
      target: chatId,
      lines: lines.slice(taken),
      onTaken: (count) => {
        taken += count;
        this.#partly.delete(id);
        if (taken < lines.length) this.#partly.set(id, taken);
        if (this.#partly.size > MAX_PARTLY) this.#partly.delete(this.#partly.keys().next().value!);
      },
    });
  }

  async #address(): Promise<ServerAddress> {
    const { host, port, tls, caFile } = this.config;
    return { host, port, tls, caCerts: tls ? await readCaCerts(caFile) : [] };
  }
}
