/**
 * What there is while a connection is registered: rooms, the way out, and the way in.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { Clock } from "../../../lib/base/clock.ts";
import { textBytes } from "../text/wrap_line.ts";
import { AccountLookup, maskOf } from "./account_lookup.ts";
import type { IrcConnection } from "./irc_connection.ts";
import type { IrcLine } from "./irc_framework.ts";
import { LineSender } from "./line_sender.ts";
import { Rooms, type WantedRoom } from "./rooms.ts";

/** What a session is made of. */
export interface IrcSessionDeps {
  connection: IrcConnection;
  wanted: readonly WantedRoom[];
  /** Nicks of bots. */
  ignore: readonly string[];
  burst: number;
  paceMs: number;
  clock: Clock;
  /** Something that people see is another. */
  onChange: () => void;
}

/** Messages that may be on their way to the service; no more is read then. */
const MAX_PENDING = 64;

const MAX_ID_CHARS = 200;

/** Bytes of a line where the server says nothing of them, its end included (RFC 1459, 2.3). */
const LINE_BYTES = 512;
const MAX_LINE_BYTES = 8_192;

export class IrcSession {
  readonly connection: IrcConnection;
  readonly rooms: Rooms;
  readonly sender: LineSender;
  /** Nicks of bots, in the folded form. */
  readonly ignored: ReadonlySet<string>;
  readonly #lookup: AccountLookup;
  #order: Promise<void> = Promise.resolve();
  #pending = 0;
  #full: PromiseWithResolvers<void> | undefined;

  constructor({ connection, wanted, ignore, burst, paceMs, clock, onChange }: IrcSessionDeps) {
    this.connection = connection;
    const send = connection.send.bind(connection);
    const fold = connection.fold.bind(connection);
    this.ignored = new Set(ignore.map(fold));
    this.#lookup = new AccountLookup({ send, fold, clock });
    this.sender = new LineSender({
      send,
      burst,
      paceMs,
      clock,
      fold,
      onSilent: () => connection.close("the server does not answer"),
    });
    this.rooms = new Rooms({
      wanted,
      send,
      fold,
      isSelf: (nick) => connection.isSelf(nick),
      clock,
      onChange,
    });
  }

  /** Hears a line of the server. */
  take(line: IrcLine): void {
    this.sender.take(line);
    this.rooms.take(line);
    this.#lookup.take(line);
  }

  /** Runs for a message, with the account of who wrote it; messages keep their order. */
  follow(run: (account: string | undefined) => Promise<void>, line: IrcLine): void {
    if (++this.#pending >= MAX_PENDING) this.#full ??= Promise.withResolvers();
    this.#order = this.#order.then(async () => {
      const account = await this.#accountOf(line);
      // Not awaited: a chat that has to wait holds up no other.
      void run(account).finally(() => this.#done());
    });
  }

  /** Resolves when more messages may come; undefined where they may. */
  room(): Promise<void> | undefined {
    return this.#full?.promise;
  }

  /** The network's own id of a message, else one that a playback of it has as well. */
  messageId({ tags, params, ...mask }: IrcLine): string | undefined {
    const { msgid = "", time = "" } = tags;
    if (this.connection.hasCap("message-tags") && msgid !== "") return msgid.slice(0, MAX_ID_CHARS);
    if (!this.connection.hasCap("server-time") || time === "") return undefined;
    const parts = JSON.stringify([time, maskOf(mask), params]);
    return `made-${createHash("sha256").update(parts).digest("hex")}`;
  }

  /** Room for text in a line to a target. */
  textBytes(command: "PRIVMSG" | "NOTICE", target: string): number {
    const said = Number(this.connection.option("LINELEN"));
    const lineBytes = said >= LINE_BYTES && said <= MAX_LINE_BYTES ? said : LINE_BYTES;
    return textBytes({ nick: this.connection.nick, target, command, lineBytes });
  }

  close(reason: string): void {
    this.sender.close(reason);
    this.rooms.close();
    this.#lookup.close();
    this.#full?.resolve();
  }

  async #accountOf(line: IrcLine): Promise<string | undefined> {
    const { connection } = this;
    // A tag that was not asked for may be anybody's.
    if (connection.hasCap("account-tag")) return line.tags.account || undefined;
    if (connection.option("WHOX") === undefined) return undefined;
    return await this.#lookup.of(line);
  }

  #done(): void {
    this.#pending -= 1;
    if (this.#pending > MAX_PENDING / 2) return;
    this.#full?.resolve();
    this.#full = undefined;
  }
}
