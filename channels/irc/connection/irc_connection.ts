/**
 * One connection to a network, from the handshake to its end; a new one is made for the next.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { Client, type IrcLine } from "./irc_framework.ts";
import { type ServerAddress, transportClass, type TransportDeps } from "./irc_transport.ts";

/** What the library takes part in; all else is of no interest to it, and it would keep some of it. */
const FORWARDED: ReadonlySet<string> = new Set([
  ...["001", "005", "CAP", "AUTHENTICATE", "PING", "NICK"],
  ...["900", "901", "902", "903", "904", "905", "906", "907", "908"],
]);

const REGISTER_TIMEOUT_MS = 60_000;
/** A server that says nothing for so long is asked, and has as long again to answer. */
const SILENCE_MS = 90_000;
/** Between attempts to get the nick back. */
const REGAIN_MS = 120_000;
/** Other nicks that are tried. */
const MAX_NICKS = 6;

/** Nothing comes of trying again with these settings. */
export class LoginError extends Error {
  override readonly name = "LoginError";
}

/** How to log in. */
export interface IrcLogin {
  nick: string;
  username: string;
  realname: string;
  password: string;
  account: string;
  accountPassword: string;
}

/** What a connection is made of. */
export interface IrcConnectionDeps {
  address: ServerAddress;
  login: IrcLogin;
  clock: Clock;
  connect: TransportDeps["connect"];
  room: TransportDeps["room"];
  /** It is registered, and has said everything about itself. */
  onReady: () => void;
  /** Hears every line of the server behind that, in order. */
  onLine: (line: IrcLine) => void;
}

export class IrcConnection {
  readonly #deps: IrcConnectionDeps;
  readonly #client = new Client();
  readonly #ready = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<string>();
  readonly #timers = new Set<() => void>();
  #isRegistered = false;
  #isReady = false;
  #isClosed = false;
  #isLoggedIn = false;
  #nicks = 0;
  #said = "";
  #heardMs = 0;

  constructor(deps: IrcConnectionDeps) {
    this.#deps = deps;
    this.#ready.promise.catch(() => {});
  }

  /** Resolves with why, when it has ended. */
  get closed(): Promise<string> {
    return this.#closed.promise;
  }

  get nick(): string {
    return this.#client.user.nick;
  }

