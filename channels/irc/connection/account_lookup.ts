/**
 * Which account of the network's services somebody is logged in to, where the server does not say so with
 * each message (WHOX).
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { IrcLine } from "./irc_framework.ts";

/** Who wrote, as the server shows it. */
export interface IrcMask {
  nick: string;
  ident: string;
  hostname: string;
}

/** What a lookup is made of. */
export interface AccountLookupDeps {
  send: (command: string, ...params: string[]) => void;
  fold: (text: string) => string;
  clock: Clock;
}

const ANSWER_TIMEOUT_MS = 10_000;
/** An answer holds for so long; whoever logs out keeps his account meanwhile. */
const KEPT_MS = 30_000;
const MAX_KEPT = 256;

interface Known {
  account: string | undefined;
  askedMs: number;
}

/** One question at a time. */
export class AccountLookup {
  readonly #deps: AccountLookupDeps;
  readonly #known = new Map<string, Known>();
  #asked:
    | { token: string; mask: IrcMask; answer: (account: string | undefined) => void }
    | undefined;
  #lastToken = 0;
  #isClosed = false;

  constructor(deps: AccountLookupDeps) {
    this.#deps = deps;
  }

  /** The account of somebody; undefined where he has none, or the server does not say. Never rejects. */
  async of(mask: IrcMask): Promise<string | undefined> {
    const { clock, send } = this.#deps;
    const name = maskOf(mask);
    const known = this.#known.get(name);
    if (this.#isClosed) return undefined;
    if (known !== undefined && clock.elapsed() - known.askedMs < KEPT_MS) return known.account;
    const token = String(this.#lastToken = this.#lastToken % 999 + 1);
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#asked = { token, mask, answer: resolve };
    const cancel = clock.after(ANSWER_TIMEOUT_MS, () => resolve(undefined));
    send("WHO", mask.nick, `%tuhna,${token}`);
    const account = await promise;
    cancel();
    this.#asked = undefined;
    this.#known.delete(name);
    this.#known.set(name, { account, askedMs: clock.elapsed() });
    if (this.#known.size > MAX_KEPT) this.#known.delete(this.#known.keys().next().value!);
    return account;
  }

  /** Hears the lines of the server. */
  take({ command, params }: IrcLine): void {
    const asked = this.#asked;
    if (asked === undefined) return;
    if (command === "315") return asked.answer(undefined);
    if (command !== "354") return;
    const [, token, ident, hostname, nick = "", account] = params;
    if (token !== asked.token) return;
    const { mask } = asked;
    // Another one may have the nick by now.
    const isSame = ident === mask.ident && hostname === mask.hostname &&
      this.#deps.fold(nick) === this.#deps.fold(mask.nick);
    asked.answer(isSame && account !== "0" && account !== "*" ? account || undefined : undefined);
  }

  /** The connection is gone. */
  close(): void {
    this.#isClosed = true;
    this.#asked?.answer(undefined);
  }
}

/** `nick!user@host`, which is how the network shows somebody who has no account. */
export function maskOf({ nick, ident, hostname }: IrcMask): string {
  return `${nick}!${ident}@${hostname}`;
}