  /** Resolves when it is ready. Rejects with LoginError for what has to be changed first. */
  open(): Promise<void> {
    const { login, address, connect, clock, room } = this.#deps;
    const client = this.#client;
    client.use((_client, raw) =>
      raw.use((_command, line, _raw, _same, next) => this.#take(line, next))
    );
    client.on("sasl failed", ({ reason, message }) => {
      this.#refuse(`The account cannot log in: ${message ?? reason}`);
    });
    client.on("registered", () => this.#onRegistered());
    client.on("close", () => this.#onClose());
    client.on("socket close", (error) => {
      if (error as unknown instanceof Error) {
        this.#said ||= String((error as unknown as Error).message);
      }
    });
    client.connect({
      host: address.host,
      port: address.port,
      nick: login.nick,
      username: login.username,
      gecos: login.realname,
      password: login.password,
      // Without an account of its own the library would take the server's password for one.
      account: login.account === ""
        ? {}
        : { account: login.account, password: login.accountPassword },
      sasl_disconnect_on_fail: true,
      // No answer to CTCP VERSION.
      version: "",
      auto_reconnect: false,
      // Its timers are not those of our clock.
      ping_interval: 0,
      ping_timeout: 0,
      transport: transportClass({ address, connect, clock, room }),
    });
    this.#after(REGISTER_TIMEOUT_MS, () => {
      if (!this.#isReady) this.close("the server did not let us in in time");
    });
    return this.#ready.promise;
  }

  /** Sends a line of these parts; the last may hold spaces. Nothing of it can end the line. */
  send(command: string, ...params: string[]): void {
    const last = params.length - 1;
    const parts = params.map((param, at) => at === last && isTrailing(param) ? `:${param}` : param);
    this.#client.raw([command, ...parts].join(" "));
  }

  /** Names and nicks are compared in this form. */
  fold(text: string): string {
    return this.#client.caseLower(text);
  }

  isSelf(nick: string): boolean {
    return this.fold(nick) === this.fold(this.nick);
  }

  isChannel(target: string): boolean {
    const types = this.option("CHANTYPES");
    return (Array.isArray(types) ? types : ["#", "&"]).includes(target.charAt(0));
  }

  /** What the server says of itself (RPL_ISUPPORT). */
  option(name: string): unknown {
    return this.#client.network.options[name];
  }

  hasCap(name: string): boolean {
    return this.#client.network.cap.isEnabled(name);
  }

  /** Leaves in peace; resolves when it is closed. */
  async quit(graceMs: number): Promise<void> {
    if (this.#isRegistered) this.#client.quit("Bye");
    else this.close("it was stopped");
    this.#after(graceMs, () => this.close("it was stopped"));
    await this.closed;
  }

  close(reason: string): void {
    this.#said ||= reason;
    this.#client.connection.end(null, true);
  }

  #take(line: IrcLine, next: () => void): void {
    const { clock, login, onLine, onReady } = this.#deps;
    const { command, params } = line;
    this.#heardMs = clock.elapsed();
    const last = params.at(-1) ?? "";
    switch (command) {
      case "ERROR":
        this.#said ||= last;
        break;
      case "900":
      case "903":
        this.#isLoggedIn = true;
        break;
      case "432":
        if (!this.#isRegistered) this.#refuse(`The nick ${login.nick} is refused: ${last}`);
        break;
      case "433":
      case "436":
      case "437":
        if (!this.#isRegistered) this.#tryNextNick();
        break;
      case "464":
        this.#refuse(`The server refuses the password: ${last}`);
        break;
      case "465":
        this.#refuse(`The server has banned us: ${last}`);
        break;
    }
    if (FORWARDED.has(command)) {
      try {
        next();
      } catch {
        // The library takes it for granted that a line has its parameters.
      }
    }
    if (this.#isReady) return onLine(line);
    // The end of the message of the day, or that there is none.
    if (this.#isRegistered && (command === "376" || command === "422")) {
      this.#isReady = true;
      onReady();
      this.#ready.resolve();
    }
  }

  #onRegistered(): void {
    if (this.#isRegistered) return;
    const { login } = this.#deps;
    if (login.account !== "" && !this.#isLoggedIn) {
      return this.#refuse("The account cannot log in: the server does not offer SASL");
    }
    this.#isRegistered = true;
    this.#watch();
    this.#regain();
  }

  #refuse(reason: string): void {
    this.#ready.reject(new LoginError(reason));
    this.close(reason);
  }

  #tryNextNick(): void {
    const { nick } = this.#deps.login;
    this.#nicks += 1;
    if (this.#nicks > MAX_NICKS) {
      return this.#refuse(`The nick ${nick} and others like it are in use`);
    }
    // The last ones are short enough for servers that take 9 characters.
    const next = this.#nicks <= 2
      ? nick + "_".repeat(this.#nicks)
      : `${nick.slice(0, 7)}${this.#nicks}`;
    this.#client.user.nick = next;
    this.#client.changeNick(next);
  }

  /** Asks a server that says nothing whether it is there. */
  #watch(): void {
    const { clock } = this.#deps;
    const silentMs = () => clock.elapsed() - this.#heardMs;
    this.#after(SILENCE_MS, () => {
      if (silentMs() < SILENCE_MS) return this.#watch();
      this.send("PING", "alive");
      this.#after(SILENCE_MS, () => {
        if (silentMs() >= SILENCE_MS) this.close("the server does not answer");
        else this.#watch();
      });
    });
  }

  #regain(): void {
    this.#after(REGAIN_MS, () => {
      if (!this.isSelf(this.#deps.login.nick)) this.send("NICK", this.#deps.login.nick);
      this.#regain();
    });
  }

  #after(ms: number, run: () => void): void {
    if (this.#isClosed) return;
    const cancel = this.#deps.clock.after(ms, () => {
      this.#timers.delete(cancel);
      run();
    });
    this.#timers.add(cancel);
  }

  #onClose(): void {
    this.#isRegistered = this.#isReady = false;
    this.#isClosed = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    const reason = this.#said || "the server closed the connection";
    this.#ready.reject(new Error(reason));
    this.#closed.resolve(reason);
  }
}

function isTrailing(param: string): boolean {
  return param === "" || param.startsWith(":") || /\s/.test(param);
}
